"""Which lanes take part in a warp operation, and the faults of wrong member masks.

A lane's member mask names the lanes that act together with it. Checked are the rules
that hardware leaves undefined: a lane names itself, the lanes it names come with the
same mask, and none of them that is still alive stays away. Lanes that have returned,
and those that only fill up a partial warp, are not waited for.

Source: CUDA C++ Programming Guide, "Warp Vote Functions" and "Independent Thread
Scheduling".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import BarrierDivergenceError, WarpMaskError
from tinytorch_gpu.executor.faults import block_name, place_facts
from tinytorch_gpu.trace.places import WARP

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = [
    "LANE_BITS",
    "Members",
    "alike",
    "as_lane_bits",
    "by_warp",
    "take_part",
    "unnamed_source",
]

EVERYONE = np.uint32(0xFFFFFFFF)
LANE_BITS = (np.uint64(1) << np.arange(WARP, dtype=np.uint64)).astype(np.uint32)
SHOWN = 4  # ranges of lanes that an error lists


@dataclass(frozen=True, eq=False)
class Members:
    """The lanes that take part in one warp operation of a batch.

    Args:
        active: bool (warps, 32), the lanes that have come.
        named: uint32, each lane's member mask; () or (warps, 32).
        bits: uint32 (warps, 1) or (warps, 32), the lanes that take part with each lane.
    """

    active: Any
    named: Any
    bits: Any

    @property
    def is_everyone(self) -> bool:
        """Every lane of every warp is there and named."""
        return bool(np.all(self.bits == EVERYONE))


def by_warp(batch: Batch, value: Any) -> Any:
    """Return lane values as (warps, 32)."""
    return np.broadcast_to(value, batch.shape).reshape(-1, WARP)


def as_lane_bits(lanes: Any) -> Any:
    """Pack bool (..., 32) into uint32 (...): bit i is lane i.

    Example:
        >>> lanes = np.zeros((2, 32), bool)
        >>> lanes[0, :3] = True
        >>> as_lane_bits(lanes)
        array([7, 0], dtype=uint32)
    """
    return np.packbits(lanes, axis=-1, bitorder="little").view("<u4")[..., 0]


def alike(values: Any) -> Any:
    """Return for each lane the lanes of its warp with an equal value.

    Args:
        values: (warps, 32), integer.

    Returns:
        uint32 lane bits, (warps, 32).
    """
    return as_lane_bits(values[:, :, None] == values[:, None, :])


def take_part(batch: Batch, mask: Mask, site: Site, name: str, members: Any) -> Members:
    """Count the operation, check the member masks, and return who takes part.

    Args:
        batch: the lanes.
        mask: the active ones.
        site: where it stands.
        name: numba's name of the operation.
        members: each lane's member mask, an integer of any type.

    Raises:
        BarrierDivergenceError: a live lane that a mask names is not there.
        WarpMaskError: a lane's mask leaves itself out, or differs from the others'.
    """
    active = by_warp(batch, mask.full())
    here = as_lane_bits(active)[:, None]
    if np.ndim(members) == 0:
        named: Any = np.asarray(members).astype(np.uint32)
        if named == EVERYONE and mask.count == batch.live.count:
            _tell(batch, mask, site, name, here)
            return Members(active, named, here)
    else:
        named = by_warp(batch, members).astype(np.uint32)
    found = Members(active, named, named & here)
    _check_masks(batch, found, here, site, name)
    _check_missing(batch, found, here, site, name)
    _tell(batch, mask, site, name, found.bits)
    return found


def _tell(batch: Batch, mask: Mask, site: Site, name: str, bits: Any) -> None:
    """Tell the recorder of the operation, and who takes part with each lane."""
    if batch.recorder is not None:
        batch.recorder.converge(batch, site, mask, name, bits)


def _check_masks(
    batch: Batch, found: Members, here: Any, site: Site, name: str
) -> None:
    """Refuse a mask without its own lane, and masks that differ.

    Raises:
        WarpMaskError: there is one.
    """
    outside = found.active & (found.named & LANE_BITS == 0)
    if outside.any():
        warp, lane = np.argwhere(outside)[0]
        given = np.broadcast_to(found.named, outside.shape)[warp, lane]
        raise WarpMaskError(
            f"{name}() called by lane {lane}, which is not in its mask {_hex(given)}",
            where=_place(batch, site, warp),
            why="a lane that calls it must be named in its own mask",
            fix=f"set bit {lane} of the mask for this lane, or guard the call with an "
            "`if`",
            **_facts(batch, site, "warp_mask", warp, outside),
        )
    if found.named.ndim == 0:
        return
    strangers = found.active & (found.named & here & ~alike(found.named) != 0)
    if strangers.any():
        warp, lane = np.argwhere(strangers)[0]
        given = sorted({int(m) for m in found.named[warp][found.active[warp]]})
        raise WarpMaskError(
            f"{name}() called with different masks by lanes that wait for each other",
            where=_place(batch, site, warp)
            + ": masks "
            + ", ".join(map(_hex, given[:SHOWN])),
            why="all lanes that a mask names must bring the same mask",
            fix="compute one mask for all of them, for example with cuda.ballot_sync",
            **_facts(batch, site, "warp_mask", warp, strangers),
        )


def _check_missing(
    batch: Batch, found: Members, here: Any, site: Site, name: str
) -> None:
    """Miss the live lanes that are named and not there.

    Raises:
        BarrierDivergenceError: there are some.
    """
    live = as_lane_bits(by_warp(batch, batch.live.full()))[:, None]
    missing = np.where(found.active, found.named & live & ~here, np.uint32(0))
    if not missing.any():
        return
    warp, lane = np.argwhere(missing)[0]
    absent, came = _lanes_of(missing[warp, lane]), _lanes_of(here[warp, 0])
    everywhere = np.bitwise_or.reduce(missing, axis=1)[:, None] & LANE_BITS != 0
    raise BarrierDivergenceError(
        f"{name}() reached without lanes {_ranges(absent)}, which its mask names",
        where=_place(batch, site, warp) + f"; there: lanes {_ranges(came)}",
        why="all live lanes that the mask names must call it together; "
        "hardware may hang here",
        fix="call it outside the `if` or loop, or name only the lanes that come: "
        f"{_hex(here[warp, 0])}",
        arrived=len(came),
        expected=len(came) + len(absent),
        lanes=tuple(absent),
        **_facts(batch, site, "divergent_warp", warp, everywhere),
    )


def unnamed_source(
    batch: Batch, present: Members, source: Any, site: Site, name: str
) -> None:
    """Refuse a shuffle that reads a lane outside its mask.

    Args:
        batch: the lanes.
        present: who takes part.
        source: the lane that each lane reads, (32,) or (warps, 32).
        site: where it stands.
        name: numba's name of the shuffle.

    Raises:
        WarpMaskError: an active lane reads such a lane.
    """
    if present.named.ndim == 0 and present.named == EVERYONE:
        return
    outside = present.active & (present.named & LANE_BITS[source] == 0)
    if not outside.any():
        return
    warp, lane = np.argwhere(outside)[0]
    given = np.broadcast_to(present.named, outside.shape)[warp, lane]
    read = np.broadcast_to(source, outside.shape)[warp, lane]
    raise WarpMaskError(
        f"{name}() reads lane {read}, which the mask {_hex(given)} does not name",
        where=_place(batch, site, warp) + f", lane {lane}",
        why="the value of a lane that is not in the mask is undefined",
        fix=f"add bit {read} to the mask, or read another lane",
        **_facts(batch, site, "warp_mask", warp, outside),
    )


def _facts(
    batch: Batch, site: Site, kind: str, warp: Any, lanes: Any
) -> dict[str, Any]:
    """Return the facts of an error: its kind, its place, and the lanes at fault.

    Args:
        batch: the lanes.
        site: where it stands.
        kind: what the sanitizer calls it.
        warp: the warp that the error names.
        lanes: bool (warps, 32), all lanes at fault.
    """
    row, first = _first_thread(batch, warp)
    threads = first + np.flatnonzero(lanes[warp])
    place = place_facts(batch, site.line, row, threads)
    return {"kind": kind, "lanes_at_fault": int(lanes.sum()), **place}


def _first_thread(batch: Batch, warp: Any) -> tuple[int, int]:
    """Return the block's row and the number of the warp's first thread in it."""
    per_block = batch.shape[1] // WARP
    return int(warp) // per_block, int(warp) % per_block * WARP


def _place(batch: Batch, site: Site, warp: Any) -> str:
    row, first = _first_thread(batch, warp)
    return f"{site.line}\n{block_name(batch, row)}, warp {first // WARP}"


def _lanes_of(bits: Any) -> list[int]:
    return [lane for lane in range(WARP) if int(bits) >> lane & 1]


def _hex(bits: Any) -> str:
    return f"0x{int(bits):08x}"


def _ranges(lanes: list[int]) -> str:
    """Tell ascending lane numbers as ranges.

    Example:
        >>> _ranges([0, 1, 2, 9, 30, 31])
        '0 to 2, 9, 30 to 31'
    """
    breaks = [i + 1 for i, (a, b) in enumerate(pairwise(lanes)) if b != a + 1]
    edges = pairwise([0, *breaks, len(lanes)])
    ranges = [(lanes[first], lanes[last - 1]) for first, last in edges]
    told = [f"{a} to {b}" if a < b else str(a) for a, b in ranges[:SHOWN]]
    return ", ".join(told + ["..."] * (len(ranges) > SHOWN))
