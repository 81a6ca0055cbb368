"""Steps: what a full trace keeps of a launch, one frozen record for each thing told.

A step is what some lanes did at once: an access, a branch, a barrier, a warp operation.
Its columns are NumPy arrays that broadcast to (blocks, threads), over the blocks and
threads that its `KeptLanes` name. `TracedArray` tells which array it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tinytorch_gpu.trace.source import SourceLine

__all__ = ["KINDS", "KeptLanes", "Step", "TracedArray", "at"]

KINDS = (
    "load",
    "store",
    "atomic",
    "branch",
    "barrier",
    "warp",
    "fence",
    "operation",
)
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TracedArray:
    """An array that a launch touched: where it lies, and how its elements are laid out.

    Args:
        name: the parameter's name; of other arrays the name that the source spells.
        space: `global`, `shared`, `local` or `constant`.
        dtype: name of the element type.
        shape: length of each axis.
        steps: elements from one index to the next along each axis.
        offset: where in its memory its element 0 lies, in elements.
        address: byte address of the memory; of local and constant arrays a number.
        length: elements of the memory that it lies in (shared: of one block; local: of
            one thread).

    Example:
        >>> layout = {"offset": 2, "address": 512, "length": 6}
        >>> flipped = TracedArray("x", "global", "int8", (2, 3), (3, -1), **layout)
        >>> flipped.cell((1, 0)), flipped.index(5)
        (5, (1, 0))
    """

    name: str
    space: str
    dtype: str
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    offset: int
    address: int
    length: int

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return np.dtype(self.dtype).itemsize

    def cell(self, index: tuple[int, ...]) -> int:
        """Return where in its memory the element of an index lies, in elements."""
        pairs = zip(index, self.steps, strict=True)
        return self.offset + sum(i * step for i, step in pairs)

    def cells(self) -> IntArray:
        """Return where each element lies: int64, of the array's shape."""
        places: Any = np.int64(self.offset)
        for length, step in zip(self.shape, self.steps, strict=True):
            places = places[..., None] + np.arange(length, dtype=np.int64) * step
        return np.asarray(places)

    def places(self, cells: Any) -> tuple[tuple[IntArray, ...], BoolArray]:
        """Return the index of each cell along each axis, and which cells it has.

        Args:
            cells: int64, places in the memory, in elements.
        """
        backwards = [
            step * (length - 1)
            for length, step in zip(self.shape, self.steps, strict=True)
            if step < 0
        ]
        rest = np.asarray(cells, np.int64) - self.offset - sum(backwards)
        found = [np.zeros_like(rest) for _ in self.shape]
        is_inside = (rest >= 0) & (0 not in self.shape)
        for axis in sorted(range(len(self.shape)), key=lambda a: -abs(self.steps[a])):
            step, length = self.steps[axis], self.shape[axis]
            if step == 0 or length == 1:
                continue
            number, rest = np.divmod(rest, abs(step))
            is_inside &= number < length
            found[axis] = length - 1 - number if step < 0 else number
        return tuple(found), is_inside & (rest == 0)

    def index(self, cell: int) -> tuple[int, ...] | None:
        """Return the index of the element at a cell; None if it is none of its own."""
        found, is_inside = self.places(cell)
        return tuple(map(int, found)) if is_inside else None

    def numbers(self, cells: Any) -> IntArray:
        """Return each cell's element as one number, row after row; -1 if it has none.

        Args:
            cells: int64, places in the memory, in elements.
        """
        found, is_inside = self.places(cells)
        number = np.zeros_like(np.asarray(cells, np.int64))
        for index, length in zip(found, self.shape, strict=True):
            number = number * length + index
        return np.where(is_inside, number, np.int64(-1))


