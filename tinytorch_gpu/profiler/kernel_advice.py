"""The verdict's sentences when kernels dominate: the worst kernel, its bound, a cure.

Comes in: a `Case`. Goes out: two sentences. `ADVICE` holds one function
for each bound that the cost model tells.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.bill import bill_of
from tinytorch_gpu.profiler.case import at_hosts_pace, grouped
from tinytorch_gpu.profiler.cause import below_well
from tinytorch_gpu.profiler.finding import many
from tinytorch_gpu.sanitizer.float64 import float64_lines, float64_text
from tinytorch_gpu.units import format_count, format_ns, format_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinytorch_gpu.profiler.case import Case
    from tinytorch_gpu.trace import AccessCounts, LaunchCounts, LaunchRecord

__all__ = ["ADVICE", "bytes_used", "unused_bytes", "worst_kernel_sentences"]


def worst_kernel_sentences(case: Case) -> tuple[str, str]:
    """Tell which kernel takes longest and what binds it; then what to change in it.

    Args:
        case: the records; kernels dominate.

    Returns:
        Two sentences. Both shares are of the whole modelled time.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.profiler.bill import Bill
        >>> from tinytorch_gpu.profiler.case import Case
        >>> case = Case((), Bill(kernel_ns=5.0), 5.0, find_gpu("toy"))
        >>> worst_kernel_sentences(case)[1]
        'Use views instead of copies where the layout allows it.'
    """
    slow = {i: r for i, r in case.numbered_launches.items() if not at_hosts_pace(r)}
    if not slow:
        first = f"Kernel-bound: copies within the device take {case.share}."
        return first, "Use views instead of copies where the layout allows it."
    by_kernel = grouped(slow, lambda launch: launch.kernel)
    same = list(max(by_kernel, key=lambda group: _spent_ns(group.values())).values())
    longest = max(same, key=lambda launch: launch.duration_ns)
    spent = _spent_ns(same)
    first = (
        f"Kernel-bound: kernels take {case.share}, {longest.kernel} alone "
        f"{format_share(spent, case.bill.total_ns)}: {format_ns(spent)} in "
        f"{many(len(same), 'launch', 'launches')}, "
        f"bound: {longest.bound}{_measure(longest)}."
    )
    return first, ADVICE[longest.bound](longest)


def _spent_ns(launches: Iterable[LaunchRecord]) -> float:
    """The part of the bill that these kernels make."""
    return sum(bill_of(launch).kernel_ns for launch in launches)


def _measure(launch: LaunchRecord) -> str:
    """The number that belongs to a memory bound."""
    if launch.bound != "memory" or launch.counts is None:
        return ""
    return f", {launch.counts.sectors_per_request:.1f} sectors per request"


def _memory(launch: LaunchRecord) -> str:
    worst = _worst_access(launch.counts)
    share = below_well(bytes_used(worst), worst.bytes_moved) if worst else None
    if worst is None or share is None:
        return (
            "Its accesses are coalesced, so move fewer bytes: fuse it with its "
            "neighbours, or reuse data through a shared-memory tile."
        )
    used = format_share(share, 1.0)
    return (
        f"Let neighbouring lanes touch neighbouring elements: the {worst.kind} of "
        f"`{worst.array}` (line {worst.line.line}) moves "
        f"{worst.sectors_per_request:.1f} sectors per request and uses {used} of them."
    )


def _worst_access(counts: LaunchCounts | None) -> AccessCounts | None:
    """The global access that moves most bytes that no lane uses."""
    return max(counts.global_accesses if counts else (), key=unused_bytes, default=None)


def unused_bytes(access: AccessCounts) -> int:
    """Return the bytes that an access of global memory moves and no lane asks for."""
    return access.bytes_moved - bytes_used(access)


def bytes_used(access: AccessCounts) -> int:
    """Return how many of the bytes that an access moves are asked for by a lane.

    Args:
        access: an access of global memory.

    Returns:
        Bytes; what several lanes share counts as often, but never more than moves.
    """
    return min(access.bytes_requested, access.bytes_moved)


def _shared_memory(launch: LaunchRecord) -> str:
    shared = launch.counts.shared_accesses if launch.counts else ()
    worst = max(shared, key=lambda access: access.wavefronts_per_request, default=None)
    if worst is None or worst.wavefronts_per_request < 2:
        return "It has hardly a bank conflict: keep more values in registers."
    return (
        f"Pad the shared array by one column: the {worst.kind} of `{worst.array}` "
        f"(line {worst.line.line}) takes {worst.wavefronts_per_request:.1f} passes "
        "over the banks for each request, where 1 is the minimum of 4-byte elements."
    )


def _compute(launch: LaunchRecord) -> str:
    counts = launch.counts
    lines = float64_lines(counts) if counts else ()
    if lines:
        worst = max(lines, key=lambda line: line.fp64)
        return (
            f"Line {worst.line.line} does {float64_text(worst.fp64)}: write its "
            "constants as float32(0.0)."
        )
    if counts is not None and counts.total("fp64") > counts.total("fp32"):
        return (
            f"It does {format_count(counts.total('fp64'))} float64 operations, which "
            "cost more than float32 ones: keep values and constants in float32."
        )
    return (
        "It does much arithmetic for each byte: do less of it, or choose a larger GPU."
    )


def _issue(launch: LaunchRecord) -> str:
    counts = launch.counts
    branches = counts.total("branches") if counts else 0
    divergent = counts.total("divergent_branches") if counts else 0
    if branches and 10 * divergent > branches:
        return (
            f"{format_share(divergent, branches)} of its branches diverge, and then a "
            "warp issues both paths: branch by whole warps, or select without a branch."
        )
    return (
        "It issues many instructions for each byte: move index arithmetic out of loops."
    )


def _atomics(launch: LaunchRecord) -> str:
    accesses = launch.counts.accesses if launch.counts else ()
    hottest = max((access.hottest_address for access in accesses), default=0)
    return (
        f"Up to {format_count(hottest)} atomic operations meet at one address, one "
        "after another: add within a warp or block first, then once for all."
    )


def _latency(launch: LaunchRecord) -> str:
    blocks = many(math.prod(launch.grid), "block", "blocks")
    return (
        "Its warps wait for memory and too few others have work: it has "
        f"{blocks}, which fill an SM to "
        f"{format_share(launch.theoretical_occupancy, 1)}. Launch more threads, or let "
        "each load several independent elements."
    )


def _floor(launch: LaunchRecord) -> str:
    return (
        "Each of these kernels is as short as a kernel can be, "
        f"{format_ns(launch.duration_ns)} at the longest: make fewer, larger launches, "
        "by larger batches or fused element-wise ops."
    )


def _not_counted(launch: LaunchRecord) -> str:  # noqa: ARG001  (all have one form)
    return (
        "Switch counters on to learn what binds it: settings.override(counters=True)."
    )


ADVICE: dict[str, Callable[[LaunchRecord], str]] = {
    "memory": _memory,
    "shared memory": _shared_memory,
    "compute": _compute,
    "issue": _issue,
    "atomics": _atomics,
    "latency": _latency,
    "floor": _floor,
    "not counted": _not_counted,
}
