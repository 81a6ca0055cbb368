"""The pipes of arithmetic, each one function: counts in, clocks of one SM out.

They are the clocks that one SM would need for all of the work; `model` divides by the
SMs that take part. Those of memory stand in `memory_pipes`.

A warp instruction takes a pipe for all lanes of a warp, however few of them are active.

Source: Williams, Waterman, Patterson, "Roofline" (2009); Ding and Williams,
"Instruction Roofline Model" (2019); NVIDIA data sheets through `GpuSpec`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import LaunchCounts

__all__ = [
    "SM_PIPES",
    "barrier_clocks",
    "fp32_clocks",
    "fp64_clocks",
    "issue_clocks",
    "issued_instructions",
    "special_clocks",
]

UNROLLED = 4  # how often compilers write a loop's body out; LLVM and nvcc


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
        >>> toy = find_gpu("toy")     # 256 operations ÷ 32 lanes
        >>> fp32_clocks(LaunchCounts((), (work,), 0), toy)
        8.0

    Limits: counts without `fp32_warps` are taken to be of full warps.
    Source: CUDA C++ Programming Guide, "Arithmetic Instructions", and "SIMT
    Architecture": a warp executes each path, lanes that are not on it are off. A
    product that is added or subtracted is one operation with that ("fused
    multiply-add").
    """
    # Simplified: the clock that a board sustains is told by one share for all kernels.
    lanes = spec.fp32_lanes_per_sm * spec.fp32_sustained
    return _lanes_taken(counts, "fp32", spec) / lanes


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
        >>> toy = find_gpu("toy")     # 256 operations ÷ 1 lane
        >>> fp64_clocks(LaunchCounts((), (work,), 0), toy)
        256.0

    Limits, Source: as for `fp32_clocks`.
    """
    return _lanes_taken(counts, "fp64", spec) / spec.fp64_lanes_per_sm


def special_clocks(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Clocks that one SM needs for roots, exponentials and divisions of floats.

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

    Limits: all special functions cost the same. Integer divisions are integer work.
    Source: CUDA C++ Programming Guide, "Arithmetic Instructions": 16 for each clock.
    """
    # Simplified: a division or a full-precision root is a sequence of 8 to 10
    # instructions on hardware; kernels of divisions may be up to 5 x too cheap.
    return _lanes_taken(counts, "special", spec) / spec.sfu_lanes_per_sm


def _lanes_taken(counts: LaunchCounts, what: str, spec: GpuSpec) -> int:
    """Lanes of a pipe that operations take, those of warps' inactive lanes too.

    Counts that were changed to do none of them take none, whatever their warps.
    """
    fused = 0 if what == "special" else counts.total(f"fused_{what}")
    active = counts.total(what) - fused
    warps = counts.total(f"{what}_warps")
    return max(active, spec.warp_size * warps) if active else 0


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

    Limits: integer operations have no pipe of their own; a division is as many as a
    compiler makes of it.
    Source: Ding and Williams, "Instruction Roofline Model" (2019).
    """
    return issued_instructions(counts) / spec.schedulers_per_sm


def issued_instructions(counts: LaunchCounts) -> float:
    """Estimate the warp instructions that a compiler makes of what was counted.

    - Local arrays are registers: their loads and stores are no instructions.
    - A product and the sum that takes it are one instruction.
    - Neighbouring loads from shared memory are one instruction (`AccessCounts.merged`).
    - A `for` loop's body is written out four times: a fourth of its branches is left.

    Args:
        counts: what the launch did.

    Returns:
        Warp instructions, branches among them.

    Example:
        >>> from tinytorch_gpu.trace import LaunchCounts, LineCounts, SourceLine
        >>> loop = SourceLine("sum", "sum.py", 3, "for i in range(n):")
        >>> body = SourceLine("sum", "sum.py", 4, "total += x[i] * y[i]")
        >>> lines = (LineCounts(loop, 0, 0, 16, 0, 0, 0, 0, 0),
        ...          LineCounts(body, 64, 2048, 0, 0, 1024, 0, 0, 0, 16, 16, 512))
        >>> issued_instructions(LaunchCounts((), lines, 0))     # 64 - 16 + 16 ÷ 4
        52.0

    Limits: index arithmetic is counted as it is written, though compilers move it out
    of loops: up to 2 x too many.
    Source: default unrolling of LLVM; "contract" in PTX `fma`.
    """
    in_registers = sum(a.requests for a in counts.accesses if a.space == "local")
    branches = sum(
        line.branches / (UNROLLED if line.line.text.startswith("for ") else 1)
        for line in counts.lines
    )
    merged = sum(a.merged for a in counts.accesses)
    issued = counts.total("instructions") - counts.total("fused_instructions")
    return max(0, issued - in_registers - merged) + branches


def barrier_clocks(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Clocks that one SM needs to take in the warps that arrive at barriers.

    The rate is the SM's, and all of its blocks share it. What one block waits for at
    its own barriers is a part of its latency (`latency.waiting`).

    Args:
        counts: what the launch did.
        spec: supplies `barrier_threads_per_clock`; 0 if barriers cost nothing.

    Returns:
        Clocks of one SM.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import LaunchCounts
        >>> barrier_clocks(LaunchCounts((), (), 8), find_gpu("v100"))  # 8 × 32 ÷ 16
        16.0

    Limits: a warp counts as 32 threads, however few of them are alive.
    Source: CUDA C++ Programming Guide, "Synchronization Instruction": throughput of
    `__syncthreads()`, 16 threads for each clock and SM on 7.x.
    """
    if not spec.barrier_threads_per_clock:
        return 0.0
    return counts.barriers * spec.warp_size / spec.barrier_threads_per_clock


SM_PIPES: dict[str, Callable[[LaunchCounts, GpuSpec], float]] = {
    "fp32": fp32_clocks,
    "fp64": fp64_clocks,
    "special": special_clocks,
    "issue": issue_clocks,
    "barrier": barrier_clocks,
}
