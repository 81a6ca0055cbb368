"""Totals of the memory accesses of a launch, and what tells them apart.

Addresses are reduced to counts at once. Which rule does that is handed in
(`CountRules`), since the rule belongs to the modelled GPU. Lanes that come again in a
loop with all addresses shifted alike cost the same, so few iterations are looked at.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.trace.counts import AccessCounts
from tinytorch_gpu.trace.places import WARP
from tinytorch_gpu.trace.touched import Asked, Walk

if TYPE_CHECKING:
    from tinytorch_gpu.trace.recorder import ActiveMask, Lanes, RecordedArray
    from tinytorch_gpu.trace.source import Site
    from tinytorch_gpu.trace.touched import Touched

__all__ = ["AccessCost", "AccessTotals", "CountRules", "CountedRequests"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


class AccessCost(NamedTuple):
    """What some requests cost; the names are those of `AccessCounts`."""

    sectors: int = 0
    wavefronts: int = 0
    ideal_wavefronts: int = 0
    bytes_used: int = 0
    transactions: int = 0
    serial_passes: int = 0
    tags: int = 0

    def times(self, count: int) -> AccessCost:
        """Return the cost of as many equal requests."""
        return AccessCost(*(count * part for part in self))


class CountedRequests(Protocol):
    """Warp-wide requests of one access that the rules of a GPU have looked at."""

    def cost(self, shift: int) -> AccessCost:
        """Sum what they cost, with all addresses moved by so many bytes."""
        ...

    def shifts(self) -> tuple[int, list[int]]:
        """Tell the shifts, in bytes, that may change what they cost.

        They repeat with the period returned first; between two of those returned
        second the cost is the same, and so it is before the first and after the last.
        """
        ...


class CountRules(Protocol):
    """The rules of one GPU that turn addresses into counts."""

    def requests(
        self, array: RecordedArray, kind: str, addresses: IntArray, active: BoolArray
    ) -> CountedRequests:
        """Look at requests; addresses, in bytes, and active are (requests, 32)."""
        ...

    def parts(self, array: RecordedArray) -> int:
        """Tell in how many parts a warp's request to the array is served."""
        ...

    def unit(self, kind: str) -> int:
        """Tell the bytes of global memory that move together: 32 or 128."""
        ...


