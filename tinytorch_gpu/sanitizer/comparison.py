"""`Comparison`: one access against the earlier ones that its elements remember.

Two accesses by different threads, one of them a plain write, race if neither a barrier
nor a flag puts them in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.sanitizer.lanes import Touched
from tinytorch_gpu.sanitizer.shadow import NOBODY, Earlier

if TYPE_CHECKING:
    from tinytorch_gpu.sanitizer.event import Event
    from tinytorch_gpu.sanitizer.flags import Flags
    from tinytorch_gpu.sanitizer.hazards import Hazards
    from tinytorch_gpu.sanitizer.order import Order
    from tinytorch_gpu.sanitizer.past import PastEvents
    from tinytorch_gpu.sanitizer.shadow import Shadow

__all__ = ["Comparison"]


class Comparison:
    """Compares the accesses of one launch with earlier ones.

    Args:
        order: tells what barriers put in order.
        flags: tells what atomics and fences put in order.
        past: what was at each time.
        hazards: gets the races.
    """

    # Simplified: of stores of the same value two are kept beside the last one. Stores
    # of other values that lost a race are forgotten; that race is told.

    def __init__(
        self, order: Order, flags: Flags, past: PastEvents, hazards: Hazards
    ) -> None:
        self._order = order
        self._flags = flags
        self._past = past
        self._hazards = hazards

    def read(self, event: Event, shadow: Shadow, touched: Touched) -> None:
        """Compare a load with the last writes of its elements.

        Args:
            event: the load.
            shadow: of the memory.
            touched: the lanes.
        """
        last = shadow.writes(touched.cells)
        atomics = self._kept(shadow, touched, "atomic")
        self._compare(event, touched, (last, *atomics))

    def write(self, event: Event, shadow: Shadow, touched: Touched, floor: int) -> None:
        """Compare a store or atomic with earlier accesses, before it is entered.

        Args:
            event: the store or atomic.
            shadow: of the memory.
            touched: the lanes.
            floor: time before which all is in order with it.
        """
        if shadow.latest_read < floor:
            shadow.drop_reads()
        else:
            shadow.enter_reads(self._order)
            self._compare(event, touched, self._kept(shadow, touched, "load"))
        if shadow.latest_write >= floor:
            self._compare_writes(event, shadow, touched)

    def meet(self, event: Event, shadow: Shadow, touched: Touched, time: int) -> None:
        """Look for lanes of a store that meet at an element, after it is entered.

        Args:
            event: the store.
            shadow: of the memory.
            touched: the lanes.
            time: when.
        """
        last = shadow.writes(touched.cells).threads
        beaten = np.flatnonzero(last != touched.threads)
        if len(beaten):
            differs = self._hazards.collide(event, touched, beaten, last[beaten])
            shadow.keep_write(touched.at(beaten[~differs]), time, self._order)

    def _compare_writes(self, event: Event, shadow: Shadow, touched: Touched) -> None:
        last = shadow.writes(touched.cells)
        atomics = self._kept(shadow, touched, "atomic")
        lanes = self._compare(event, touched, (last, *atomics))
        lost = self._kept(shadow, touched, "store")
        changes = np.full(len(touched.cells), event.kind == "atomic")
        races = changes
        if event.kind == "store" and (lost or len(lanes)):
            changes = event.changes(touched.threads, touched.cells)
            # A lost value is what is there now, unless an atomic has changed it since.
            races = changes & ~self._past.are(last.times, "atomic")
        if lost:
            self._compare(event, touched, tuple(_only(one, races) for one in lost))
            shadow.forget_reads(touched.cells[changes], self._are_stores)
        self._keep_lost(
            event, shadow, touched.at(lanes), last.at(lanes), changes[lanes]
        )

    def _keep_lost(
        self,
        event: Event,
        shadow: Shadow,
        touched: Touched,
        last: Earlier,
        changes: Any,
    ) -> None:
        """Keep stores that are followed by one of the same value, or by an atomic."""
        is_lost = self._are_stores(last.times)
        if event.kind == "store":
            is_lost &= ~changes
        was = Touched(touched.cells, last.threads).at(is_lost)
        shadow.keep_lost(was, last.times[is_lost], self._order)

    def _are_stores(self, times: Any) -> Any:
        return self._past.are(times, "store")

    def _kept(self, shadow: Shadow, touched: Touched, kind: str) -> tuple[Earlier, ...]:
        """Return what of a kind is kept among the reads."""
        reads = shadow.reads(touched.cells)
        if not shadow.has_writes:
            return reads if kind == "load" else ()
        return tuple(_only(read, self._past.are(read.times, kind)) for read in reads)

    def _compare(
        self, event: Event, touched: Touched, earlier: tuple[Earlier, ...]
    ) -> Any:
        """Note the lanes that race with some earlier accesses, each with the farthest.

        Returns:
            The lanes, int (n,).
        """
        times = threads = np.full(len(touched.cells), NOBODY)
        for one in earlier:
            loose = self._order.unordered(*one, touched.threads)
            if event.kind == "atomic" and loose.any():
                loose &= ~self._past.are(one.times, "atomic")
            if loose.any():
                self._ask_flags(one, touched.threads, loose)
                apart, now = self._order.apart, touched.threads
                loose &= apart(one.threads, now) > apart(threads, now)
                times = np.where(loose, one.times, times)
                threads = np.where(loose, one.threads, threads)
        lanes = np.flatnonzero(threads != NOBODY)
        if len(lanes):
            self._hazards.race(event, touched, lanes, times[lanes], threads[lanes])
        return lanes

    def _ask_flags(self, earlier: Earlier, threads: Any, loose: Any) -> None:
        """Take out of the loose lanes those that a flag puts in order."""
        lanes = np.flatnonzero(loose)
        told = earlier.times[lanes], earlier.threads[lanes], threads[lanes]
        loose[lanes] = ~self._flags.orders(*told)


def _only(earlier: Earlier, lanes: Any) -> Earlier:
    """Keep the accesses of some lanes, bool (n,)."""
    return Earlier(earlier.times, np.where(lanes, earlier.threads, NOBODY))
