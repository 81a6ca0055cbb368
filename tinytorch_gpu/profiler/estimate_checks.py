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
        _check_blocks(blocks, kernel.source)
    _check_dynamic_bytes(dynamic_bytes, kernel.source)
    _check_seed(seed, kernel.source)


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


def _check_blocks(blocks: Any, kernel: KernelSource) -> None:
    """Refuse what is no number of blocks."""
    if is_whole(blocks) and blocks >= 1:
        return
    raise LaunchConfigError(
        f"an estimate from blocks={blocks!r}",
        where=f"profiler.estimate of {kernel}",
        why="a whole number of blocks runs, 1 or more; what no block does\n"
        "cannot be scaled to the launch",
        fix="give blocks=1 or more, or leave it out",
    )


def _check_dynamic_bytes(nbytes: Any, kernel: KernelSource) -> None:
    """Refuse what is no number of bytes."""
    if is_whole(nbytes) and nbytes >= 0:
        return
    raise LaunchConfigError(
        f"dynamic_shared_bytes={nbytes!r}",
        where=f"profiler.estimate of {kernel}",
        why="dynamic shared memory is a number of bytes, 0 or more",
        fix="for n float32 values: dynamic_shared_bytes=4 * n",
    )


def _check_seed(seed: Any, kernel: KernelSource) -> None:
    """Refuse what no random generator starts from."""
    if is_whole(seed) and seed >= 0:
        return
    raise LaunchConfigError(
        f"seed={seed!r:.60}",
        where=f"profiler.estimate of {kernel}",
        why="a seed is a whole number, 0 or more; it says which blocks run",
        fix="seed=0, or another number for other blocks",
    )
