"""Barriers as a lane program sees them: it yields an `Arrival` and gets the result.

`release.py` judges arrivals, `schedule.py` decides who runs until it arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["Arrival", "arrive"]

CALLS = {
    "block": "syncthreads()",
    "count": "syncthreads_count()",
    "and": "syncthreads_and()",
    "or": "syncthreads_or()",
    "grid": "grid.sync()",
}


@dataclass(frozen=True, eq=False, slots=True)
class Arrival:
    """Lanes that have come to a barrier and wait.

    Args:
        mask: the lanes that came.
        site: where the barrier stands.
        path: the calls of device functions that led there.
        kind: `block`, `count`, `and`, `or`, or `grid`.
        predicate: each lane's argument of the kinds that have a result.
    """

    mask: Mask
    site: Site
    path: tuple[Any, ...]
    kind: str
    predicate: Any = None

    def is_at(self, other: Arrival) -> bool:
        """Tell whether both are the same barrier."""
        return self.site is other.site and self.path == other.path

    @property
    def call(self) -> str:
        """The barrier as the learner writes it."""
        return CALLS[self.kind]


def arrive(
    batch: Batch, mask: Mask, site: Site, kind: str, predicate: Any = None
) -> Arrival:
    """Let lanes come to a barrier; `yield` what is returned and get its result.

    Args:
        batch: the lanes.
        mask: those that came.
        site: where the barrier stands.
        kind: `block` (no result), `count`, `and`, `or` (int32 for each block: how many
            predicates are true, 1 if all are, 1 if any is), or `grid` (no result).
        predicate: lane value of any number type; non-zero is true.
    """
    if batch.recorder is not None:
        batch.recorder.arrive(batch, site, mask, kind)
    batch.changes += 1  # who runs before these lanes go on may change memory
    return Arrival(mask, site, batch.call_path, kind, predicate)
