"""`Touched`: the lanes of one access; `Packed`: the same in little memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Packed", "Touched"]


class Touched(NamedTuple):
    """The lanes of one access: element int64 (n,), and thread number int32 (n,).

    `key` is another number for other lanes; who keeps nothing for later needs none.
    """

    cells: Any
    threads: Any
    key: int = 0

    def at(self, lanes: Any) -> Touched:
        """Return some of the lanes: positions, or bool (n,)."""
        return Touched(self.cells[lanes], self.threads[lanes])

    def split(self, ratio: int) -> Touched:
        """Return lanes that touch several finer elements each, one after another.

        Args:
            ratio: how many.
        """
        cells = (self.cells[:, None] * ratio + np.arange(ratio)).ravel()
        return Touched(cells, self.threads.repeat(ratio), self.key)


class Packed:
    """Lanes that wait; of numbers that count up by one only the ends are kept."""

    def __init__(self, base: Touched) -> None:
        ends = _ends(base.cells), _ends(base.threads)
        self._ends = None if None in ends else ends
        self._base = base if self._ends is None else None
        self.nbytes = 0 if self._ends else base.cells.nbytes + base.threads.nbytes

    def unpacked(self) -> Touched:
        """Return the lanes."""
        if self._base is not None:
            return self._base
        cells, threads = (np.arange(first, last) for first, last in self._ends)  # type: ignore[union-attr, misc]
        return Touched(cells, threads.astype(np.int32))


def _ends(numbers: Any) -> tuple[int, int] | None:
    """Return the first number and the one after the last, if they count up by one."""
    first, last = int(numbers[0]), int(numbers[-1])
    if last - first != len(numbers) - 1 or np.any(numbers[1:] <= numbers[:-1]):
        return None
    return first, last + 1
