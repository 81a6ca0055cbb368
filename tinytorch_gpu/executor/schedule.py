"""The order of warps and blocks: who runs until it comes to a barrier, and who next.

`lockstep` runs all lanes of many blocks as one strand. The other orders run block after
block, each warp as a strand of its own: between two barriers a warp sees nothing of
what later warps write, so that a missing barrier shows in the results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.executor.release import release, release_grid
from tinytorch_gpu.trace.places import WARP

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.strand import Strand
    from tinytorch_gpu.settings import Settings
    from tinytorch_gpu.trace import SourceLine

__all__ = ["Order", "run_teams", "warps_of"]


class Order:
    """An order of things that run one after another, as `Settings.schedule` names it.

    `random` draws the orders of `shuffled`; it is None for the others.

    Example:
        >>> from tinytorch_gpu.settings import Settings
        >>> Order(Settings(schedule="reversed")).of([0, 1, 2, 3])
        [3, 2, 1, 0]
    """

    def __init__(self, settings: Settings) -> None:
        self.is_lockstep = settings.schedule == "lockstep"
        self._is_reversed = settings.schedule == "reversed"
        self.random: np.random.Generator | None = None
        if settings.schedule == "shuffled":
            self.random = np.random.default_rng(settings.schedule_seed)

    def of(self, things: Sequence[Any]) -> Sequence[Any]:
        """Return them in order; `shuffled` draws anew each time."""
        if self.random is not None:
            return [things[i] for i in self.random.permutation(len(things))]
        return things[::-1] if self._is_reversed else things


def warps_of(batch: Batch) -> list[Batch]:
    """Return a batch for each warp of a block; shared memory is the block's."""
    warp = np.arange(batch.shape[1])[None] // WARP
    return [batch.part(warp == number) for number in range(batch.shape[1] // WARP)]


def run_teams(teams: Iterable[list[Strand]], order: Order) -> None:
    """Run blocks to their end.

    Args:
        teams: the strands of each block, or the one strand of a batch of blocks, in
            the order in which blocks start. They are made one by one, and only those
            that wait at a grid barrier are kept.
        order: how the strands of a team, and waiting teams, take turns.

    Raises:
        BarrierDivergenceError: live threads did not come to a barrier.
    """
    told: set[SourceLine] = set()
    waiting = [team for team in teams if _waits_for_grid(team, order, told)]
    while waiting:
        release_grid(waiting)
        for team in waiting:
            _tell(team)
        ready = order.of(waiting)
        waiting = [team for team in ready if _waits_for_grid(team, order, told)]


def _waits_for_grid(team: list[Strand], order: Order, told: set[SourceLine]) -> bool:
    """Run a team to its next grid barrier (true), or to its end (false)."""
    result, ready = None, team
    if any(strand.arrival for strand in team):  # it comes from a grid barrier
        ready = [strand for strand in team if strand.arrival]
    while True:
        for strand in order.of(ready):
            strand.advance(result)
        ready = [strand for strand in team if strand.arrival]
        if not ready:
            return False
        if all(s.arrival.kind == "grid" for s in ready if s.arrival):
            return True
        result = release(team, told)
        _tell(ready)


def _tell(strands: Iterable[Strand]) -> None:
    """Tell the recorder who goes on."""
    for strand in strands:
        recorder, arrival = strand.batch.recorder, strand.arrival
        if recorder is not None and arrival is not None:
            recorder.release(strand.batch, arrival.mask, arrival.kind)
