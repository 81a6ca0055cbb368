"""Run a script or a module in this process as `python` would, on a chosen GPU."""

from __future__ import annotations

import argparse
import runpy
import shutil
import sys
from pathlib import Path

from tinytorch_gpu.arch import PRESETS
from tinytorch_gpu.as_numba.finder import activate
from tinytorch_gpu.profiler import profile
from tinytorch_gpu.runtime import use_gpu

__all__ = ["add_program", "prepare", "run_program"]

_MOST_COLUMNS = 100


def add_program(parser: argparse.ArgumentParser) -> None:
    """Add the words that name a GPU and a program to a command's parser.

    Example:
        >>> parser = argparse.ArgumentParser()
        >>> add_program(parser)
        >>> options = parser.parse_args(["--gpu", "a100", "-m", "pytest", "-x"])
        >>> options.gpu, options.module
        ('a100', ['pytest', '-x'])
    """
    parser.add_argument("--gpu", default="t4", help=f"one of {', '.join(PRESETS)}")
    text = "print each kernel with its lines' counts; may follow the script"
    parser.add_argument("--trace", action="store_true", help=text)
    program = parser.add_mutually_exclusive_group(required=True)
    program.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, help="a module, its arguments"
    )
    program.add_argument("script", nargs="?", type=_script, help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")


def prepare(options: argparse.Namespace, *, as_numba: bool) -> None:
    """Choose the GPU and, if asked, become `numba.cuda`, for the program to come.

    Args:
        options: what `add_program` reads.
        as_numba: make `numba.cuda` the simulated GPU.
    """
    if options.arguments[:1] == ["--trace"]:  # argparse takes it for the script's
        options.trace, options.arguments = True, options.arguments[1:]
    use_gpu(options.gpu)
    if as_numba:
        activate()


def run_program(options: argparse.Namespace) -> None:
    """Run the program as the main one; it ends with its own exception or exit.

    Args:
        options: what `add_program` reads; with `trace` the kernels that it launched are
            printed afterwards, with each line's counts.
    """
    if not options.trace:
        _run(options)
        return
    with profile() as prof:
        try:
            _run(options)
        finally:
            width = min(_MOST_COLUMNS, shutil.get_terminal_size((100, 24)).columns)
            print(f"\n{prof.lines(width=width)}")  # noqa: T201


def _run(options: argparse.Namespace) -> None:
    if options.module:
        sys.argv = list(options.module)  # runpy writes the module's file over its name
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(options.module[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [options.script, *options.arguments]
        sys.path.insert(0, str(Path(options.script).resolve().parent))
        runpy.run_path(options.script, run_name="__main__")


def _script(text: str) -> str:
    if not Path(text).is_file():
        message = f"{text} is no file"
        raise argparse.ArgumentTypeError(message)
    return text
