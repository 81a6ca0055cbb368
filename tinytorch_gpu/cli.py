"""The command `simgpu`: `simgpu demo`, `devices`, `run` and `check`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.arch.gpu_table import gpu_sheet, gpu_table
from tinytorch_gpu.as_numba.check import check_program
from tinytorch_gpu.as_numba.run import add_program, prepare, run_program
from tinytorch_gpu.demo import DemoReport, run_demo
from tinytorch_gpu.errors import GPUNotFoundError, SimGPUError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: words after `simgpu`; None takes those of the process.

    Returns:
        0; 2 for a GPU that there is not, 1 after any other error, both told in four
        parts on standard error; of `check` 1 also if the sanitizer found an error.
    """
    options = _parser().parse_args(arguments)
    try:
        if options.command == "demo":
            _demo(options)
        elif options.command == "devices":
            print(gpu_sheet(options.name) if options.name else gpu_table())  # noqa: T201
        else:
            prepare(options, as_numba=options.as_numba)
    except SimGPUError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
        return 2 if isinstance(error, GPUNotFoundError) else 1
    if options.command == "check":
        return check_program(options)
    if options.command == "run":  # its own errors keep their traceback
        run_program(options)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "simgpu", description="A simulated GPU to learn on."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="train digits on simgpu and read the bill")
    demo.add_argument("--gpu", default="t4", help=f"one of {', '.join(PRESETS)}")
    demo.add_argument("--epochs", type=_positive, default=10, help="default: 10")
    demo.add_argument("--batch", type=_positive, default=32, help="default: 32 images")
    text = "copy the images to the device once, not batch by batch"
    demo.add_argument("--resident", action="store_true", help=text)
    text = "copy from page-locked host memory"
    demo.add_argument("--pinned", action="store_true", help=text)
    text = "bias + ReLU and the optimizer's step as one kernel each"
    demo.add_argument("--fused", action="store_true", help=text)
    demo.add_argument("--json", type=_writable, help="write the figures to this file")
    devices = commands.add_parser("devices", help="list the GPUs that can be modelled")
    devices.add_argument("name", nargs="?", help="tell everything about this one")
    run = commands.add_parser("run", help="run a Python program with kernels")
    check = commands.add_parser("check", help="run one and name what is wrong with it")
    _add_check(check)
    for program in (run, check):
        text = "numba.cuda is the simulated GPU, installed or not"
        program.add_argument("--as-numba", action="store_true", help=text)
        add_program(program)
    return parser


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=_writable, help="write the report to this file")
    text = "run each launch again in drawn orders of warps and blocks, and compare"
    parser.add_argument("--schedule", choices=["shuffled"], help=text)
    text = "how many orders; 8 if only --schedule is given"
    parser.add_argument("--seeds", type=_positive, default=0, help=text)
    text = "note device memory that is still held at the end"
    parser.add_argument("--leak-check", action="store_true", help=text)


def _positive(text: str) -> int:
    if text.isdecimal() and int(text):
        return int(text)
    message = f"{text} is no whole number of 1 or more"
    raise argparse.ArgumentTypeError(message)


def _writable(text: str) -> Path:
    """Read a file's path; its folder must be there beforehand."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        message = f"{text} cannot be written: no such folder, or a folder itself"
        raise argparse.ArgumentTypeError(message)
    return path


def _demo(options: argparse.Namespace) -> None:
    """Run the demo with a progress bar and print its report."""
    find_gpu(options.gpu)  # a wrong name is told before the progress bar begins
    console = Console()
    console.print(
        "Training a 64-32-10 network on 1,437 handwritten digits, batches of "
        f"{options.batch:,},\n"
        "on the CPU and, every op a kernel launch, on simgpu.\n",
        highlight=False,
    )
    report = _with_progress(console, options)
    console.print(str(report), highlight=False, markup=False, soft_wrap=True)
    if options.json:
        options.json.write_text(json.dumps(report.to_dict(), indent=2) + "\n")
        console.print(f"\nThe same figures are in {options.json}", highlight=False)


def _with_progress(console: Console, options: argparse.Namespace) -> DemoReport:
    columns = (TextColumn("{task.description:<7}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        tasks = {name: bars.add_task(name, total=None) for name in ("cpu", "simgpu")}

        def progress(device: str, step: int, steps: int) -> None:
            bars.update(tasks[device], completed=step, total=steps)

        return run_demo(
            options.gpu,
            options.epochs,
            progress,
            batch=options.batch,
            resident=options.resident,
            pinned=options.pinned,
            fused=options.fused,
        )


if __name__ == "__main__":
    sys.exit(main())
