"""Warp operations: values pass between the 32 lanes of a warp, for all warps at once.

Lane values are laid out as (warps, 32). Each lane brings a *member mask*, whose bit i
names lane i. Lanes take part together: every live lane that the mask names must be
there, and with the same mask (`warp_members.py` checks it).

Source: CUDA C++ Programming Guide, "Warp Vote", "Warp Match" and "Warp Shuffle
Functions"; PTX ISA, `shfl.sync` (the lane offset counts modulo 32), `match.sync` (bit
patterns are compared).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import poison_value
from tinytorch_gpu.executor.arithmetic import truth
from tinytorch_gpu.executor.warp_members import (
    LANE_BITS,
    Members,
    alike,
    as_lane_bits,
    by_warp,
    take_part,
    unnamed_source,
)
from tinytorch_gpu.trace.places import WARP

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = [
    "active_lanes",
    "lower_lanes",
    "match_all",
    "match_any",
    "shuffle",
    "synchronize",
    "vote",
]

LANES = np.arange(WARP)


def synchronize(batch: Batch, mask: Mask, site: Site, members: Any) -> None:
    """Check that the lanes that the mask names have come (`syncwarp`).

    Raises:
        BarrierDivergenceError: a live lane that the mask names is not there.
        WarpMaskError: a lane's mask leaves itself out, or differs from the others'.
    """
    take_part(batch, mask, site, "syncwarp", members)


def shuffle(
    batch: Batch,
    mask: Mask,
    site: Site,
    name: str,
    members: Any,
    value: Any,
    which: Any,
) -> Any:
    """Return for each lane the value that another lane of its warp brings.

    Args:
        batch: the lanes.
        mask: the active ones.
        site: where it stands.
        name: `shfl_sync`, `shfl_up_sync`, `shfl_down_sync` or `shfl_xor_sync`.
        members: each lane's member mask, integer.
        value: what each lane brings.
        which: the source lane, the distance up or down, or what to xor the lane number
            with; integer, its lowest 5 bits count.

    Returns:
        (blocks, threads) of the value's dtype. A lane whose source lies beyond the warp
        keeps its own value. A source that takes no part gives poison: one that has
        returned or, up and down, that the mask does not name.

    Raises:
        BarrierDivergenceError: a live lane that the mask names is not there.
        WarpMaskError: `shfl_sync` or `shfl_xor_sync` reads a lane that the mask does
            not name; or as `synchronize`.
    """
    present = take_part(batch, mask, site, name, members)
    source = _source(name, which if np.ndim(which) == 0 else by_warp(batch, which))
    own = by_warp(batch, value)
    if source.ndim == 1:
        taken = own.take(source, axis=1)
    else:
        taken = np.take_along_axis(own, source, axis=1)
    if not present.is_everyone:
        is_edge = name in {"shfl_up_sync", "shfl_down_sync"}
        if not is_edge:
            unnamed_source(batch, present, source, site, name)
        taken = _without_absent(batch, present, source, own, taken, is_edge=is_edge)
    return taken.reshape(batch.shape)


def _source(name: str, which: Any) -> Any:
    """Return the lane that each lane reads, (32,) or (warps, 32)."""
    offset = np.asarray(which).astype(np.int64) % WARP
    if name == "shfl_xor_sync":
        return LANES ^ offset
    if name == "shfl_sync":
        return np.broadcast_to(offset, np.broadcast_shapes(offset.shape, (WARP,)))
    far = LANES - offset if name == "shfl_up_sync" else LANES + offset
    return np.where((far >= 0) & (far < WARP), far, LANES)


def _without_absent(
    batch: Batch, present: Members, source: Any, own: Any, taken: Any, *, is_edge: bool
) -> Any:
    """Replace what was read from lanes that take no part, which hardware leaves open.

    Up and down, programs read past the edge of their lanes and throw the result away:
    that gives poison, and no fault.
    """
    poison = np.asarray(poison_value(own.dtype), own.dtype)
    result = np.where(present.bits & LANE_BITS[source] != 0, taken, poison)
    if is_edge:
        # Simplified: a lane that only fills up a partial warp gives the reader's own
        # value, as if the warp ended there; hardware may give anything.
        exists = as_lane_bits(by_warp(batch, batch.entry.full()))[:, None]
        result = np.where(exists & LANE_BITS[source] != 0, result, own)
    return result


def vote(
    batch: Batch, mask: Mask, site: Site, name: str, members: Any, predicate: Any
) -> Any:
    """Return what the lanes of the mask say of a predicate.

    Args:
        batch: the lanes.
        mask: the active ones.
        site: where it stands.
        name: `ballot_sync` (the lanes where it is true), `all_sync`, `any_sync`, or
            `eq_sync` (the same everywhere).
        members: each lane's member mask, integer.
        predicate: each lane's, non-zero is true.

    Returns:
        (blocks, threads): int32 lane bits for `ballot_sync`, else bool.

    Raises:
        BarrierDivergenceError, WarpMaskError: as `synchronize`.
    """
    present = take_part(batch, mask, site, name, members)
    said = as_lane_bits(by_warp(batch, truth(predicate)))[:, None] & present.bits
    results = {
        "ballot_sync": lambda: said.view(np.int32),
        "all_sync": lambda: said == present.bits,
        "any_sync": lambda: said != 0,
        "eq_sync": lambda: (said == 0) | (said == present.bits),
    }
    return _spread(batch, results[name]())


def match_any(batch: Batch, mask: Mask, site: Site, members: Any, value: Any) -> Any:
    """Return the lanes of the mask that bring the same value: int32 lane bits.

    Raises:
        BarrierDivergenceError, WarpMaskError: as `synchronize`.
    """
    present = take_part(batch, mask, site, "match_any_sync", members)
    return _spread(batch, _same(batch, value, present).view(np.int32))


def match_all(batch: Batch, mask: Mask, site: Site, members: Any, value: Any) -> Any:
    """Return whether all lanes of the mask bring the same value, and which they are.

    Returns:
        int32 lane bits, 0 when the values differ; and bool.

    Raises:
        BarrierDivergenceError, WarpMaskError: as `synchronize`.
    """
    present = take_part(batch, mask, site, "match_all_sync", members)
    agree = _same(batch, value, present) == present.bits
    lanes = np.where(agree, present.bits, np.uint32(0)).view(np.int32)
    return _spread(batch, lanes), _spread(batch, agree)


def _same(batch: Batch, value: Any, present: Members) -> Any:
    """Return the lanes that bring the same value as each lane: uint32 (warps, 32)."""
    if value.dtype == np.uint64:  # numba converts these to float64, and so they round
        value = value.astype(np.float64)
    bits = np.ascontiguousarray(by_warp(batch, value))
    same: Any = alike(bits.view(f"u{bits.itemsize}")) & present.bits
    return same


def active_lanes(batch: Batch, mask: Mask) -> Any:
    """Return the lanes of each warp that run here: uint32 lane bits (`activemask`)."""
    return _spread(batch, as_lane_bits(by_warp(batch, mask.full()))[:, None])


def lower_lanes(batch: Batch) -> Any:
    """Return the lanes below each lane: uint32 lane bits, (1, threads)."""
    below = ((np.uint64(1) << LANES.astype(np.uint64)) - np.uint64(1)).astype(np.uint32)
    return np.tile(below, batch.shape[1] // WARP)[None]


def _spread(batch: Batch, result: Any) -> Any:
    """Return one result for each warp or lane as (blocks, threads)."""
    warps = batch.shape[0] * batch.shape[1] // WARP
    return np.broadcast_to(result, (warps, WARP)).reshape(batch.shape)
