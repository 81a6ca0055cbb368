"""Cooperative launches: a grid barrier needs all blocks on the GPU at the same time.

A block that waits at a grid barrier keeps its SM, so a block that found no place would
never start, and the others would wait for it for ever: the driver refuses the launch.

Source: CUDA C++ Programming Guide, "Cooperative Groups", "Grid Synchronization";
`cudaErrorCooperativeLaunchTooLarge` in the CUDA Runtime API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.cost.occupancy import occupancy
from tinytorch_gpu.errors import LaunchConfigError

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = ["check_cooperative_grid", "max_cooperative_blocks"]


def max_cooperative_blocks(spec: GpuSpec, threads: int, shared_bytes: int = 0) -> int:
    """Tell how many blocks of a kernel with a grid barrier may be launched.

    Args:
        spec: the GPU.
        threads: threads of a block, 1 to 1024.
        shared_bytes: shared memory of a block, static and dynamic.

    Returns:
        Blocks that fit on one SM, times the SMs.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> max_cooperative_blocks(find_gpu("t4"), 256)     # 4 blocks on each of 40 SMs
        160

    Limits: registers are an estimate, as in `occupancy`.
    Source: CUDA C++ Programming Guide, "Grid Synchronization".
    """
    fit = occupancy(threads, spec, shared_bytes=shared_bytes)
    return fit.blocks_per_sm * spec.num_sms


def check_cooperative_grid(
    spec: GpuSpec, blocks: int, threads: int, shared_bytes: int, kernel: str
) -> None:
    """Refuse a grid that cannot be resident as a whole.

    Args:
        spec: the GPU.
        blocks: blocks of the launch, all axes together.
        threads: threads of a block.
        shared_bytes: shared memory of a block, static and dynamic.
        kernel: the kernel with its place, for the message.

    Raises:
        LaunchConfigError: more blocks than `max_cooperative_blocks`.

    Source: `cudaErrorCooperativeLaunchTooLarge`, CUDA Runtime API.
    """
    limit = max_cooperative_blocks(spec, threads, shared_bytes)
    if blocks <= limit:
        return
    raise LaunchConfigError(
        f"too many blocks in a cooperative launch: {blocks}",
        where=f"launch of {kernel}, {threads} threads a block",
        why=f"grid.sync() needs all blocks resident at once; a {spec.name} holds\n"
        f"{limit // spec.num_sms} of these on each of {spec.num_sms} SMs: "
        f"{blocks} > {limit}",
        fix=f"launch at most {limit} blocks, and let each thread do several elements\n"
        "with a loop: for i in range(cuda.grid(1), n, cuda.gridsize(1))",
        blocks=blocks,
        limit=limit,
    )
