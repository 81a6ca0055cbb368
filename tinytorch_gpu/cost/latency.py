"""Latency: what a kernel waits for, and how much of it other warps hide.

Comes in: counts of a launch, its bytes at each level of memory. Goes out: `Waiting`,
the time that one warp takes from its start to its end when nothing is in its way. A
launch lasts at least as long as the rounds of its blocks; that is Little's law: bytes
in flight = bandwidth × latency, so too few warps leave bandwidth unused.

Source: J. Little, "A Proof for the Queuing Formula L = λW" (1961); Hong and Kim, "An
Analytical Model for a GPU Architecture" (2009); Volkov, "Better Performance at Lower
Occupancy" (2010).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tinytorch_gpu.cost.pipes import UNROLLED, issued_instructions

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost.caches import MemoryTraffic
    from tinytorch_gpu.trace import AccessCounts, LaunchCounts

__all__ = [
    "Course",
    "Waiting",
    "load_rounds",
    "memory_wait_ns",
    "waiting",
]


class Course(NamedTuple):
    """How the blocks of a launch follow each other.

    Args:
        blocks: of the grid.
        warps: of all blocks.
        times: blocks that follow each other in one place of an SM.
    """

    blocks: int
    warps: int
    times: float = 1.0


class Waiting(NamedTuple):
    """What one warp waits for, from its start to its end.

    Args:
        memory_ns: loads and atomics of global memory that it cannot go on without.
        barrier_ns: barriers that open once all have come.
        chain_ns: its own instructions, each after the one before, and shared memory.
    """

    memory_ns: float
    barrier_ns: float
    chain_ns: float

    @property
    def total_ns(self) -> float:
        """All of it, one after another."""
        return self.memory_ns + self.barrier_ns + self.chain_ns


def waiting(
    counts: LaunchCounts, traffic: MemoryTraffic, course: Course, spec: GpuSpec
) -> Waiting:
    """Model what a warp waits for when it has the SM for itself.

    Args:
        counts: what the launch did.
        traffic: how many requests get to each level of memory.
        course: how the blocks follow each other.
        spec: supplies latencies.

    Returns:
        The time of a warp that does the average work.

    Example:
        >>> from dataclasses import replace
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.cost.caches import MemoryTraffic
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> reads = AccessCounts(here, "x", "global", "load", 8, 32, 256, 1024, 1024)
        >>> slow = replace(find_gpu("toy"), dram_latency_ns=400.0)
        >>> moved = MemoryTraffic(1024, 1024, 1024, l2_requests=8, dram_requests=8)
        >>> one = Course(blocks=1, warps=1)
        >>> waiting(LaunchCounts((reads,), (), 0), moved, one, slow).memory_ns   # 8 ÷ 4
        800.0

    Limits: instructions are taken to depend on each other, each on the one before; a
    warp's slowest path counts no more than the average one.
    Source: as for the module.
    """
    clock, per_warp = spec.clock_ghz, 1 / course.warps
    memory = memory_wait_ns(counts, traffic, course, spec)
    rounds = load_rounds(counts, "shared", course.warps)
    shared = rounds * spec.shared_latency_clocks / clock
    issued = issued_instructions(counts) * per_warp * spec.alu_latency_clocks / clock
    return Waiting(memory, _barrier_ns(counts, course, spec), issued + shared)


def _barrier_ns(counts: LaunchCounts, course: Course, spec: GpuSpec) -> float:
    """Time of a warp at its barriers, which take in so many threads for each clock."""
    # Simplified: what a barrier takes beyond that, until the first warp goes on, is
    # left out. Source: CUDA C++ Programming Guide, "Synchronization Instruction".
    if not spec.barrier_threads_per_clock:
        return 0.0
    threads = spec.warp_size * course.warps / course.blocks
    barriers = counts.barriers / course.warps
    return barriers * threads / (spec.barrier_threads_per_clock * spec.clock_ghz)


def load_rounds(counts: LaunchCounts, space: str, warps: int) -> float:
    """Tell how often a warp waits for memory, given how many loads go together.

    Loads that stand at different places do not wait for each other, so the place with
    most turns decides; nor do four turns of a loop, which a compiler writes out, unless
    a barrier parts them.

    Args:
        counts: what the launch did.
        space: `global` or `shared`.
        warps: warps of the launch.

    Returns:
        Rounds of an average warp.

    Example:
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> reads = AccessCounts(here, "x", "global", "load", 64, 0, 2048, 0, 0)
        >>> load_rounds(LaunchCounts((reads,), (), 0), "global", 2)      # 32 turns ÷ 4
        8.0
        >>> load_rounds(LaunchCounts((reads,), (), 2 * 32), "global", 2)
        32.0

    Limits: an index that is itself loaded waits for that; it is not told apart.
    Source: default unrolling of LLVM; CUDA C++ Programming Guide, "Synchronization
    Functions": no access crosses a barrier.
    """
    # Simplified: which loads depend on which is not looked at. A chase of pointers is
    # up to 4 x too cheap, and so is a loop in which each turn waits for the last.
    found = (a.requests for a in counts.accesses if _is_awaited(a, space))
    return _rounds(max(found, default=0) / warps, counts, warps)


def memory_wait_ns(
    counts: LaunchCounts, traffic: MemoryTraffic, course: Course, spec: GpuSpec
) -> float:
    """Tell how long a warp waits for global memory.

    A round takes the time of L1. Where a request of it gets to L2 it takes the time of
    L2, and where one gets to DRAM that of DRAM: a warp goes on with its slowest lane.
    What is new to a block all its warps wait for, and what is new to all blocks those
    that run side by side: they come to it at the same time.

    Args:
        counts: what the launch did.
        traffic: supplies how many requests get to L2 and DRAM.
        course: how the blocks follow each other.
        spec: supplies the latency of each level.

    Returns:
        Nanoseconds of a warp that does the average work.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.cost.caches import MemoryTraffic
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> reads = AccessCounts(here, "x", "global", "load", 16, 0, 0, 0, 0)
        >>> gpu = find_gpu("rtx3090")            # 23, 146 and 264 ns
        >>> half = MemoryTraffic(0, 0, 0, l2_requests=8, dram_requests=4)
        >>> memory_wait_ns(LaunchCounts((reads,), (), 0), half, Course(1, 1), gpu)
        456.0

    That is 4 rounds of 23 ns, 2 of them with 146 − 23 ns, one with 264 − 146 ns more.

    Limits: requests that miss are taken to fall into the same rounds.
    Source: public pointer chases of RTX 2080 SUPER and RTX 3090; else `arch.limits`.
    """
    # Simplified: misses that lie in different rounds are too cheap, by at most the four
    # turns of a round. Warps that run apart from each other find what another has
    # fetched, and are too dear: by the ratio of the latencies of DRAM and L1 at most.
    found = (a.requests for a in counts.accesses if _is_awaited(a, "global"))
    turns = max(found, default=0) / course.warps
    to_l2 = min(turns, traffic.l2_requests / course.blocks)
    to_dram = min(to_l2, traffic.dram_requests / course.times)
    in_l1, in_l2, in_dram = (
        _rounds(each, counts, course.warps) for each in (turns, to_l2, to_dram)
    )
    return (
        in_l1 * spec.l1_latency_ns
        + in_l2 * (spec.l2_latency_ns - spec.l1_latency_ns)
        + in_dram * (spec.dram_latency_ns - spec.l2_latency_ns)
    )


def _rounds(turns: float, counts: LaunchCounts, warps: int) -> float:
    """Rounds of a warp for its turns at one place."""
    intervals = 1 + counts.barriers / warps
    return turns / min(max(1.0, turns / intervals), UNROLLED)


def _is_awaited(access: AccessCounts, space: str) -> bool:
    return access.space == space and access.kind != "store"
