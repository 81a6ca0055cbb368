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

__all__ = ["BARRIER_CLOCKS", "Waiting", "load_latency_ns", "load_rounds", "waiting"]

BARRIER_CLOCKS = 20  # until the warps of a block go on after the last has come


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
    counts: LaunchCounts, traffic: MemoryTraffic, warps: int, spec: GpuSpec
) -> Waiting:
    """Model what a warp waits for when it has the SM for itself.

    Args:
        counts: what the launch did.
        traffic: its bytes at each level of memory.
        warps: warps of the launch.
        spec: supplies latencies.

    Returns:
        The time of an average warp.

    Example:
        >>> from dataclasses import replace
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.cost.caches import MemoryTraffic
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> reads = AccessCounts(here, "x", "global", "load", 8, 32, 256, 1024, 1024)
        >>> slow = replace(find_gpu("toy"), dram_latency_ns=400.0)
        >>> moved = MemoryTraffic(1024, 1024, 1024, 1024, 1024, 1024)    # all from DRAM
        >>> waiting(LaunchCounts((reads,), (), 0), moved, 1, slow).memory_ns   # 8 ÷ 4
        800.0

    Limits: instructions are taken to depend on each other, each on the one before; a
    warp's slowest path counts no more than the average one.
    Source: as for the module.
    """
    clock, per_warp = spec.clock_ghz, 1 / warps
    barriers = counts.barriers * per_warp
    memory = load_rounds(counts, "global", warps) * load_latency_ns(traffic, spec)
    shared = load_rounds(counts, "shared", warps) * spec.l1_latency_ns
    issued = issued_instructions(counts) * per_warp * spec.alu_latency_clocks / clock
    at_barriers = barriers * BARRIER_CLOCKS / clock if spec.alu_latency_clocks else 0.0
    return Waiting(memory, at_barriers, issued + shared)


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
    intervals = 1 + counts.barriers / warps
    turns = [a.requests / warps for a in counts.accesses if _is_awaited(a, space)]
    waits = (t / min(max(1.0, t / intervals), UNROLLED) for t in turns)
    return max(waits, default=0.0)


def _is_awaited(access: AccessCounts, space: str) -> bool:
    return access.space == space and access.kind != "store"


def load_latency_ns(traffic: MemoryTraffic, spec: GpuSpec) -> float:
    """Average the latencies of loads by the level that answers them.

    Args:
        traffic: bytes of the launch.
        spec: supplies the latency of each level.

    Returns:
        Nanoseconds; of DRAM where nothing is loaded.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.cost.caches import MemoryTraffic
        >>> gpu = find_gpu("rtx3090")            # 23, 146 and 264 ns
        >>> half = MemoryTraffic(0, 0, 0, l1_loaded=64, l2_loaded=32, dram_loaded=0)
        >>> load_latency_ns(half, gpu)
        84.5

    Limits: the average, not the slowest lane of a warp.
    Source: public pointer chases of RTX 2080 SUPER and RTX 3090; else `arch.limits`.
    """
    asked = traffic.l1_loaded
    if not asked:
        return spec.dram_latency_ns
    l2, dram = traffic.l2_loaded, min(traffic.dram_loaded, traffic.l2_loaded)
    by_level = (
        (asked - l2) * spec.l1_latency_ns
        + (l2 - dram) * spec.l2_latency_ns
        + dram * spec.dram_latency_ns
    )
    return by_level / asked
