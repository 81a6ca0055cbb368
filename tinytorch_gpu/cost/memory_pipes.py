"""The pipes of memory: what a kernel's accesses cost at each place they pass.

Those in `SM_MEMORY_PIPES` give the clocks that one SM would need for all of the work,
`l2_ns`, `dram_ns` and `atomic_ns` the time of the whole GPU.

Source: `docs/explanation/kernel-time.md`, which names one for each pipe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost.caches import MemoryTraffic
    from tinytorch_gpu.trace import AccessCounts, LaunchCounts

__all__ = [
    "SM_MEMORY_PIPES",
    "atomic_ns",
    "dram_ns",
    "l1_clocks",
    "l2_ns",
    "lsu_clocks",
    "shared_clocks",
    "shared_requests",
]

# Clocks of an atomic at one address: one from 3.x on, which is nine times the rate of
# 2.x (Kepler tuning guide). Simplified: 1.x has no L2 and does them in DRAM; nothing
# public tells how fast, and 2.x stands in. They are too cheap there.
FERMI_ATOMIC_CLOCKS = 9


def lsu_clocks(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Clocks that one SM's load/store units take for the lanes' addresses.

    They serve global and shared memory. Loads that a compiler joins into a wide one are
    one request.

    Args:
        counts: what the launch did.
        spec: supplies `ldst_lanes_per_sm`: a warp of 32 takes two clocks of 16 lanes.

    Returns:
        Clocks of one SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> reads = AccessCounts(here, "x", "global", "load", 8, 64, 256, 1024, 1024)
        >>> lsu_clocks(LaunchCounts((reads,), (), 0), find_gpu("t4"))
        16.0

    Limits: a wide load takes no longer than a narrow one; its bytes pass the banks.
    Source: load/store units of an SM in NVIDIA's whitepapers, which draw one set of
    them for L1 and shared memory.
    """
    clocks = spec.warp_size / spec.ldst_lanes_per_sm
    return (counts.requests + shared_requests(counts)) * clocks


def shared_requests(counts: LaunchCounts) -> int:
    """Count the requests to shared memory that a compiler leaves.

    Args:
        counts: what the launch did.

    Returns:
        Requests without those that a neighbour's wide load brings.

    Example:
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += tile[row, k]")
        >>> reads = AccessCounts(here, "tile", "shared", "load", 32, 0, 1024, 4096, 0,
        ...                      merged=24)
        >>> shared_requests(LaunchCounts((reads,), (), 0))
        8

    Source: `trace/wide_loads.py`.
    """
    return sum(a.requests - a.merged for a in counts.shared_accesses)


def l1_clocks(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Clocks that one SM's L1 needs to look up its lines, or to give what they hold.

    L1 looks up so many tags for each clock, one for each line that a request touches.
    Its data lie in the banks of shared memory, which is the same array: lanes that want
    different words of one bank take turns.

    Args:
        counts: what the launch did.
        spec: supplies `l1_tags_per_clock` and, where global loads pass the array of
            shared memory, `shared_bytes_per_clock`; else `l1_request_bytes`.

    Returns:
        Clocks of one SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> numbers = {"requests": 8, "sectors": 256, "active_lanes": 256}
        >>> numbers |= {"bytes_requested": 1024, "array_bytes": 0, "tags": 256}
        >>> same_bank = AccessCounts(here, "x", "global", "load", **numbers,
        ...                          wavefronts=256)
        >>> l1_clocks(LaunchCounts((same_bank,), (), 0), find_gpu("a100"))
        256.0
        >>> spread = AccessCounts(here, "x", "global", "load", **numbers, wavefronts=8)
        >>> l1_clocks(LaunchCounts((spread,), (), 0), find_gpu("a100"))   # 256 ÷ 4
        64.0

    On 6.0 L1 is an array of its own and takes a warp's lanes 32 bytes at a time:

        >>> row = AccessCounts(here, "x", "global", "load", **numbers | {"tags": 8})
        >>> l1_clocks(LaunchCounts((row,), (), 0), find_gpu("p100"))      # 8 × 4
        32.0

    Limits: stores and atomics cost what loads do.
    Source: NVIDIA's forum, "Pascal L1 cache" (four tags for each clock; requests of 8,
    4 and 2 lanes before 7.0);
    te42kyfo/gpu-benches, `gpu-strides`: counters and clocks of A40, A100 and H200 for
    strides of 0 to 64, which `benchmarks/model/run.py` prints beside this rule; Nsight
    Visual Studio Edition, "Memory Statistics": before 5.0 each line issues the
    instruction again.
    """
    # Simplified: tags are taken to spread over the four sets of L1. Hardware hashes
    # them, and two tags of one set take turns: up to 1.6 x more clocks for few lines.
    lines = sum(a.tags for a in counts.global_accesses) / spec.l1_tags_per_clock
    if spec.l1_request_bytes:
        return max(lines, sum(_parts(a, spec) for a in counts.global_accesses))
    return max(lines, _bank_clocks(counts.global_accesses, spec))


def _parts(access: AccessCounts, spec: GpuSpec) -> float:
    """Requests to L1 of few lanes each, when a warp's are looked up in parts."""
    # Simplified: active lanes are taken to lie side by side. Where they do not, more
    # parts have one: up to 4 x too cheap. Lines of one part that need two clocks (five
    # or more) count over the warp, up to 2 x too cheap.
    if not access.active_lanes:
        return 0.0
    itemsize = max(4.0, access.bytes_requested / access.active_lanes)
    return max(access.requests, access.active_lanes * itemsize / spec.l1_request_bytes)


