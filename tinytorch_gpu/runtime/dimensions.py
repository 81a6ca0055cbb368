"""Grid and block of a launch: read as x, y, z, and checked against the GPU's limits.

Source: CUDA C++ Programming Guide, "Compute Capabilities" (limits of a launch).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import KernelTypeError, LaunchConfigError
from tinytorch_gpu.executor.geometry import Dim3
from tinytorch_gpu.units import is_whole

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import KernelSource

__all__ = ["Dim3", "read_dimensions", "read_launch"]


def read_launch(
    grid: Any, block: Any, kernel: KernelSource, spec: GpuSpec
) -> tuple[Dim3, Dim3]:
    """Read grid and block and check them against the GPU.

    Args:
        grid: blocks, an int or a tuple of one to three.
        block: threads of a block, likewise.
        kernel: the kernel's name and place, for errors.
        spec: the GPU.

    Returns:
        Blocks and threads in x, y, z.

    Raises:
        KernelTypeError: a length is no integer.
        LaunchConfigError: there are over three, or one is outside the limits.
    """
    blocks = read_dimensions(grid, "grid", kernel)
    threads = read_dimensions(block, "block", kernel)
    _check_limits(blocks, "grid", kernel, spec.max_grid_dim)
    _check_limits(threads, "block", kernel, spec.max_block_dim)
    _check_threads(threads, kernel, spec)
    return blocks, threads


def read_dimensions(given: Any, what: str, kernel: KernelSource) -> Dim3:
    """Read a grid or block as x, y, z.

    Args:
        given: an int, or a tuple or list of one to three.
        what: "grid" or "block".
        kernel: the kernel's name and place, for errors.

    Raises:
        KernelTypeError: a length is no integer.
        LaunchConfigError: there are none or over three.
    """
    parts = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not all(is_whole(part) for part in parts):
        raise KernelTypeError(*_unread(given, what), **_how(kernel))
    if not 1 <= len(parts) <= 3:
        raise LaunchConfigError(*_unread(given, what), **_how(kernel))
    x, y, z = (*map(int, parts), 1, 1)[:3]
    return x, y, z


def _unread(given: Any, what: str) -> tuple[str]:
    return (f"{what} {given!r} is no int and no tuple of one to three ints",)


def _how(kernel: KernelSource) -> dict[str, str]:
    return {
        "where": f"launch of {kernel}",
        "why": "a launch is kernel[grid, block](...), each up to three dimensions",
        "fix": f"for example {kernel.name}[4, 256](...); use // instead of /",
    }


def _check_limits(lengths: Dim3, what: str, kernel: KernelSource, limits: Dim3) -> None:
    for axis, length, limit in zip("xyz", lengths, limits, strict=True):
        if not 1 <= length <= limit:
            raise LaunchConfigError(
                f"{what} {axis} is {length}",
                where=f"launch of {kernel}",
                why=f"{what} {axis} must be between 1 and {limit}",
                fix="launch at least one block of one thread"
                if length < 1
                else _more_blocks(kernel)
                if what == "block"
                else "spread the blocks over x, y and z",
            )


def _check_threads(block: Dim3, kernel: KernelSource, spec: GpuSpec) -> None:
    threads, limit = math.prod(block), spec.max_threads_per_block
    if threads > limit:
        raise LaunchConfigError(
            f"a block of {threads} threads",
            where=f"launch of {kernel}, block {block}",
            why=f"{threads} > {limit}, the most threads that a block of a "
            f"{spec.name} may have",
            fix=_more_blocks(kernel),
            threads=threads,
            limit=limit,
        )


def _more_blocks(kernel: KernelSource) -> str:
    return (
        "use 256 threads a block and more blocks: "
        f"{kernel.name}[(n + 255) // 256, 256](...)"
    )
