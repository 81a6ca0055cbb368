"""What stands below the lines: sums over the kernel, and how to read the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.finding import many
from tinytorch_gpu.units import format_bytes, format_count, format_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.trace import LaunchCounts

__all__ = ["legend", "totals"]


def totals(counts: LaunchCounts) -> list[str]:
    """Return one line for each thing that the kernel has: memory, branches, barriers.

    Args:
        counts: counts of one launch.

    Example:
        >>> from tinytorch_gpu.trace import LaunchCounts
        >>> totals(LaunchCounts((), (), 8))
        ['barriers       8 warps arrived']
    """
    return [f"{name:<13}  {text}" for name, text in _totals(counts)]


def _totals(counts: LaunchCounts) -> Iterator[tuple[str, str]]:
    if counts.requests:
        yield "global memory", _global_memory(counts)
    if counts.shared_accesses:
        yield "shared memory", _shared_memory(counts)
    if counts.atomics:
        yield "atomics", _atomics(counts)
    branches = counts.total("branches")
    if branches:
        divergent = counts.total("divergent_branches")
        share = format_share(divergent, branches)
        text = (
            f"{format_count(branches)}, {format_count(divergent)} divergent ({share})"
        )
        yield "branches", text
    if counts.barriers:
        yield "barriers", f"{many(counts.barriers, 'warp', 'warps')} arrived"


def _global_memory(counts: LaunchCounts) -> str:
    used = sum(access.bytes_used for access in counts.global_accesses)
    moved = sum(access.bytes_moved for access in counts.global_accesses)
    return (
        f"{format_count(counts.requests)} requests, {format_count(counts.sectors)} "
        f"sectors ({counts.sectors_per_request:.1f} for each); {format_bytes(used)} "
        f"of {format_bytes(moved)} used ({format_share(used, moved)})"
    )


def _shared_memory(counts: LaunchCounts) -> str:
    shared = counts.shared_accesses
    requests = sum(access.requests for access in shared)
    passes = sum(access.wavefronts for access in shared)
    conflicts = sum(access.bank_conflicts for access in shared)
    return (
        f"{format_count(requests)} requests, {format_count(passes)} passes over the "
        f"banks ({passes / max(1, requests):.1f} for each); "
        f"{format_count(conflicts) if conflicts else 'no'} bank conflicts"
    )


def _atomics(counts: LaunchCounts) -> str:
    atomics = counts.atomics
    updates = sum(access.active_lanes for access in atomics)
    requests = sum(access.requests for access in atomics)
    turns = sum(access.serial_passes for access in atomics)
    hottest = max(access.hottest_address for access in atomics)
    return (
        f"{format_count(updates)} updates, {format_count(requests)} requests, "
        f"{format_count(turns)} turns ({turns / max(1, requests):.1f} for each); "
        f"{format_count(hottest)} at one address"
    )


def legend() -> list[str]:
    """Return lines: which figures are exact, what the least cost is, short titles."""
    return [
        (
            "Counts are exact, before caches. executed, requests: in warps; "
            "lanes: mean of 32; int …: in lanes."
        ),
        (
            "4.0 sectors of 32 bytes are the least for 32 lanes × 4 bytes; "
            "1.0 passes: no bank conflict."
        ),
        "spec: divisions, roots, exponentials and the like.",
    ]
