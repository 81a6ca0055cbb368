"""Theoretical occupancy: how many blocks fit on one SM, and what stops more.

Comes in: threads, registers and shared memory of a block, and the GPU. Goes out:
`Occupancy`. Each of the four limits is one small function; the smallest wins.

Source: `cuda_occupancy.h` of the CUDA Toolkit (NVIDIA's own occupancy calculator).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch_gpu.errors import LaunchConfigError
from tinytorch_gpu.units import is_whole

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = ["DEFAULT_REGISTERS", "Occupancy", "fitting_registers", "occupancy"]

# Simplified: a kernel in Python has no compiler that would tell its registers. NVIDIA's
# assembler gives 34 at most to three in four kernels of the library; 32, or on older
# GPUs what a full SM has for each thread, do not limit whole blocks. A kernel that
# really takes 64 may have half of the occupancy told.
DEFAULT_REGISTERS = 32

_PARTITIONS = 4  # an SM's register file is four files, from compute capability 3.0 on
_PARTITIONS_OF_6_0 = 2
_REGISTER_UNIT = 256  # registers are given to warps in units of 256


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
            f"{100 * self.theoretical_occupancy:.1f} %: {self.blocks_per_sm} "
            f"block{'' if self.blocks_per_sm == 1 else 's'}, {self.warps_per_sm} "
            f"warp{'' if self.warps_per_sm == 1 else 's'} on an SM, "
            f"limited by {self.limiter}"
        )


def occupancy(
    threads_per_block: int,
    spec: GpuSpec,
    *,
    registers_per_thread: int | None = None,
    shared_bytes: int = 0,
) -> Occupancy:
    """Tell how many blocks fit on one SM, and what limits them.

    An SM hides the time of a load by running other warps, the more the more of them are
    resident; registers and shared memory are what they compete for.

    Args:
        threads_per_block: threads of a block, 1 to 1024.
        spec: the GPU.
        registers_per_thread: 32-bit registers; None takes as many as limit nothing, 32
            at most, since there is no compiler to tell them.
        shared_bytes: shared memory of a block, static and dynamic.

    Returns:
        The occupancy; `limiter` names the first of warps, blocks, registers and shared
        memory that allows the fewest blocks.

    Raises:
        LaunchConfigError: one of the three is no whole number, or too small.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> print(occupancy(256, find_gpu("t4")))     # 32 warps ÷ 8 warps a block
        100.0 %: 4 blocks, 32 warps on an SM, limited by warps
        >>> print(occupancy(1024, find_gpu("rtx3090")))     # 48 warps hold 32 once
        66.7 %: 1 block, 32 warps on an SM, limited by warps

    Limits: the largest shared-memory carve-out is taken; clusters are not modelled, nor
    the kernel's arguments, which take shared memory on compute capability 1.x.
    Source: `cuda_occupancy.h`, CUDA Toolkit 12.9; CUDA C Programming Guide 3.2, 4.2
    (compute capability 1.x and 2.x).
    """
    if registers_per_thread is None:
        registers_per_thread = _estimated_registers(spec)
    _check(threads_per_block, registers_per_thread, shared_bytes)
    warps = _divide_up(threads_per_block, spec.warp_size)
    max_warps = spec.max_threads_per_sm // spec.warp_size
    limits = {
        "warps": max_warps // warps,
        "blocks": spec.max_blocks_per_sm,
        "registers": _register_limit(warps, registers_per_thread, spec),
        "shared memory": _shared_limit(shared_bytes, spec),
    }
    return _fullest(limits, warps, max_warps)


def _fullest(limits: dict[str, int], warps: int, max_warps: int) -> Occupancy:
    """Take the smallest of the limits."""
    limiter = min(limits, key=lambda name: limits[name])
    blocks = limits[limiter]
    return Occupancy(
        blocks, blocks * warps, blocks * warps / max_warps, limiter, limits
    )


def _check(threads: object, registers: object, shared_bytes: object) -> None:
    _check_whole("threads_per_block", threads, least=1)
    _check_whole("registers_per_thread", registers, least=1)
    _check_whole("shared_bytes", shared_bytes, least=0)


def _check_whole(name: str, value: object, least: int) -> None:
    """Refuse what is no whole number from `least` on."""
    if is_whole(value) and value >= least:
        return
    raise LaunchConfigError(
        f"{name}={value!r}",
        where="occupancy(threads_per_block, spec, registers_per_thread=, "
        "shared_bytes=)",
        why=f"{name} is a whole number, {least} or more",
        fix="for example occupancy(256, spec, registers_per_thread=32)",
    )


def fitting_registers(estimate: int, threads_per_block: int, spec: GpuSpec) -> int:
    """Tell the registers that a compiler would leave to a thread of a block.

    An estimate is no reason to refuse a launch: it gives way to what one block has.

    Args:
        estimate: 32-bit registers of a thread.
        threads_per_block: threads of a block.
        spec: supplies `registers_per_sm` and `max_registers_per_thread`.

    Returns:
        Registers, the estimate at most.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> t4 = find_gpu("t4")                   # 65,536 registers
        >>> fitting_registers(80, 256, t4), fitting_registers(80, 1024, t4)
        (80, 64)

    Limits: what a compiler spills for it to local memory costs nothing here.
    Source: CUDA C++ Programming Guide, "Launch Bounds".
    """
    warps = _round_up(_divide_up(threads_per_block, spec.warp_size), _PARTITIONS)
    left = spec.registers_per_sm // (warps * spec.warp_size)
    whole = left // 8 * 8 if left >= 8 else left
    return min(estimate, whole, spec.max_registers_per_thread)


def _estimated_registers(spec: GpuSpec) -> int:
    """As many as a full SM has for each thread; even, since a warp gets units of 64."""
    of_full_sm = spec.registers_per_sm // spec.max_threads_per_sm // 2 * 2
    return min(DEFAULT_REGISTERS, of_full_sm)


def _register_limit(warps: int, registers_per_thread: int, spec: GpuSpec) -> int:
    """Blocks that the registers allow; a warp's registers lie in one partition."""
    if spec.compute_capability < (3, 0):
        of_block = _registers_of_old_block(warps, registers_per_thread, spec)
        return spec.registers_per_sm // of_block
    partitions = _PARTITIONS
    if spec.compute_capability == (6, 0):
        partitions = _PARTITIONS_OF_6_0
    of_warp = _round_up(registers_per_thread * spec.warp_size, _REGISTER_UNIT)
    if of_warp * _round_up(warps, partitions) > spec.registers_per_sm:
        return 0
    warps_per_partition = spec.registers_per_sm // partitions // of_warp
    return warps_per_partition * partitions // warps


def _registers_of_old_block(
    warps: int, registers_per_thread: int, spec: GpuSpec
) -> int:
    """Registers of a block before 3.0: for an even number of warps, in larger units."""
    even = _round_up(warps, 2)
    of_warp = registers_per_thread * spec.warp_size
    if spec.compute_capability >= (2, 0):
        return even * _round_up(of_warp, 64)
    return _round_up(even * of_warp, 256 if spec.compute_capability < (1, 2) else 512)


def _shared_limit(shared_bytes: int, spec: GpuSpec) -> int:
    """Blocks that the shared memory allows."""
    # From 8.0 on the system keeps 1 KB of each block's shared memory for itself.
    major = spec.compute_capability[0]
    unit = {1: 512, 2: 128}.get(major, 128 if major >= 8 else 256)
    reserved = 1024 if major >= 8 else 0
    of_block = _round_up(shared_bytes + reserved, unit)
    return spec.shared_bytes_per_sm // of_block if of_block else spec.max_blocks_per_sm


def _divide_up(number: int, unit: int) -> int:
    return -(-number // unit)


def _round_up(number: int, unit: int) -> int:
    return _divide_up(number, unit) * unit