@dataclass(frozen=True, eq=False, slots=True)
class KeptLanes:
    """The lanes that a step's columns stand for.

    Args:
        blocks: int64 (blocks,), linear numbers of the rows' blocks, ascending.
        threads: int64 (threads,), linear numbers of the columns' threads, whole warps.
        size: threads of a block; numbers from there on are padding.
    """

    blocks: IntArray
    threads: IntArray
    size: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.blocks), len(self.threads)

    @property
    def exist(self) -> BoolArray:
        """Which columns are threads and not padding: bool (1, threads)."""
        return (self.threads < self.size)[None]


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """What some lanes did at once.

    Args:
        number: position among the launch's steps, from 0.
        kind: one of `KINDS`.
        line: the source line.
        expression: what stands there, for example the array as the source spells it.
        where: the lanes of the columns.
        lanes: the active ones as bits, uint8 (1 or blocks, threads // 8), the first
            lane in the highest bit; None when every thread takes part.
        name: which barrier, warp operation, fence or operation; else "".
        array: the array touched, or None.
        flat: element in the array's memory, int64, before `shift` is added.
        shift: added to every `flat`.
        value: what was loaded or stored; of an atomic what was there before; of an
            operation the result.
        taken: of a branch the lanes that take it, as `lanes`; None when all do.
        members: of a warp operation the lanes that take part with each lane, bits.

    `flat`, `value` and `members` are scalars or broadcast to (blocks, threads).
    """

    number: int
    kind: str
    line: SourceLine
    expression: str
    where: KeptLanes
    lanes: npt.NDArray[np.uint8] | None
    name: str = ""
    array: TracedArray | None = None
    flat: Any = None
    shift: int = 0
    value: Any = None
    taken: npt.NDArray[np.uint8] | None = None
    members: Any = None

    def row(self, block: int) -> int | None:
        """Return which row of the columns a block has; None if none."""
        return _position(self.where.blocks, block)

    def column(self, thread: int) -> int | None:
        """Return which column a thread has; None if none."""
        return _position(self.where.threads, thread)

    def has_lane(self, row: int, column: int) -> bool:
        """Tell whether one lane takes part."""
        return self._has(self.lanes, row, column)

    def takes_lane(self, row: int, column: int) -> bool:
        """Tell whether one active lane takes the branch."""
        return self._has(self.taken, row, column)

    def active(self) -> BoolArray:
        """Return which lanes take part: bool (blocks, threads)."""
        return self._lanes(self.lanes)

    def takes(self) -> BoolArray:
        """Return which lanes take the branch: bool (blocks, threads)."""
        return self._lanes(self.taken) & self.active()

    def cells(self) -> IntArray:
        """Return which element of its memory each lane touches: (blocks, threads)."""
        return np.broadcast_to(self.flat + np.int64(self.shift), self.where.shape)

    def _has(self, bits: npt.NDArray[np.uint8] | None, row: int, column: int) -> bool:
        if bits is None:
            return bool(self.where.threads[column] < self.where.size)
        byte = int(at(bits, row, column // 8))
        return bool(byte >> (7 - column % 8) & 1)

    def _lanes(self, bits: npt.NDArray[np.uint8] | None) -> BoolArray:
        found = self.where.exist
        if bits is not None:
            found = np.unpackbits(bits, axis=1).view(np.bool_)
        return np.broadcast_to(found, self.where.shape)


def at(column: Any, row: int, lane: int) -> Any:
    """Return one lane's entry of a column.

    Args:
        column: a scalar, or an array broadcastable to (blocks, threads).
        row: the block's row.
        lane: the thread's column.

    Example:
        >>> at(np.array([[5], [6]]), 1, 17), at(7, 1, 17)
        (np.int64(6), 7)
    """
    if np.ndim(column) == 0:
        return column
    rows, lanes = column.shape
    return column[row if rows > 1 else 0, lane if lanes > 1 else 0]


def _position(numbers: IntArray, number: int) -> int | None:
    """Return where a number stands among ascending ones; None if it does not."""
    place = int(np.searchsorted(numbers, number))
    is_there = place < len(numbers) and numbers[place] == number
    return place if is_there else None
