"""What an estimate refuses before a block runs, in four parts.

Comes in: the arguments of `profiler.estimate`. Goes out: an error, or nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import KernelTypeError, LaunchConfigError
from tinytorch_gpu.units import is_whole

if TYPE_CHECKING:
    from tinytorch_gpu.trace import KernelSource

__all__ = ["check_request"]


def check_request(
    kernel: Any, args: Any, blocks: Any, dynamic_bytes: Any, seed: Any
) -> None:
    """Refuse what cannot be estimated.

    Args:
        kernel: a `cuda.jit` kernel.
        args: its arguments, a tuple or list.
        blocks: how many blocks run, or None.
        dynamic_bytes: dynamic shared memory of a block.
        seed: of which blocks run.

    Raises:
        KernelTypeError: it is no kernel, or these are no arguments.
        LaunchConfigError: one of the numbers is no whole one, or too small.
    """
    _check_kernel(kernel, args)
    if blocks is not None:
        _check_whole(
            "an estimate from blocks",
            blocks,
            least=1,
            kernel=kernel.source,
            why="a whole number of blocks runs, 1 or more; what no block does\n"
            "cannot be scaled to the launch",
            fix="give blocks=1 or more, or leave it out",
        )
    _check_whole(
        "dynamic_shared_bytes",
        dynamic_bytes,
        least=0,
        kernel=kernel.source,
        why="dynamic shared memory is a number of bytes, 0 or more",
        fix="for n float32 values: dynamic_shared_bytes=4 * n",
    )
    _check_whole(
        "seed",
        seed,
        least=0,
        kernel=kernel.source,
        why="a seed is a whole number, 0 or more; it says which blocks run",
        fix="seed=0, or another number for other blocks",
    )


def _check_kernel(kernel: Any, args: Any) -> None:
    """Refuse what is no kernel, or no list of arguments."""
    name = getattr(kernel, "__name__", repr(kernel))
    if not hasattr(kernel, "program_for"):
        raise KernelTypeError(
            f"{name} is no kernel, but of type {type(kernel).__name__}",
            where="profiler.estimate(kernel, grid, block, args)",
            why="only a function with @cuda.jit, without its [grid, block], runs on "
            "the device",
            fix=f"write @cuda.jit above `def {name}`"
            if callable(kernel) and hasattr(kernel, "__code__")
            else "profiler.estimate(kernel, grid, block, args)",
        )
    if not isinstance(args, (tuple, list)):
        raise KernelTypeError(
            f"the arguments are of type {type(args).__name__}",
            where=f"profiler.estimate of {kernel.source}",
            why="they are a tuple, with one value for each parameter",
            fix="for one argument: profiler.estimate(kernel, grid, block, (x,))",
        )


def _check_whole(
    what: str, value: Any, least: int, kernel: KernelSource, why: str, fix: str
) -> None:
    """Refuse what is no whole number, or is below the least one."""
    if is_whole(value) and value >= least:
        return
    where = f"profiler.estimate of {kernel}"
    raise LaunchConfigError(f"{what}={value!r:.60}", where=where, why=why, fix=fix)
