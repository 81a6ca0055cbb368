"""Counts of memory as they would be with lanes side by side, and with none of them off.

Comes in: the counts of a launch. Goes out: the counts with fewer sectors or requests,
of which the cost model makes the time without a cause.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.cause import WELL, below_well
from tinytorch_gpu.profiler.line_text import loads_of_an_element

if TYPE_CHECKING:
    from tinytorch_gpu.trace import AccessCounts, LaunchCounts, Reuse

    Changed = list[tuple[AccessCounts, AccessCounts]]  # before, after

__all__ = [
    "fewest_sectors",
    "in_whole_warps",
    "share_needed",
    "side_by_side",
    "wasted_sectors",
]

SECTOR_BYTES, LINE_BYTES = 32, 128


def fewest_sectors(access: AccessCounts) -> int:
    """Return how many sectors would do if what an access uses lay side by side.

    Args:
        access: an access of global memory.

    Returns:
        One for each request, and enough for the distinct bytes that the lanes want;
        where many lanes are off, for what a whole warp would want.
    """
    lanes, whole = access.active_lanes, 32 * access.requests
    is_whole = not lanes or lanes >= WELL * whole
    nbytes = access.bytes_used * (1 if is_whole else whole / lanes)
    enough = max(access.requests, -(-round(nbytes) // SECTOR_BYTES))
    return min(access.sectors, enough)


def wasted_sectors(access: AccessCounts) -> int:
    """Return the sectors that an access of global memory moves beyond the fewest."""
    return access.sectors - fewest_sectors(access)


def share_needed(*accesses: AccessCounts) -> float | None:
    """Return fewest ÷ moved sectors where that is far from 1, else None."""
    needed = sum(map(fewest_sectors, accesses))
    return below_well(needed, sum(access.sectors for access in accesses))


def side_by_side(counts: LaunchCounts) -> LaunchCounts:
    """Return the counts with as few sectors as would do, at each level of memory.

    Args:
        counts: what a launch did.
    """
    packed = [_packed(a) if a.space == "global" else a for a in counts.accesses]
    return _with(counts, packed)


def in_whole_warps(counts: LaunchCounts) -> LaunchCounts:
    """Return the counts if the lanes that take part filled whole warps.

    Args:
        counts: what a launch did; atomics stay as they are.
    """
    whole = [a if a.kind == "atomic" else _whole(a) for a in counts.accesses]
    return _with(counts, whole)


def _with(counts: LaunchCounts, changed: list[AccessCounts]) -> LaunchCounts:
    pairs = zip(counts.accesses, changed, strict=True)
    of_global = [(a, c) for a, c in pairs if a.space == "global"]
    return replace(
        counts,
        accesses=tuple(changed),
        reuse=tuple(_shrunk(r, of_global) for r in counts.reuse),
    )


def _packed(access: AccessCounts) -> AccessCounts:
    lines = max(access.requests, -(-access.bytes_used // LINE_BYTES))
    return replace(
        access,
        sectors=fewest_sectors(access),
        wavefronts=min(access.wavefronts, lines),
        tags=min(access.tags, lines),
    )


def _whole(access: AccessCounts) -> AccessCounts:
    """An access whose active lanes fill warps: fewer requests for the same lanes.

    Lanes that lie no farther apart than their numbers then lie side by side; scattered
    ones want as many sectors as before.
    """
    requests = -(-access.active_lanes // 32)
    if not requests or requests >= access.requests:
        return access
    left = requests / access.requests
    names = ("ideal_wavefronts", "serial_passes", "merged", "merged_wavefronts")
    fewer = {name: round(left * getattr(access, name)) for name in names}
    sectors, passes, tags = access.sectors, access.wavefronts, access.tags
    if access.space != "global":
        passes = round(left * passes)
    elif sectors * access.active_lanes <= access.bytes_requested * access.requests:
        sectors = max(requests, -(-access.bytes_used // SECTOR_BYTES))
        passes = tags = max(requests, -(-access.bytes_used // LINE_BYTES))
    whole = replace(access, requests=requests, sectors=sectors, wavefronts=passes)
    return replace(whole, tags=tags, **fewer)


def _shrunk(reuse: Reuse, changed: Changed) -> Reuse:
    """What comes again of an array, once its accesses want fewer sectors.

    A sector that several loads of one element want is different only once; a request
    gets to the next level as often as its sectors are new there.
    """
    of_kind = [(a, c) for a, c in changed if a.kind == reuse.kind]
    same = [(a, c) for a, c in of_kind if a.array == reuse.array] or of_kind
    if all(a == c for a, c in same):
        return reuse
    scale = reuse.sectors / max(1, sum(a.sectors for a, _ in same))
    sectors = round(scale * sum(c.sectors for _, c in same))
    different = scale * sum(c.sectors / _wanted(c) for _, c in same)
    asked = sum(c.requests for _, c in same) / sum(a.requests for a, _ in same)
    requests = round(asked * reuse.requests)
    block = min(reuse.block_sectors, round(different))
    together = min(reuse.together_sectors, round(different))
    return replace(
        reuse,
        sectors=sectors,
        block_sectors=block,
        together_sectors=together,
        requests=requests,
        block_requests=min(requests, round(requests * block / max(1.0, different))),
        together_requests=min(
            requests, round(requests * together / max(1.0, different))
        ),
    )


def _wanted(access: AccessCounts) -> float:
    """How many loads of its line want the element that an access loads."""
    if access.kind != "load":
        return 1.0
    return loads_of_an_element(access.line.text, access.array)