class AccessTotals:
    """The counts of one access in the source to one array, as they grow.

    Args:
        site: where the access stands.
        kind: `load`, `store` or `atomic`.
        array: the array.
        rules: of the modelled GPU.
        touched: what the first blocks touch of the array, by all such accesses.
    """

    def __init__(
        self,
        site: Site,
        kind: str,
        array: RecordedArray,
        rules: CountRules,
        touched: Touched,
    ) -> None:
        self._touched = touched
        self._walk: Walk | None = None
        self._first = Asked()  # of what the first blocks ask
        self._site, self._kind, self._array, self._rules = site, kind, array, rules
        self._requests = self._lanes = self._hottest = 0
        self._merged = self._merged_wavefronts = 0
        self._cost = AccessCost()
        self._of_warp: AccessCost | None = None
        self._known: _Known | None = None
        # Lanes that met so far at each element, of all blocks or of those of a batch.
        self._met: WeakKeyDictionary[Any, IntArray] = WeakKeyDictionary()
        self._met_global: IntArray = np.zeros(0, np.int64)

    def add(
        self,
        batch: Lanes,
        mask: ActiveMask,
        flat: Any,
        shift: Any,
        *,
        rides: bool = False,
    ) -> None:
        """Add one access by a batch; the arguments are those of `Recorder.access`.

        `rides` tells that a wider load brings it (`wide_loads.py`).
        """
        cost = self._shifted(mask, flat, int(shift))
        self._requests += mask.warps
        self._lanes += mask.count
        self._cost = AccessCost(*map(int.__add__, self._cost, cost))
        if rides:
            self._merged += mask.warps
            self._merged_wavefronts += cost.wavefronts
        if self._kind == "atomic" and mask.count:
            self._meet(batch, mask, flat + shift)

    def look(self, mask: ActiveMask, flat: Any, shift: Any) -> None:
        """Note where the access added last lies, to tell later what comes again."""
        if self._walk is None or not self._walk.is_of(flat, mask):
            self._end_walk()
            self._walk = Walk(flat, mask, self._array)
        self._walk.at(flat, int(shift))
        self._first = self._asked

    @property
    def _asked(self) -> Asked:
        return Asked(self._requests, self._cost.sectors)

    def _end_walk(self) -> None:
        if self._walk is not None:
            self._touched.add(self._walk, self._site)
            self._walk = None

    def counts(self) -> AccessCounts:
        """Return the counts so far; those of the array hear of them."""
        self._end_walk()
        self._touched.count(self._site, self._asked, self._first, self._array.nbytes)
        return AccessCounts(
            line=self._site.line,
            array=self._site.expression,
            space=self._array.space,
            kind=self._kind,
            requests=self._requests,
            active_lanes=self._lanes,
            bytes_requested=self._lanes * self._array.itemsize,
            array_bytes=self._array.nbytes,
            dtype=self._array.element_dtype.name,
            hottest_address=self._hottest,
            merged=self._merged,
            merged_wavefronts=self._merged_wavefronts,
            **self._cost._asdict(),
        )

    def _shifted(self, mask: ActiveMask, flat: Any, shift: int) -> AccessCost:
        """Cost of an access, found once for lanes that lie alike in their segments."""
        if self._is_whole(flat):
            return self._whole_warp().times(mask.warps)
        known = self._known
        if known is None or known.flat is not flat or known.mask is not mask:
            known = self._known = _Known(flat, mask, *self._requests_of(mask, flat))
        return known.cost(shift * self._array.itemsize)

    def _is_whole(self, flat: Any) -> bool:
        """Tell whether each warp wants one element, and is served as a whole."""
        is_uniform = np.ndim(flat) == 0 or flat.shape[-1] == 1
        return is_uniform and self._kind != "atomic" and self._parts == 1

    @property
    def _parts(self) -> int:
        return self._rules.parts(self._array)

    def _whole_warp(self) -> AccessCost:
        """Cost of a warp that wants one element."""
        if self._of_warp is None:
            addresses = np.zeros((1, WARP), np.int64)
            one = np.ones((1, WARP), np.bool_)
            requests = self._rules.requests(self._array, self._kind, addresses, one)
            self._of_warp = requests.cost(0)
        return self._of_warp

    def _requests_of(self, mask: ActiveMask, flat: Any) -> tuple[CountedRequests, int]:
        """Requests of a batch, or of one block if all are alike, and their repeats."""
        flat = np.atleast_2d(flat)
        blocks, threads = mask.shape
        lanes = mask.lanes
        is_same = flat.shape[0] == 1 and (lanes is None or len(lanes) == 1)
        rows = 1 if is_same else blocks
        shape = (rows, threads)
        active = np.ones(shape, np.bool_) if lanes is None else lanes
        addresses = np.broadcast_to(flat, shape) * self._array.itemsize
        requests = self._rules.requests(
            self._array,
            self._kind,
            (addresses + self._array.address).reshape(-1, WARP),
            np.broadcast_to(active, shape).reshape(-1, WARP),
        )
        return requests, blocks // rows

    def _meet(self, batch: Lanes, mask: ActiveMask, flat: Any) -> None:
        """Count the lanes of an atomic at each element, and keep the most that met."""
        is_shared = self._array.space == "shared"
        lanes, place = mask.full(), flat
        if is_shared:  # the array is that of another batch, with other blocks
            blocks_there = len(self._array.cells(np.int64(0)))
            size = len(self._array.storage) // blocks_there
            place = flat + size * np.arange(len(lanes), dtype=np.int64)[:, None]
        touched = np.broadcast_to(place, lanes.shape)[lanes]
        met = self._met.get(batch.shared) if is_shared else self._met_global
        before = np.zeros(0, np.int64) if met is None else met
        now = np.bincount(touched, minlength=len(before))
        now[: len(before)] += before
        if is_shared:
            self._met[batch.shared] = now
        else:
            self._met_global = now
        self._hottest = max(self._hottest, int(now.max()))


class _Known:
    """The lanes looked at last, and their cost for each kind of shift.

    Args:
        flat, mask: known again by identity.
        requests: of the lanes.
        repeats: how often the same requests are made.
    """

    def __init__(
        self, flat: Any, mask: ActiveMask, requests: CountedRequests, repeats: int
    ) -> None:
        self.flat, self.mask = flat, mask
        self._requests, self._repeats = requests, repeats
        self._first: tuple[int, AccessCost] | None = None
        self._shifts: tuple[int, list[int]] | None = None
        self._costs: dict[int, AccessCost] = {}

    def cost(self, shift: int) -> AccessCost:
        """Return the cost at a shift in bytes; many accesses have but one."""
        if self._first is None:
            self._first = shift, self._requests.cost(shift).times(self._repeats)
        if shift == self._first[0]:
            return self._first[1]
        if self._shifts is None:
            self._shifts = self._requests.shifts()
        period, starts = self._shifts
        key = bisect_right(starts, shift % period) % len(starts)
        if key not in self._costs:
            self._costs[key] = self._requests.cost(shift).times(self._repeats)
        return self._costs[key]
