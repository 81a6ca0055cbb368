"""How long a kernel takes on a GPU: a model, told with every term that went into it.

Comes in: counts of a launch, its configuration, a GPU. Goes out: `KernelTime`. Time is
the floor plus the slowest pipe; the others run at the same time and are hidden by it.
What a block waits for at barriers, other blocks of its SM hide, if there are any.

Source: Williams, Waterman, Patterson, "Roofline" (2009), one roof for each pipe;
`docs/explanation/kernel-time.md` tells the whole model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch_gpu.cost.caches import MemoryTraffic, memory_traffic
from tinytorch_gpu.cost.latency import Course, Waiting, waiting
from tinytorch_gpu.cost.memory_pipes import (
    SM_MEMORY_PIPES,
    atomic_ns,
    dram_ns,
    l2_ns,
    shared_requests,
)
from tinytorch_gpu.cost.occupancy import Occupancy, occupancy
from tinytorch_gpu.cost.pipes import SM_PIPES
from tinytorch_gpu.cost.waves import blocks_of_an_sm, effective_sms, rounds
from tinytorch_gpu.errors import LaunchConfigError
from tinytorch_gpu.units import format_ns

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import LaunchCounts

__all__ = ["NOT_COUNTED", "KernelTime", "check_block_fits", "kernel_time"]

NOT_COUNTED = "not counted"
OF_THE_GPU = ("l2", "dram", "atomic")  # pipes that all SMs share

_BOUNDS = {
    "floor": "floor",
    "dram": "memory",
    "l2": "memory",
    "l1": "memory",
    "lsu": "memory",
    "atomic": "atomics",
    "latency": "latency",
    "exposed": "latency",
    "barrier": "barriers",
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
        duration_ns: floor + the largest of the pipes + what is exposed; the whole
            latency where that is longer.
        bound: what binds: memory, shared memory, compute, issue, atomics, barriers,
            latency, floor, or "not counted".
        terms: nanoseconds of the floor, of each pipe, of the latency and of what of
            it barriers expose, by name.
        waves: blocks of the grid ÷ blocks that the GPU holds at a time.
        occupancy: how full an SM gets; None if not asked.
        traffic: bytes at L1, L2 and DRAM; None when counters were off.
        waits: what one warp waits for; None when counters were off.
    """

    duration_ns: float
    bound: str
    terms: dict[str, float]
    waves: float = 0.0
    occupancy: Occupancy | None = None
    traffic: MemoryTraffic | None = None
    waits: Waiting | None = None

    @property
    def binding_term(self) -> str:
        """The largest of the terms; "floor" when nothing was counted."""
        return max(self.terms, key=lambda name: self.terms[name])

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
    registers: int | None = None,
) -> KernelTime:
    """Model the time that a kernel takes on the GPU.

    Args:
        counts: what the launch did; None when counters were off.
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        shared_bytes: shared memory of one block.
        spec: the GPU.
        registers: of one thread; None estimates them, as in `occupancy`.

    Returns:
        The time with its terms; only the floor when there are no counts.

    Raises:
        LaunchConfigError: not even one block fits on an SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> time = kernel_time(None, (1, 1, 1), (32, 1, 1), 0, find_gpu("toy"))
        >>> time.duration_ns, time.bound
        (1000.0, 'not counted')

    Limits: expect the ranking to be right, ratios within about 1.5 to 2, and absolute
    times within about a factor of 2.
    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """
    blocks, floor_ns = math.prod(grid), spec.kernel_floor_ns
    fit = check_block_fits(block, shared_bytes, spec, registers)
    waves = blocks / (fit.blocks_per_sm * spec.num_sms)
    if counts is None:
        return KernelTime(floor_ns, NOT_COUNTED, {"floor": floor_ns}, waves, fit)
    together = min(fit.blocks_per_sm, blocks_of_an_sm(blocks, spec))
    there = {"blocks_per_sm": math.ceil(together), "shared_bytes": shared_bytes}
    traffic = memory_traffic(counts, spec, **there)
    pipes = _pipes_ns(counts, traffic, blocks, spec)
    course = Course(blocks, blocks * _warps(block, spec), rounds(waves))
    one = waiting(counts, traffic, course, spec)
    exposed = _exposed_ns(one, course, together, pipes) if counts.barriers else 0.0
    waits = {"latency": course.times * one.total_ns, "exposed": exposed}
    total = floor_ns + max(max(pipes.values()) + exposed, waits["latency"])
    terms = {"floor": floor_ns} | pipes | waits
    return KernelTime(total, _bound(terms, counts), terms, waves, fit, traffic, one)


