"""`MemoryChecker`: races and uninitialised reads, as racecheck and initcheck name them.

It hears each access while a launch runs, and looks up in the shadow of the memory who
touched the element before. Two accesses by different threads, one of them a plain
write, race if nothing puts them in order: see `order.py`, and `flags.py` for atomics
with fences. That the simulator ran them in some order does not count.

Source: NVIDIA Compute Sanitizer documentation, "Racecheck Tool" (hazards RAW, WAR and
WAW) and "Initcheck Tool". Races in global memory are looked for by no NVIDIA tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.sanitizer.comparison import Comparison
from tinytorch_gpu.sanitizer.event import Event
from tinytorch_gpu.sanitizer.flags import Flags
from tinytorch_gpu.sanitizer.hazards import Hazards
from tinytorch_gpu.sanitizer.lanes import Touched
from tinytorch_gpu.sanitizer.order import Order
from tinytorch_gpu.sanitizer.past import PastEvents
from tinytorch_gpu.sanitizer.touching import LaneFinder, Memories, all_lanes
from tinytorch_gpu.sanitizer.uninitialized import Uninitialized
from tinytorch_gpu.trace import Recorder

if TYPE_CHECKING:
    from tinytorch_gpu.sanitizer.finding import Finding
    from tinytorch_gpu.sanitizer.shadow import Shadow
    from tinytorch_gpu.trace import LaunchStart, Site
    from tinytorch_gpu.trace.recorder import ActiveMask, Lanes

__all__ = ["MemoryChecker"]


class MemoryChecker(Recorder):
    """Finds races and reads of what nothing has written.

    Args:
        memories: the shadows; they outlive launches.
    """

    wants_operations = False

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self._order = Order()
        self._lanes = LaneFinder()
        self._past = PastEvents()
        self._is_running = False

    def begin(self, launch: LaunchStart) -> None:
        """Begin a launch, or begin it again after it came to a standstill."""
        if self._is_running:
            self._memories.put_back(self._order.start)
        self._is_running = True
        self._memories.begin(launch)
        self._order.begin(launch)
        self._lanes.begin()
        self._flags = Flags(self._order)
        self._past.begin(launch)
        self._hazards = Hazards(launch, self._past)
        self._comparison = Comparison(
            self._order, self._flags, self._past, self._hazards
        )
        self._unwritten = Uninitialized(launch)

    def end(self, counts: Any, error: BaseException | None) -> None:
        """End the launch."""
        del counts
        self._is_running = False
        if error is not None:
            self._memories.put_back(self._order.start)
        self._order.end()
        self._lanes.begin()  # free the last lanes

    def findings(self) -> list[Finding]:
        """Return what was found in the last launch."""
        return [*self._hazards.findings(), *self._unwritten.findings()]

    def forget(self) -> None:
        """Let go of the launch's arrays, which may die now."""
        self._lanes.begin()
        self._memories.forget()
        del self._flags, self._hazards, self._comparison, self._unwritten

    @property
    def has_race(self) -> bool:
        """Whether there is a race graver than a note in the launch."""
        return self._hazards.has_race

    @property
    def has_unwritten(self) -> bool:
        """Whether the launch read what nothing had written."""
        return self._unwritten.is_any

    def trace_unwritten(self, found: Any) -> None:
        """Take in what came out otherwise with zeros in fresh memory.

        Args:
            found: differences (array, index, first, again, count), or the error that
                stopped the launch then.
        """
        self._unwritten.reach(found)

    # What puts accesses in order.

    def release(self, batch: Lanes, mask: ActiveMask, kind: str) -> None:
        """A barrier opens."""
        self._order.release(batch, mask, kind)

    def converge(
        self, batch: Lanes, site: Site, mask: ActiveMask, name: str, members: Any
    ) -> None:
        """`syncwarp` orders memory; shuffles and votes do not."""
        del site
        if name == "syncwarp":
            self._order.sync_warp(batch, mask, members)

    def fence(self, batch: Lanes, site: Site, mask: ActiveMask, name: str) -> None:
        """A fence, which atomics after it publish."""
        del site
        self._flags.fence(self._lanes.threads(batch)[mask.full()], name)

    # Accesses.

    def access(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        kind: str,
        array: Any,
        flat: Any,
        shift: Any = 0,
        value: Any = None,
        given: Any = None,
    ) -> None:
        """Look at one load, store or atomic."""
        del given
        if array.space == "constant" or not mask.count:
            return
        if array.space == "local":
            self._local(batch, site, mask, kind, array, flat + shift)
            return
        time = self._order.tick()
        self._past.enter(time, site, kind)
        shadow = self._memories.of(batch, array)
        is_loose = shadow.latest_write >= self._order.floor_of(batch, array.space)
        is_quiet = kind == "load" and not is_loose and not shadow.fresh
        base = self._lanes.find(batch, site, mask, array, flat, few=is_quiet)
        base = shadow.cells_of(base, array.itemsize)
        event = Event(site, kind, array, batch, mask, value, shadow.granule)
        ratio = array.itemsize // shadow.granule
        if kind == "load":
            self._load(event, shadow, base, shift * ratio, time)
            return
        touched = Touched(base.cells + shift * ratio, base.threads)
        if kind == "atomic":
            self._atomic(event, shadow, touched, time)
        else:
            self._store(event, shadow, touched, time)

    def _load(
        self, event: Event, shadow: Shadow, base: Touched, shift: Any, time: int
    ) -> None:
        is_loose = shadow.latest_write >= self._floor(event)
        if is_loose or shadow.fresh:
            touched = Touched(base.cells + shift, base.threads)
            self._look_for_fresh(event, shadow, touched)
            if is_loose:
                self._comparison.read(event, shadow, touched)
        shadow.read_later(base, shift, time)
        if shadow.is_crowded:
            shadow.enter_reads(self._order)

    def _store(self, event: Event, shadow: Shadow, touched: Touched, time: int) -> None:
        self._comparison.write(event, shadow, touched, self._floor(event))
        shadow.write(touched, time)
        self._comparison.meet(event, shadow, touched, time)

    def _atomic(
        self, event: Event, shadow: Shadow, touched: Touched, time: int
    ) -> None:
        self._look_for_fresh(event, shadow, touched)
        self._comparison.write(event, shadow, touched, self._floor(event))
        shadow.write(touched, time)
        shadow.keep_write(touched, time, self._order)
        self._flags.atomic(shadow, touched, time)

    def _floor(self, event: Event) -> int:
        return self._order.floor_of(event.batch, event.array.space)

    # What nothing has written.

    def _look_for_fresh(self, event: Event, shadow: Shadow, touched: Touched) -> None:
        if not shadow.fresh:
            return
        ratio = event.array.itemsize // event.granule  # cells of each lane
        is_fresh = shadow.is_fresh_at(touched.cells).reshape(-1, ratio).any(axis=1)
        fresh = np.flatnonzero(is_fresh) * ratio
        if len(fresh):
            elements = event.elements(touched.cells[fresh])
            self._unwritten.add(event, elements, touched.threads[fresh])

    def _local(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        kind: str,
        array: Any,
        flat: Any,
    ) -> None:
        fresh = self._memories.fresh_of(batch, array)
        cells = all_lanes(array.cells(flat), mask)
        if kind == "store":
            fresh[cells] = False
            return
        unwritten = np.flatnonzero(fresh[cells])
        if len(unwritten):
            event = Event(site, kind, array, batch, mask, None, array.itemsize)
            threads = all_lanes(self._lanes.threads(batch), mask)[unwritten]
            elements = all_lanes(flat, mask)[unwritten]
            self._unwritten.add(event, elements, threads)
