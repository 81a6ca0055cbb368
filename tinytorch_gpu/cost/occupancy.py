"""Theoretical occupancy: how many blocks fit on one SM, and what stops more.

Comes in: threads, registers and shared memory of a block, and the GPU. Goes out:
`Occupancy`. Each of the four limits is one small function; the smallest wins.

Source: `cuda_occupancy.h` of the CUDA Toolkit (NVIDIA's own occupancy calculator).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch_gpu.errors import UnsupportedError

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = ["DEFAULT_REGISTERS", "Occupancy", "occupancy"]

# Simplified: a kernel in Python has no compiler that would tell its registers. Small
# kernels take 16 to 40; 32 never limits a GPU of compute capability 7.0 or later. A
# kernel that really takes 64 may have half of the occupancy told here.
DEFAULT_REGISTERS = 32

_PARTITIONS = 4  # an SM's register file is four files, from compute capability 7.0 on
_REGISTER_UNIT = 256  # registers are given to warps in units of 256
_OLDEST_CAPABILITY = (7, 0)


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How full one SM gets.

    Args:
        blocks_per_sm: resident blocks; 0 when not even one fits.
        warps_per_sm: resident warps.
        theoretical_occupancy: resident warps ÷ the most that an SM holds, 0 to 1.
        limiter: what stops one more block: warps, blocks, registers or shared memory.
        limits: blocks that each of the four would allow.
    """

    blocks_per_sm: int
    warps_per_sm: int
    theoretical_occupancy: float
    limiter: str
    limits: dict[str, int]

    def __str__(self) -> str:
        """Tell it in one line."""
        return (
            f"{100 * self.theoretical_occupancy:.1f} %: {self.blocks_per_sm} blocks, "
            f"{self.warps_per_sm} warps on an SM, limited by {self.limiter}"
        )


def occupancy(
    threads_per_block: int,
    spec: GpuSpec,
    *,
    registers_per_thread: int = DEFAULT_REGISTERS,
    shared_bytes: int = 0,
) -> Occupancy:
    """Tell how many blocks fit on one SM, and what limits them.

    An SM hides the time of a load by running other warps. The more warps are resident,
    the more it can hide; registers and shared memory are what they compete for.

    Args:
        threads_per_block: threads of a block, 1 to 1024.
        spec: the GPU, compute capability 7.0 or later.
        registers_per_thread: 32-bit registers; an estimate, since there is no compiler.
        shared_bytes: shared memory of a block, static and dynamic.

    Returns:
        The occupancy; `limiter` names the first of warps, blocks, registers and shared
        memory that allows the fewest blocks.

    Raises:
        UnsupportedError: the GPU is older than compute capability 7.0.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> print(occupancy(256, find_gpu("t4")))     # 32 warps ÷ 8 warps a block
        100.0 %: 4 blocks, 32 warps on an SM, limited by warps
        >>> print(occupancy(1024, find_gpu("rtx3090")))     # 48 warps hold 32 once
        66.7 %: 1 blocks, 32 warps on an SM, limited by warps

    Limits: the largest shared-memory carve-out is taken; clusters are not modelled.
    Source: `cuda_occupancy.h`, CUDA Toolkit 12.9.
    """
    if spec.compute_capability < _OLDEST_CAPABILITY:
        raise _too_old(spec)
    warps = _divide_up(threads_per_block, spec.warp_size)
    max_warps = spec.max_threads_per_sm // spec.warp_size
    limits = {
        "warps": max_warps // warps,
        "blocks": spec.max_blocks_per_sm,
        "registers": _register_limit(warps, registers_per_thread, spec),
        "shared memory": _shared_limit(shared_bytes, spec),
    }
    limiter = min(limits, key=lambda name: limits[name])
    blocks = limits[limiter]
    return Occupancy(
        blocks, blocks * warps, blocks * warps / max_warps, limiter, limits
    )


def _register_limit(warps: int, registers_per_thread: int, spec: GpuSpec) -> int:
    """Blocks that the registers allow; a warp's registers lie in one partition."""
    if not registers_per_thread:
        return spec.max_blocks_per_sm
    of_warp = _round_up(registers_per_thread * spec.warp_size, _REGISTER_UNIT)
    if of_warp * _round_up(warps, _PARTITIONS) > spec.registers_per_sm:
        return 0
    warps_per_partition = spec.registers_per_sm // _PARTITIONS // of_warp
    return warps_per_partition * _PARTITIONS // warps


def _shared_limit(shared_bytes: int, spec: GpuSpec) -> int:
    """Blocks that the shared memory allows."""
    # From 8.0 on the system keeps 1 KB of each block's shared memory for itself.
    is_ampere_or_later = spec.compute_capability >= (8, 0)
    unit, reserved = (128, 1024) if is_ampere_or_later else (256, 0)
    of_block = _round_up(shared_bytes + reserved, unit)
    return spec.shared_bytes_per_sm // of_block if of_block else spec.max_blocks_per_sm


def _divide_up(number: int, unit: int) -> int:
    return -(-number // unit)


def _round_up(number: int, unit: int) -> int:
    return _divide_up(number, unit) * unit


def _too_old(spec: GpuSpec) -> UnsupportedError:
    major, minor = spec.compute_capability
    return UnsupportedError(
        f"occupancy of {spec.name} ({major}.{minor}) is not modelled",
        where="computing the theoretical occupancy",
        why="before compute capability 7.0 registers are given out in other units",
        fix='model a later GPU: install(gpu="t4")',
        compute_capability=spec.compute_capability,
    )
