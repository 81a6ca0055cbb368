"""The worst lines of a kernel: what is wrong there, and what to change.

Four things are looked for: accesses that are not coalesced, bank conflicts, atomics
that meet at one address, and branches at which warps diverge. Each is measured by what
it costs beyond the least, so that a line that hardly runs is never named.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tinytorch_gpu.units import format_count, format_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tinytorch_gpu.trace import AccessCounts, LaunchCounts, LineCounts, SourceLine

__all__ = ["Flag", "worst_lines"]

_MOST = 3
# A sentence is for what costs half as much again as the least, and at least an eighth
# of all that the kernel has of its kind.
_EXCESS = 0.5
_SHARE = 0.125
_SECTOR_BYTES = _LANES = 32


@dataclass(frozen=True, slots=True)
class Flag:
    """One place that costs more than it needs to.

    Args:
        line: the line.
        accesses: those at fault, of one array, the worst first; none for a branch.
        waste: sectors, passes, turns or divergent branches beyond the least.
        text: what is wrong, and what to change.
    """

    line: SourceLine
    accesses: tuple[AccessCounts, ...]
    waste: int
    text: str


def worst_lines(counts: LaunchCounts) -> tuple[Flag, ...]:
    """Return the places that waste most, the worst first, three at most.

    Args:
        counts: counts of one launch.

    Returns:
        One for each line and array, which tells of the access that wastes most.

    Example:
        >>> from tinytorch_gpu.trace import LaunchCounts
        >>> worst_lines(LaunchCounts((), (), 0))
        ()
    """
    found = [*_scattered(counts), *_conflicts(counts)]
    found += [*_contended(counts), *_divergent(counts)]
    found.sort(key=lambda flag: -flag.waste)
    by_array: dict[tuple[SourceLine, str], list[Flag]] = defaultdict(list)
    for flag in found:
        array = flag.accesses[0].array if flag.accesses else ""
        by_array[flag.line, array].append(flag)
    return tuple(_merged(flags) for flags in by_array.values())[:_MOST]


def _merged(flags: Sequence[Flag]) -> Flag:
    """The first, with the accesses of all."""
    accesses = tuple(access for flag in flags for access in flag.accesses)
    return replace(flags[0], accesses=accesses)


def _is_worth_telling(waste: int, least: int, whole: int) -> bool:
    return waste > _EXCESS * least and waste > _SHARE * whole


def _scattered(counts: LaunchCounts) -> Iterator[Flag]:
    """Loads and stores that move more sectors than lanes side by side would."""
    for access in counts.global_accesses:
        itemsize = access.bytes_requested // max(1, access.active_lanes)
        least = access.requests * (itemsize * _LANES // _SECTOR_BYTES)
        waste = access.sectors - least
        if access.kind != "atomic" and _is_worth_telling(waste, least, counts.sectors):
            used = format_share(access.bytes_used, access.bytes_moved)
            yield _flag(
                access,
                waste,
                f"uses {used} of the bytes that it moves: let neighbouring lanes take "
                "neighbouring elements",
            )


def _conflicts(counts: LaunchCounts) -> Iterator[Flag]:
    """Loads and stores of shared memory that take more passes than they need."""
    whole = sum(access.wavefronts for access in counts.shared_accesses)
    for access in counts.shared_accesses:
        waste, least = access.bank_conflicts, access.ideal_wavefronts
        if access.kind != "atomic" and _is_worth_telling(waste, least, whole):
            passes = access.wavefronts / access.requests
            yield _flag(
                access,
                waste,
                f"takes {passes:.1f} passes per request, {least / access.requests:.1f} "
                "would do: let neighbouring lanes take neighbouring elements, or pad "
                "its rows by one",
            )


def _contended(counts: LaunchCounts) -> Iterator[Flag]:
    """Atomics of one warp that wait for each other."""
    whole = sum(access.serial_passes for access in counts.atomics)
    for access in counts.atomics:
        waste = access.serial_passes - access.requests
        if _is_worth_telling(waste, access.requests, whole):
            meet = access.serial_passes / access.requests
            yield _flag(
                access,
                waste,
                f"makes {meet:.1f} lanes of a warp take turns at one address: combine "
                "within the warp or block first",
            )


def _divergent(counts: LaunchCounts) -> Iterator[Flag]:
    """Branches at which lanes of one warp part."""
    whole = counts.total("branches")
    for line in counts.lines:
        if line.divergent_branches > _SHARE * whole:
            yield Flag(line.line, (), line.divergent_branches, _parted(line))


def _parted(line: LineCounts) -> str:
    divergent = format_count(line.divergent_branches)
    return (
        f"{divergent} of {format_count(line.branches)} branches diverge, and then a "
        "warp runs both sides: let whole warps take the same side"
    )


def _flag(access: AccessCounts, waste: int, text: str) -> Flag:
    whole = f"the {access.kind} of `{access.array}` {text}"
    return Flag(access.line, (access,), waste, whole)
