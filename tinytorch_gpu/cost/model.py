"""How long a kernel takes on a GPU: a model, told with every term that went into it.

Comes in: counts of a launch, its configuration, a GPU. Goes out: `KernelTime`. Time is
the floor plus the slowest pipe; the others run at the same time and are hidden by it.

Source: Williams, Waterman, Patterson, "Roofline" (2009), one roof for each pipe.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch_gpu.cost.occupancy import Occupancy, occupancy
from tinytorch_gpu.cost.pipes import SM_PIPES, dram_ns
from tinytorch_gpu.errors import LaunchConfigError
from tinytorch_gpu.units import format_ns

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import LaunchCounts

__all__ = ["NOT_COUNTED", "KernelTime", "effective_sms", "kernel_time"]

NOT_COUNTED = "not counted"

_BOUNDS = {
    "floor": "floor",
    "dram": "memory",
    "l2": "memory",
    "shared": "shared memory",
    "fp32": "compute",
    "fp64": "compute",
    "special": "compute",
    "issue": "issue",
}


@dataclass(frozen=True, slots=True)
class KernelTime:
    """Modelled time of one kernel, and what it is made of.

    Args:
        duration_ns: floor + the largest of the pipes.
        bound: what binds: memory, shared memory, compute, issue, floor, or "not
            counted".
        terms: nanoseconds of the floor and of each pipe, by name.
        waves: blocks of the grid ÷ blocks that the GPU holds at a time.
        occupancy: how full an SM gets; None if not asked.
    """

    duration_ns: float
    bound: str
    terms: dict[str, float]
    waves: float = 0.0
    occupancy: Occupancy | None = None

    def __str__(self) -> str:
        """Tell time, bound and the terms, largest first."""
        ordered = sorted(self.terms.items(), key=lambda term: -term[1])
        told = ", ".join(f"{name} {format_ns(ns)}" for name, ns in ordered if ns)
        return f"modelled {format_ns(self.duration_ns)}, bound: {self.bound} ({told})"


def kernel_time(
    counts: LaunchCounts | None,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    shared_bytes: int,
    spec: GpuSpec,
) -> KernelTime:
    """Model the time that a kernel takes on the GPU.

    Args:
        counts: what the launch did; None when counters were off.
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        shared_bytes: shared memory of one block.
        spec: the GPU.

    Returns:
        The time with its terms; only the floor when there are no counts.

    Raises:
        LaunchConfigError: not even one block fits on an SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import LaunchCounts
        >>> nothing = LaunchCounts((), (), 0)
        >>> time = kernel_time(nothing, (1, 1, 1), (32, 1, 1), 0, find_gpu("toy"))
        >>> time.duration_ns, time.bound
        (1000.0, 'floor')

    Limits: latency that too few warps leave exposed is not priced, nor are barriers
    beyond their instructions, nor atomics; expect the ranking to be right and absolute
    times within about a factor of 2.
    Source: Williams, Waterman, Patterson, "Roofline" (2009); kernel floor of public
    RTX 2080 SUPER and RTX 3090 microbenchmarks.
    """
    blocks = math.prod(grid)
    fit = occupancy(math.prod(block), spec, shared_bytes=shared_bytes)
    if not fit.blocks_per_sm:
        raise _fits_nowhere(block, shared_bytes, fit, spec)
    waves = blocks / (fit.blocks_per_sm * spec.num_sms)
    floor = {"floor": spec.kernel_floor_ns}
    if counts is None:
        return KernelTime(spec.kernel_floor_ns, NOT_COUNTED, floor, waves, fit)
    pipes = _pipes_ns(counts, effective_sms(blocks, spec), spec)
    slowest = max(pipes.values())
    terms = floor | pipes
    bound = _BOUNDS[max(terms, key=lambda name: terms[name])]
    return KernelTime(spec.kernel_floor_ns + slowest, bound, terms, waves, fit)


def effective_sms(blocks: int, spec: GpuSpec) -> float:
    """Tell how many SMs share the work evenly: fewer when the last round is not full.

    Every SM gets ⌊blocks ÷ SMs⌋ blocks and some get one more; the kernel ends when
    those do. With fewer blocks than SMs, the others idle.

    Args:
        blocks: blocks of the grid, 1 or more.
        spec: supplies `num_sms`.

    Returns:
        SMs, 1 to `num_sms`.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> a100 = find_gpu("a100")           # 108 SMs
        >>> effective_sms(4, a100), effective_sms(108, a100), effective_sms(109, a100)
        (4.0, 108.0, 54.5)

    Limits: all blocks take equally long.
    Source: NVIDIA, "Matrix Multiplication Background User's Guide", wave quantization.
    """
    # Simplified: blocks of one SM share its pipes, so one block more costs one block's
    # time. If they wait for latency instead, it costs a whole wave: up to
    # `blocks_per_sm` times more for the last wave.
    return blocks / math.ceil(blocks / spec.num_sms)


def _pipes_ns(counts: LaunchCounts, sms: float, spec: GpuSpec) -> dict[str, float]:
    """Nanoseconds of each pipe."""
    clocks_per_ns = sms * spec.clock_ghz
    of_sms = {name: p(counts, spec) / clocks_per_ns for name, p in SM_PIPES.items()}
    return {"dram": dram_ns(counts, spec)} | of_sms


def _fits_nowhere(
    block: tuple[int, int, int], shared_bytes: int, fit: Occupancy, spec: GpuSpec
) -> LaunchConfigError:
    return LaunchConfigError(
        f"a block of {block} with {shared_bytes} B of shared memory fits on no SM",
        where=f"launching on {spec.name}",
        why=f"the {fit.limiter} of an SM hold 0 such blocks: at most "
        f"{spec.max_threads_per_sm} threads and {spec.shared_bytes_per_sm} B",
        fix="launch smaller blocks, or use less shared memory",
        block=block,
        shared_bytes=shared_bytes,
        limiter=fit.limiter,
    )
