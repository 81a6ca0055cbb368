"""Accesses as lanes: which elements of which memory an access touches, and whose.

A loop over `a[row, k]` tells of the same indices with another shift each time, so the
last lanes of each place in the source are kept.
"""

from __future__ import annotations

import itertools
from operator import is_
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from tinytorch_gpu.arch import poison_value
from tinytorch_gpu.sanitizer.lanes import Touched
from tinytorch_gpu.sanitizer.shadow import NOBODY, Shadow
from tinytorch_gpu.trace.arguments import named_arrays

if TYPE_CHECKING:
    from tinytorch_gpu.trace import LaunchStart, Site
    from tinytorch_gpu.trace.recorder import ActiveMask, Lanes, RecordedArray

__all__ = ["LaneFinder", "Memories", "all_lanes"]


class LaneFinder:
    """Finds the lanes of accesses, and knows those of each place that came last."""

    def __init__(self) -> None:
        self._numbers: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self._known: dict[Site, tuple[Any, ...]] = {}
        self._keys = itertools.count(1)

    def begin(self) -> None:
        """Begin a launch, whose lanes are others."""
        self._known.clear()
        self._numbers.clear()

    def threads(self, batch: Lanes) -> Any:
        """Return each lane's thread number in the launch, int32 (blocks, threads)."""
        if batch.shared not in self._numbers:
            blocks, threads = batch.shape
            first = batch.first * threads
            numbers = np.arange(first, first + blocks * threads, dtype=np.int32)
            self._numbers[batch.shared] = numbers.reshape(batch.shape)
        return self._numbers[batch.shared]

    def find(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        array: RecordedArray,
        flat: Any,
        *,
        few: bool,
    ) -> Touched:
        """Return the active lanes and the elements of the storage at their indices.

        Args:
            batch: the lanes.
            site: where it stands.
            mask: those that take part.
            array: what is accessed.
            flat: element indices, as recorders get them, without shift.
            few: of a block whose lanes all read one element, two lanes are enough.
        """
        known = self._known.get(site)
        asked = flat, mask, array.storage
        if known and all(map(is_, known, asked)) and known[3] == few:
            touched: Touched = known[4]
            return touched
        where = mask.full()
        if few and (np.ndim(flat) == 0 or flat.shape[1] == 1):
            where = _outermost(where)
        cells = np.broadcast_to(array.cells(flat), batch.shape)[where]
        threads = self.threads(batch)[where]
        touched = Touched(cells, threads, next(self._keys))
        self._known[site] = (*asked, few, touched)
        return touched


def _outermost(lanes: Any) -> Any:
    """Keep the first and the last active lane of each block, bool (blocks, threads)."""
    rows = np.flatnonzero(lanes.any(axis=1))
    kept = np.zeros(lanes.shape, np.bool_)
    kept[rows, lanes[rows].argmax(axis=1)] = True
    kept[rows, lanes.shape[1] - 1 - lanes[rows, ::-1].argmax(axis=1)] = True
    return kept


def all_lanes(value: Any, mask: ActiveMask) -> Any:
    """Return a lane value of the active lanes, (n,).

    Args:
        value: broadcastable to (blocks, threads).
        mask: the active lanes.
    """
    return np.broadcast_to(value, mask.shape)[mask.full()]


class Memories:
    """The shadows of all memories that are watched.

    Device memory is known by its buffer, as long as that lives; what it held before it
    was watched counts as written. Shared memory is fresh in each block.
    """

    def __init__(self) -> None:
        self._fresh: list[Any] = []
        self._buffers: WeakKeyDictionary[Any, Shadow] = WeakKeyDictionary()
        self._shared: WeakKeyDictionary[Any, dict[int, Shadow]] = WeakKeyDictionary()
        self._local: WeakKeyDictionary[Any, dict[int, Any]] = WeakKeyDictionary()

    def allocated(self, array: Any) -> None:
        """Watch a device array that was made just now: nothing has written it."""
        size = array.buffer.nbytes // array.dtype.itemsize
        self._buffers[array.buffer] = Shadow(size, array.dtype.itemsize, is_fresh=True)

    def written(self, array: Any, elements: Any) -> None:
        """Enter that the host has written a device array.

        Args:
            array: the device array.
            elements: its elements, a view of the buffer.
        """
        shadow = self._buffers.get(array.buffer)
        if shadow is None or not elements.size:
            return
        first = array.buffer.offset_of(elements)
        offsets: Any = np.int64(first)
        for length, stride in zip(elements.shape, elements.strides, strict=True):
            offsets = np.expand_dims(offsets, -1) + np.arange(length) * stride
        touched = Touched(np.ravel(offsets) // elements.itemsize, np.zeros(1, np.int32))
        shadow.written_by_host(shadow.cells_of(touched, elements.itemsize).cells)

    def begin(self, launch: LaunchStart) -> None:
        """Begin a launch: note which of its arrays have elements nobody has written."""
        arrays = (array for _, array in named_arrays(launch.arguments))
        known = ((array, self._buffers.get(array.buffer)) for array in arrays)
        self._fresh = [array for array, shadow in known if shadow and shadow.fresh]

    def forget(self) -> None:
        """Let go of the arrays of the launch, which is over."""
        self._fresh = []

    def fill_fresh(self) -> None:
        """Put zeros where fresh memory held poison when the launch began."""
        for array in self._fresh:
            array.storage[_are_poison(array)] = 0

    def put_back(self, since: int) -> None:
        """Enter that a launch failed: what it wrote to fresh memory is not there.

        Args:
            since: the time when the launch began.
        """
        for array in self._fresh:
            shadow = self._buffers[array.buffer]
            elements = np.flatnonzero(_are_poison(array))
            touched = Touched(elements, np.full(len(elements), NOBODY, np.int32))
            shadow.put_back(shadow.cells_of(touched, array.itemsize).cells, since)

    def of(self, batch: Lanes, array: Any) -> Shadow:
        """Return the shadow of a global or shared array's memory.

        Args:
            batch: the lanes.
            array: the array as the kernel sees it.
        """
        if array.space == "global":
            if array.buffer not in self._buffers:
                size = array.buffer.nbytes // array.itemsize
                made = Shadow(size, array.itemsize, is_fresh=False)
                self._buffers[array.buffer] = made
            return self._buffers[array.buffer]
        shadows = self._shared.setdefault(batch.shared, {})
        owner = array.storage if array.storage.base is None else array.storage.base
        if id(owner) not in shadows:
            size = owner.nbytes // array.itemsize
            shadows[id(owner)] = Shadow(size, array.itemsize, is_fresh=True)
        return shadows[id(owner)]

    def fresh_of(self, batch: Lanes, array: Any) -> Any:
        """Return which elements of a local array nothing has written, bool.

        Args:
            batch: the lanes.
            array: a local array, whose storage has all lanes.
        """
        arrays = self._local.setdefault(batch.shared, {})
        if id(array.storage) not in arrays:
            arrays[id(array.storage)] = np.ones(array.storage.size, np.bool_)
        return arrays[id(array.storage)]


def _are_poison(array: Any) -> Any:
    """Tell which elements of a device array's memory hold poison, bool."""
    storage, poison = array.storage, poison_value(array.element_dtype)
    return storage != storage if poison != poison else storage == poison  # noqa: PLR0124
