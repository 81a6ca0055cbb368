"""`KernelArray`: what an array is inside a kernel, in whichever memory it lies.

Flat storage, an offset, and the length and step of each axis, counted in elements.
Global, shared, local and constant arrays derive from it and say how elements at flat
indices are read and written. A view shares its array's storage.
"""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.executor.lanes import together

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask

__all__ = ["ChosenArray", "KernelArray", "row_major"]


class KernelArray:
    """An array inside a kernel.

    Args:
        storage: all elements of the memory the array lies in, (n,).
        offset: element index of the array's element 0; a scalar, or one for each lane.
        shape: length of each axis; an int, or int64 lanes after a slice whose bounds
            differ between lanes.
        steps: elements from one index to the next along each axis.

    Example:
        >>> whole = KernelArray(np.zeros(6), np.int64(0), (2, 3), (3, 1))
        >>> row = whole.view(np.int64(3), (3,), (1,))
        >>> row.shape, row.nbytes
        ((np.int64(3),), 24)
    """

    space = "global"
    address = 0
    is_read_only = False

    def __init__(
        self,
        storage: npt.NDArray[Any],
        offset: Any,
        shape: tuple[Any, ...],
        steps: tuple[int, ...],
    ) -> None:
        self.storage = storage
        self.offset = offset
        self.lengths = shape
        self.steps = steps
        self.reach = _count(shape)

    @property
    def element_dtype(self) -> np.dtype[Any]:
        """Element type; not `dtype`: no operator takes an array for a number."""
        return self.storage.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.storage.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes that the indices of all lanes can reach.

        A view that begins elsewhere for each lane counts as the array it is cut from.
        """
        return int(self.reach) * self.itemsize

    @property
    def shape(self) -> tuple[Any, ...]:
        """Length of each axis as a kernel reads it, int64."""
        return tuple(map(np.int64, self.lengths))

    @property
    def size(self) -> Any:
        """Number of elements, int64."""
        return _count(self.lengths)

    @property
    def ndim(self) -> Any:
        """Number of axes, int64."""
        return np.int64(len(self.lengths))

    @property
    def strides(self) -> tuple[Any, ...]:
        """Bytes between neighbours along each axis, int64."""
        return tuple(np.int64(step * self.itemsize) for step in self.steps)

    def view(
        self, offset: Any, lengths: tuple[Any, ...], steps: tuple[int, ...]
    ) -> Self:
        """Return an array over the same storage.

        Args:
            offset: element index of its element 0; a scalar or one for each lane.
            lengths: of each axis; ints or int64 lanes.
            steps: elements from one index to the next along each axis.
        """
        made = copy.copy(self)
        made.offset, made.lengths, made.steps = offset, lengths, steps
        size = _count(lengths)
        if np.ndim(offset) == 0 and np.ndim(size) == 0:
            made.reach = size
        return made

    def joined(self, lanes: Any, other: KernelArray) -> KernelArray:
        """Return what a variable holds after some lanes assign this array.

        Args:
            lanes: bool, broadcastable to (blocks, threads); the lanes that assign.
            other: what the variable holds in the other lanes; of the same element type
                and number of axes.

        Returns:
            One view that differs by lane, if the two are views of one array with the
            same steps; else a `ChosenArray`.
        """
        is_chosen = isinstance(self, ChosenArray) or isinstance(other, ChosenArray)
        is_one_array = self.storage is other.storage and self.steps == other.steps
        if is_chosen or not is_one_array:
            return _by_lane(lanes, self, other)
        pairs = zip(self.lengths, other.lengths, strict=True)
        lengths = tuple(_choose(lanes, new, old) for new, old in pairs)
        offset = np.where(lanes, self.offset, other.offset)
        made = self.view(offset, lengths, self.steps)
        made.reach = max(self.reach, other.reach)
        return made

    def fetch(self, flat: Any) -> Any:
        """Return the elements at flat indices; inactive lanes' indices are clipped."""
        raise NotImplementedError

    def fetch_at(self, uniform: Any, lanes: Any) -> Any:
        """Return the elements at `uniform + lanes`.

        Args:
            uniform: int64, the part of the index that is the same for all lanes.
            lanes: the part that is not, or a scalar 0.
        """
        return self.fetch(uniform + lanes)

    def will_change(self, batch: Batch) -> None:
        """Get ready for a change of the storage; nothing to do by default."""

    def cells(self, flat: Any) -> Any:
        """Return where in the storage the elements at flat indices lie."""
        return flat

    def put(self, batch: Batch, mask: Mask, flat: Any, value: Any) -> None:
        """Write the active lanes' values; of lanes that collide the highest wins."""
        raise NotImplementedError