def shared_clocks(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Clocks that one SM's shared memory needs for the passes over its banks.

    Args:
        counts: what the launch did.
        spec: supplies `shared_bytes_per_clock`; a pass is 4 bytes of 32 banks, of 16
            on compute capability 1.x.

    Returns:
        Clocks of one SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> numbers = {"requests": 8, "sectors": 0, "active_lanes": 256}
        >>> numbers |= {"bytes_requested": 1024, "array_bytes": 0, "wavefronts": 64}
        >>> reads = AccessCounts(here, "x", "shared", "load", **numbers)
        >>> shared_clocks(LaunchCounts((reads,), (), 0), find_gpu("a100"))
        64.0

    Limits: stores, loads and atomics cost the same, whether lanes meet or not. A load
    that a compiler joins with its neighbour takes no pass of its own.
    Source: CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks": each bank
    gives 4 bytes for each clock; GA102 whitepaper: 128 bytes, on Turing 64; CUDA C
    Programming Guide 3.2: on 1.x and 2.x a bank takes two clocks.
    """
    return _bank_clocks(counts.shared_accesses, spec)


def _bank_clocks(accesses: Sequence[AccessCounts], spec: GpuSpec) -> float:
    """Clocks of the passes over the banks: each gives 4 bytes of every bank."""
    passes = sum(a.wavefronts - a.merged_wavefronts for a in accesses)
    banks = 16 if spec.compute_capability[0] == 1 else 32
    return passes * 4 * banks / spec.shared_bytes_per_clock


def l2_ns(traffic: MemoryTraffic, spec: GpuSpec) -> float:
    """Time that L2 needs for all that the L1 of the SMs have not; 0 without an L2.

    Args:
        traffic: bytes of the launch.
        spec: supplies the clock and `l2_bytes_per_clock_per_sm`; all SMs share it.

    Returns:
        Nanoseconds.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.cost.caches import MemoryTraffic
        >>> l2_ns(MemoryTraffic(4096, 2048, 1024), find_gpu("toy"))     # one SM, 64 B
        32.0

    Limits: one SM alone draws less than L2 gives; its L1 is what holds it back here.
    Source: as for `arch.limits`.
    """
    if not spec.l2_bytes:
        return 0.0
    per_clock = spec.l2_bytes_per_clock_per_sm * spec.num_sms
    return traffic.l2_bytes / (per_clock * spec.clock_ghz)


def dram_ns(traffic: MemoryTraffic, spec: GpuSpec) -> float:
    """Time that DRAM needs for the kernel's traffic.

    Args:
        traffic: bytes of the launch.
        spec: supplies bandwidth and the share of it that a stream reaches.

    Returns:
        Nanoseconds.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.cost.caches import MemoryTraffic
        >>> dram_ns(MemoryTraffic(4096, 2048, 1024), find_gpu("toy"))     # 32 GB/s
        32.0

    Limits: order of addresses does not matter here.
    Source: data sheet bandwidth; `arch.presets` tells what streams reach of it.
    """
    # Simplified: random sectors are said to reach only 50 to 70 % of a stream's
    # bandwidth on GDDR, since DRAM fetches 64 bytes; scattered kernels are up to 2 x
    # too cheap here. Published copies with a stride (V100) slow down only until a warp
    # touches 32 sectors, so sectors one to a line are not charged for. A transpose that
    # stores columns is then as fast as a copy where DRAM binds both.
    # On 1.x, blocks that meet in one of 6 or 8 partitions queue.
    return traffic.dram_bytes / (spec.dram_gb_per_s * spec.dram_efficiency)


def atomic_ns(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Time that L2 needs for the atomics at one address: they go one by one.

    Args:
        counts: what the launch did.
        spec: supplies the clock.

    Returns:
        Nanoseconds for the most lanes at one address.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> numbers = {"requests": 8, "sectors": 8, "active_lanes": 256}
        >>> numbers |= {"bytes_requested": 1024, "array_bytes": 4}
        >>> hot = AccessCounts(here, "x", "global", "atomic", hottest_address=256,
        ...                    **numbers)
        >>> atomic_ns(LaunchCounts((hot,), (), 0), find_gpu("toy"))     # 1 GHz
        256.0

    Limits: compilers merge the atomics of a warp at one known address to one; here they
    are not merged. At different addresses atomics cost what loads do: their sectors.
    Source: NVIDIA, "Tuning CUDA Applications for Kepler", 1.4.3.3: one operation for
    each clock at one address, nine times the rate of Fermi, and "Memory Statistics -
    Atomics", Nsight Visual Studio Edition: many atomics nearly as fast as loads.
    """
    # Simplified: statements on one array, known by its name, are taken to meet at one
    # address; if each meets at another, they are too dear, by their number at most.
    hottest: dict[str, int] = {}
    for a in counts.global_accesses:
        if a.kind == "atomic":
            hottest[a.array] = hottest.get(a.array, 0) + a.hottest_address
    clocks = FERMI_ATOMIC_CLOCKS if spec.compute_capability[0] <= 2 else 1
    return clocks * max(hottest.values(), default=0) / spec.clock_ghz


SM_MEMORY_PIPES: dict[str, Callable[[LaunchCounts, GpuSpec], float]] = {
    "lsu": lsu_clocks,
    "l1": l1_clocks,
    "shared": shared_clocks,
}
