"""Open barriers: judge who has come, and compute what the barrier gives.

Threads that have returned are not waited for, as hardware does; threads that are
elsewhere in the kernel are missed, and the launch stops.

Source: CUDA C++ Programming Guide, "Synchronization Functions", "Cooperative Groups".
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.executor.arithmetic import truth
from tinytorch_gpu.executor.divergence import divergence, warn_of_returned

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tinytorch_gpu.executor.barrier import Arrival
    from tinytorch_gpu.executor.strand import Strand
    from tinytorch_gpu.trace import SourceLine

__all__ = ["release", "release_grid"]


def release(strands: Sequence[Strand], told: set[SourceLine]) -> Any:
    """Open the barrier that a block, or each of a batch of blocks, has come to.

    Args:
        strands: all strands of the blocks; some may be at their end.
        told: lines that a warning was issued for in this launch; grows.

    Returns:
        The barrier's result, int32 (blocks, 1); None where it has none.

    Raises:
        BarrierDivergenceError: live threads of a block did not come.
    """
    arrival = _first(strands)
    if not all(_is_whole(strand, arrival) for strand in strands):
        _check(strands, strands, arrival)
    if arrival.site.line not in told:
        warn_of_returned(strands, arrival, told)
    return None if arrival.predicate is None else _vote(strands, arrival.kind)


def release_grid(teams: Sequence[Sequence[Strand]]) -> None:
    """Open the grid barrier that each of the teams has come to.

    Args:
        teams: the strands of each block or batch of blocks; some may be at their end,
            which is as good as having come.

    Raises:
        BarrierDivergenceError: live threads are elsewhere in the kernel.
    """
    arrival = _first(teams[0])
    for strands in teams:
        waiting = [strand for strand in strands if strand.arrival is not None]
        if not all(_is_whole(strand, arrival) for strand in waiting):
            _check(strands, waiting, arrival)


def _first(strands: Iterable[Strand]) -> Arrival:
    return next(s.arrival for s in strands if s.arrival is not None)


def _is_whole(strand: Strand, arrival: Arrival) -> bool:
    """Tell whether all live lanes of the strand are at this barrier."""
    if strand.arrival is None:
        return not strand.batch.live.count
    is_here = strand.arrival.is_at(arrival)
    return is_here and strand.arrival.mask.count == strand.batch.live.count


def _check(
    strands: Sequence[Strand], awaited: Sequence[Strand], arrival: Arrival
) -> None:
    """Raise unless each block has come whole or, at a block's barrier, not at all."""
    came = _lanes(strands, arrival)
    live = reduce(np.logical_or, (strand.batch.live.full() for strand in awaited))
    missing = live & ~came
    if arrival.kind != "grid":
        missing &= came.any(axis=1, keepdims=True)
    if missing.any():
        raise divergence(strands, came, live, missing, arrival)


def _lanes(strands: Sequence[Strand], arrival: Arrival) -> Any:
    """Return the lanes that are at this barrier, bool (blocks, threads)."""
    came = np.zeros(strands[0].batch.shape, np.bool_)
    for strand in strands:
        if strand.arrival is not None and strand.arrival.is_at(arrival):
            came |= strand.arrival.mask.full()
    return came


def _vote(strands: Sequence[Strand], kind: str) -> Any:
    """Return how many predicates are true in each block, or whether all or any are."""
    shape = strands[0].batch.shape
    votes, voters = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for strand in strands:
        if strand.arrival is not None:
            lanes = strand.arrival.mask.full()
            votes |= lanes & truth(strand.arrival.predicate)
            voters |= lanes
    number = votes.sum(axis=1, keepdims=True)
    if kind == "and":
        number = number == voters.sum(axis=1, keepdims=True)
    elif kind == "or":
        number = number > 0
    return number.astype(np.int32)
