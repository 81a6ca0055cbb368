"""The pipes that a kernel's work goes through, each one function: counts in, price out.

`dram_ns` is for the whole GPU. The others, in `SM_PIPES`, give the clocks that one SM
would need for all of the work; `model` divides by the SMs that take part.

Source: Williams, Waterman, Patterson, "Roofline" (2009); Ding and Williams,
"Instruction Roofline Model" (2019); NVIDIA data sheets through `GpuSpec`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import AccessCounts, LaunchCounts

__all__ = [
    "SM_PIPES",
    "dram_bytes",
    "dram_ns",
    "fp32_clocks",
    "fp64_clocks",
    "issue_clocks",
    "l2_clocks",
    "shared_clocks",
    "special_clocks",
]

# Simplified: what stays in L2 depends on the order of accesses and on a hash of their
# addresses. A kernel whose arrays fill at most 80 % of L2 is taken to find again all
# that it touched once. Near that limit DRAM traffic may be off by the factor of reuse.
L2_USABLE_SHARE = 0.8


def dram_bytes(counts: LaunchCounts, spec: GpuSpec) -> int:
    """Estimate the bytes that move between L2 and DRAM.

    If all arrays of the kernel fit in L2 together, each sector comes from DRAM once:
    at most the array's own bytes for loads, and again for stores. If they do not fit,
    every sector asked for is taken to come from DRAM. An atomic loads and stores.

    Args:
        counts: what the launch did.
        spec: supplies `l2_bytes` and `sector_bytes`.

    Returns:
        Bytes.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> reads = AccessCounts(here, "x", "global", "load", 8, 64, 256, 1024, 1024)
        >>> toy = find_gpu("toy")     # read twice, but 1024 B fit in L2: moved once
        >>> dram_bytes(LaunchCounts((reads,), (), 0), toy)
        1024

    Limits: L1 is left out; an array is known by its name in the source.
    Source: "hierarchical roofline": one count of bytes for each level of memory.
    """
    accesses = counts.global_accesses
    footprint = sum({a.array: a.array_bytes for a in accesses}.values())
    if footprint > L2_USABLE_SHARE * spec.l2_bytes:
        # Simplified: reuse within a few blocks still hits L1 and L2 on hardware, so a
        # kernel that reads its arrays k times may be up to k times too dear here.
        return sum(a.sectors * _ways(a.kind) for a in accesses) * spec.sector_bytes
    kinds = {(a.array, a.kind) for a in accesses}
    return sum(_once(accesses, kind, spec) for kind in kinds)


def _once(
    accesses: tuple[AccessCounts, ...], kind: tuple[str, str], spec: GpuSpec
) -> int:
    """Bytes of one array's loads or stores when no sector moves twice."""
    same = [a for a in accesses if (a.array, a.kind) == kind]
    moved = sum(a.sectors for a in same)
    whole = -(-max(a.array_bytes for a in same) // spec.sector_bytes)
    return min(moved, whole) * spec.sector_bytes * _ways(kind[1])


def _ways(kind: str) -> int:
    """How often a sector passes DRAM: L2 fetches it for an atomic, and writes back."""
    return 2 if kind == "atomic" else 1


def dram_ns(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Time that DRAM needs for the kernel's traffic.

    Args:
        counts: what the launch did.
        spec: supplies bandwidth and the share of it that a stream reaches.

    Returns:
        Nanoseconds.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> reads = AccessCounts(here, "x", "global", "load", 8, 64, 256, 1024, 1024)
        >>> toy = find_gpu("toy")     # 1024 B at 32 GB/s
        >>> dram_ns(LaunchCounts((reads,), (), 0), toy)
        32.0

    Limits: order of addresses does not matter here.
    Source: data sheet bandwidth; a coalesced stream reaches 85 to 93 % of it.
    """
    # Simplified: single sectors far apart reach only 50 to 70 % of a stream's bandwidth
    # on hardware, since DRAM fetches 64 bytes; scattered kernels are up to 2 x too
    # cheap here.
    return dram_bytes(counts, spec) / (spec.dram_gb_per_s * spec.dram_efficiency)


def l2_clocks(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Clocks that one SM needs to draw all sectors from L2.

    Args:
        counts: what the launch did.
        spec: supplies `l2_bytes_per_clock_per_sm`.

    Returns:
        Clocks of one SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> reads = AccessCounts(here, "x", "global", "load", 8, 64, 256, 1024, 1024)
        >>> toy = find_gpu("toy")     # 64 sectors × 32 B ÷ 64 B for each clock
        >>> l2_clocks(LaunchCounts((reads,), (), 0), toy)
        32.0

    Limits: hits in L1 are priced as if they went to L2; atomics that meet at one
    address as if they did not wait for each other.
    Source: about 64 bytes for each clock and SM on compute capability 7.0 and later.
    """
    # Simplified: L1 is left out. A kernel whose warps read the same lines shortly after
    # each other (naive matmul) may be up to 2 x too dear here.
    return counts.sectors * spec.sector_bytes / spec.l2_bytes_per_clock_per_sm


def shared_clocks(counts: LaunchCounts, spec: GpuSpec) -> float:  # noqa: ARG001
    """Clocks that one SM's shared memory needs: one for each pass over the banks.

    Args:
        counts: what the launch did.
        spec: not used; all pipes have the same form.

    Returns:
        Clocks of one SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> numbers = {"requests": 8, "sectors": 0, "active_lanes": 256}
        >>> numbers |= {"bytes_requested": 1024, "array_bytes": 0, "wavefronts": 64}
        >>> reads = AccessCounts(here, "x", "shared", "load", **numbers)
        >>> shared_clocks(LaunchCounts((reads,), (), 0), find_gpu("toy"))
        64.0

    Limits: stores, loads and atomics cost the same, whether lanes meet or not.
    Source: CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks": each bank
    gives 4 bytes for each clock.
    """
    return float(sum(a.wavefronts for a in counts.accesses if a.space == "shared"))


def fp32_clocks(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Clocks that one SM needs for the float32 operations.

    Args:
        counts: what the launch did.
        spec: supplies lanes and the sustained share of the peak.

    Returns:
        Clocks of one SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import LaunchCounts, LineCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> work = LineCounts(here, 8, 256, 0, 0, 256, 0, 0, 0)
        >>> toy = find_gpu("toy")     # 256 operations ÷ (2 × 32 lanes)
        >>> fp32_clocks(LaunchCounts((), (work,), 0), toy)
        4.0

    Limits: inactive lanes of a divergent warp show in the issue pipe only.
    Source: data sheet peak: 2 operations for each lane and clock.
    """
    # Simplified: every multiply is taken to fuse with an add, as peak flops count. A
    # kernel of adds alone is up to 2 x too cheap.
    per_clock = 2 * spec.fp32_lanes_per_sm * spec.fp32_sustained
    return counts.total("fp32") / per_clock


def fp64_clocks(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Clocks that one SM needs for the float64 operations.

    Args:
        counts: what the launch did.
        spec: supplies `fp64_lanes_per_sm`: 2 on most GPUs, 32 on an A100.

    Returns:
        Clocks of one SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import LaunchCounts, LineCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> work = LineCounts(here, 8, 256, 0, 0, 0, 256, 0, 0)
        >>> toy = find_gpu("toy")     # 256 operations ÷ (2 × 1 lane)
        >>> fp64_clocks(LaunchCounts((), (work,), 0), toy)
        128.0

    Limits: as for float32, every multiply is taken to fuse with an add.
    Source: CUDA C++ Programming Guide, "Arithmetic Instructions".
    """
    return counts.total("fp64") / (2 * spec.fp64_lanes_per_sm)


def special_clocks(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Clocks that one SM needs for divisions, roots, exponentials and their like.

    Args:
        counts: what the launch did.
        spec: supplies `sfu_lanes_per_sm`.

    Returns:
        Clocks of one SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import LaunchCounts, LineCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> work = LineCounts(here, 8, 256, 0, 0, 0, 0, 0, 256)
        >>> toy = find_gpu("toy")     # 256 operations ÷ 4 lanes
        >>> special_clocks(LaunchCounts((), (work,), 0), toy)
        64.0

    Limits: all special functions cost the same.
    Source: CUDA C++ Programming Guide, "Arithmetic Instructions": 16 for each clock.
    """
    # Simplified: a division or a full-precision root is a sequence of 8 to 10
    # instructions on hardware; kernels of divisions may be up to 5 x too cheap.
    return counts.total("special") / spec.sfu_lanes_per_sm


def issue_clocks(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Clocks that one SM's schedulers need to issue all warp instructions.

    Divergence shows here: a warp whose lanes part issues both paths.

    Args:
        counts: what the launch did.
        spec: supplies `schedulers_per_sm`.

    Returns:
        Clocks of one SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import LaunchCounts, LineCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> work = LineCounts(here, 8, 256, 0, 0, 256, 0, 0, 0)
        >>> toy = find_gpu("toy")     # 8 warp instructions, 1 scheduler
        >>> issue_clocks(LaunchCounts((), (work,), 0), toy)
        8.0

    Limits: integer operations have no pipe of their own.
    Source: Ding and Williams, "Instruction Roofline Model" (2019).
    """
    # Simplified: a compiler moves index arithmetic out of loops and fuses multiply and
    # add; the statements of a Python kernel are issued one by one, up to 3 x too many.
    issued = counts.total("instructions") + counts.total("branches")
    return issued / spec.schedulers_per_sm


SM_PIPES: dict[str, Callable[[LaunchCounts, GpuSpec], float]] = {
    "l2": l2_clocks,
    "shared": shared_clocks,
    "fp32": fp32_clocks,
    "fp64": fp64_clocks,
    "special": special_clocks,
    "issue": issue_clocks,
}