def _warps(block: tuple[int, int, int], spec: GpuSpec) -> int:
    """Warps of a block; the last may have fewer threads."""
    return -(-math.prod(block) // spec.warp_size)


def _bound(terms: dict[str, float], counts: LaunchCounts) -> str:
    """What the largest term is about; of load/store units, what asks most of them."""
    largest = max(terms, key=lambda name: terms[name])
    if largest == "lsu" and shared_requests(counts) > counts.requests:
        return _BOUNDS["shared"]
    return _BOUNDS[largest]


def _pipes_ns(
    counts: LaunchCounts,
    traffic: MemoryTraffic,
    blocks: int,
    spec: GpuSpec,
) -> dict[str, float]:
    """Nanoseconds of each pipe."""
    sms = effective_sms(blocks, spec)
    clocks = {n: pipe(counts, spec) for n, pipe in SM_MEMORY_PIPES.items()}
    clocks |= {name: pipe(counts, spec) for name, pipe in SM_PIPES.items()}
    of_sms = {name: each / (sms * spec.clock_ghz) for name, each in clocks.items()}
    of_gpu = {"l2": l2_ns(traffic, spec), "dram": dram_ns(traffic, spec)}
    return of_gpu | {"atomic": atomic_ns(counts, spec)} | of_sms


def _exposed_ns(
    one: Waiting, course: Course, together: float, pipes: dict[str, float]
) -> float:
    """Nanoseconds that barriers expose of the latency.

    Between two barriers all warps of a block wait for the same loads, and only the
    other blocks of the SM have work. The blocks that are `together` take as long as the
    busiest pipe needs for all of them, or as one needs for its own work and its waits.
    Both sides count blocks by one rule (`blocks_of_an_sm`), so that one more block is
    never faster.
    """
    others = (*OF_THE_GPU, "barrier")  # a block's own barriers are a part of its waits
    of_sm = max(ns for name, ns in pipes.items() if name not in others)
    alone = of_sm / together + course.times * (one.memory_ns + one.barrier_ns)
    return max(0.0, alone - max(pipes.values()))


def check_block_fits(
    block: tuple[int, int, int],
    shared_bytes: int,
    spec: GpuSpec,
    registers: int | None = None,
) -> Occupancy:
    """Tell how full an SM gets, or refuse a block that fits on none.

    Args:
        block: threads in x, y, z.
        shared_bytes: shared memory of one block.
        spec: the GPU.
        registers: of one thread; None estimates them.

    Returns:
        The occupancy; at least one block fits.

    Raises:
        LaunchConfigError: not even one block fits on an SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> check_block_fits((256, 1, 1), 0, find_gpu("t4"), 40).blocks_per_sm
        4

    Source: `cudaErrorLaunchOutOfResources`, CUDA Runtime API.
    """
    fit = occupancy(
        math.prod(block),
        spec,
        registers_per_thread=registers,
        shared_bytes=shared_bytes,
    )
    if not fit.blocks_per_sm:
        raise _fits_nowhere(block, shared_bytes, registers, fit, spec)
    return fit


def _fits_nowhere(
    block: tuple[int, int, int],
    shared_bytes: int,
    registers: int | None,
    fit: Occupancy,
    spec: GpuSpec,
) -> LaunchConfigError:
    needs = f"{shared_bytes} B of shared memory"
    if registers:
        needs = f"{registers} registers a thread and {needs}"
    return LaunchConfigError(
        "too many resources requested for launch",
        where=f"launching blocks of {block} on {spec.name}",
        why=f"a block needs {needs};\nthe {fit.limiter} of an SM hold none: it has "
        f"{spec.max_threads_per_sm} threads,\n{spec.registers_per_sm} registers and "
        f"{spec.shared_bytes_per_sm} B",
        fix="launch smaller blocks, use less shared memory, or fewer registers\n"
        "with @cuda.jit(max_registers=...)",
        block=block,
        shared_bytes=shared_bytes,
        limiter=fit.limiter,
    )