class ChosenArray(KernelArray):
    """Different arrays in different lanes: `a = x if i % 2 else y`.

    Each access goes to each array for its lanes.

    Args:
        parts: lanes (bool, broadcastable to (blocks, threads), no lane twice) and their
            array; all of one element type and number of axes.
    """

    def __init__(self, parts: tuple[tuple[Any, KernelArray], ...]) -> None:
        first = parts[0][1]
        super().__init__(first.storage, first.offset, first.lengths, first.steps)
        self.parts = parts

    @property
    def shape(self) -> tuple[Any, ...]:
        """Length of each axis, int64, for each lane that of its array."""
        shape: tuple[Any, ...] = self.gathered(lambda array: array.shape)
        return shape

    def gathered(self, read: Callable[[KernelArray], Any]) -> Any:
        """Return what is read of each array, each lane's from its own.

        Args:
            read: gives a number, or a tuple of numbers.
        """
        return _all_together([(lanes, read(array)) for lanes, array in self.parts])

    def sides(self, mask: Mask) -> list[tuple[Any, Mask, KernelArray]]:
        """Return each array with its lanes, and those of them in a mask, if any."""
        split = [(lanes, mask.split(lanes)[0], array) for lanes, array in self.parts]
        return [side for side in split if side[1].count]

    def each(self, mask: Mask, access: Callable[[Mask, KernelArray], Any]) -> Any:
        """Return what an access of each array gives, put together.

        Args:
            mask: the lanes that take part.
            access: gives a lane value, a tuple of them, or a view.
        """
        sides = self.sides(mask)
        return _all_together([(lanes, access(m, array)) for lanes, m, array in sides])


def _all_together(found: list[tuple[Any, Any]]) -> Any:
    """Put the values of several groups of lanes together."""
    result = found[-1][1]
    for lanes, value in found[:-1]:
        result = together(lanes, value, result)
    return result


def _by_lane(lanes: Any, yes: KernelArray, no: KernelArray) -> KernelArray:
    """Return a choice between arrays that knows each array once."""
    parts: list[tuple[Any, KernelArray]] = []
    for side, array in ((lanes, yes), (~lanes, no)):
        own = array.parts if isinstance(array, ChosenArray) else ((np.True_, array),)
        for among, one in own:
            if np.any(side & among):
                _add(parts, side & among, one)
    return parts[0][1] if len(parts) == 1 else ChosenArray(tuple(parts))


def _add(parts: list[tuple[Any, KernelArray]], lanes: Any, array: KernelArray) -> None:
    """Give lanes an array; those that it has already stay."""
    for position, (others, known) in enumerate(parts):
        if known is array:
            parts[position] = (others | lanes, known)
            return
    parts.append((lanes, array))


def _choose(lanes: Any, new: Any, old: Any) -> Any:
    """Return a length by lane; a plain one where both are the same number."""
    is_same = np.ndim(new) == np.ndim(old) == 0 and new == old
    return new if is_same else np.where(lanes, new, old)


def _count(lengths: tuple[Any, ...]) -> Any:
    """Number of elements, int64; lanes when a length differs between lanes."""
    total = np.int64(1)
    for length in lengths:
        total = total * np.int64(length)
    return total


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the steps of an array whose last axis is contiguous.

    Args:
        shape: length of each axis.

    Example:
        >>> row_major((2, 3, 4))
        (12, 4, 1)
    """
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
