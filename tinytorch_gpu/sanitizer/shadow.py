"""`Shadow`: who touched each element of a memory last, and who ever wrote it.

For each element it keeps the last write (when, and which thread) and the last reads
(when, and two threads). A time counts accesses. Reads are kept aside until a write asks
for them: what is only read, as most inputs of kernels are, costs next to nothing.

At most 24 bytes an element: five int32, and a sixth where threads meet in atomics.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

__all__ = ["BEFORE", "FRESH", "NOBODY", "Earlier", "Shadow", "Touched"]

FRESH = -2  # time of an element that nothing has written
BEFORE = -1  # time of what was written before anyone watched
NOBODY = -1  # in place of a thread
MOST_WAITING_BYTES = 1 << 26  # of the lanes of reads that wait to be entered


class Judge(Protocol):
    """Tells of threads, each (n,), whether their accesses are in order."""

    def unordered(self, times: Any, earlier: Any, threads: Any) -> Any:
        """Tell which accesses of earlier threads may come after those now, bool."""
        ...

    def apart(self, one: Any, other: Any) -> Any:
        """Tell how far apart threads are, int: -1 for `NOBODY`."""
        ...


class Touched(NamedTuple):
    """The lanes of one access: element int64 (n,), and thread number int32 (n,).

    `key` is another number for other lanes; who keeps nothing for later needs none.
    """

    cells: Any
    threads: Any
    key: int = 0


class Earlier(NamedTuple):
    """Earlier accesses of some elements, each (n,); `others` is None if there are none.

    A thread is `NOBODY` where there was no access.
    """

    times: Any
    threads: Any
    others: Any


class Shadow:
    """The shadow of one memory.

    Args:
        size: elements.
        granule: bytes of an element.
        is_fresh: nothing has written the memory yet.

    Example:
        >>> shadow = Shadow(4, 4, is_fresh=True)
        >>> shadow.write(Touched(np.array([2, 3]), np.int32([0, 1])), time=7)
        >>> shadow.is_fresh_at(np.array([1, 2])).tolist(), shadow.fresh
        ([True, False], 2)
        >>> shadow.writes(np.array([3])).threads.tolist()
        [1]
    """

    def __init__(self, size: int, granule: int, *, is_fresh: bool) -> None:
        self.size = size
        self.granule = granule
        self.fresh = size if is_fresh else 0
        self.latest_write = self.latest_read = BEFORE
        self._start = FRESH if is_fresh else BEFORE
        self._write: list[Any] = []  # times, threads, and from need on others
        self._read: list[Any] = []  # times, threads, others
        self._waiting: dict[Any, tuple[Any, Any, int]] = {}
        self._bases: dict[int, _Packed] = {}

    # Units.

    def cells_of(self, touched: Touched, itemsize: int) -> Touched:
        """Return the lanes' elements in this shadow's unit, which may get finer.

        Args:
            touched: elements of `itemsize` bytes.
            itemsize: bytes of one.
        """
        if itemsize < self.granule:
            self._refine(self.granule // itemsize)
        ratio = itemsize // self.granule
        return touched if ratio == 1 else _split(touched, ratio)

    def _refine(self, ratio: int) -> None:
        """Split each element into several with the same history."""
        self.size, self.fresh = self.size * ratio, self.fresh * ratio
        self.granule //= ratio
        self._write = [None if a is None else a.repeat(ratio) for a in self._write]
        self._read = [a.repeat(ratio) for a in self._read]
        for key, base in self._bases.items():
            self._bases[key] = _Packed(_split(base.unpacked(), ratio))
        self._waiting = {
            (key, shift * ratio): (key, shift * ratio, time)
            for key, shift, time in self._waiting.values()
        }

    # Writes.

    def is_fresh_at(self, cells: Any) -> Any:
        """Tell which elements nothing has written, bool (n,)."""
        if not self._write:
            return np.full(len(cells), self._start == FRESH)
        return self._write[0][cells] == FRESH

    def writes(self, cells: Any) -> Earlier:
        """Return the last writes of elements."""
        times, threads, others = self._write
        return Earlier(
            times[cells], threads[cells], None if others is None else others[cells]
        )

    def write(self, touched: Touched, time: int) -> None:
        """Enter a write; of lanes that meet the last one is kept.

        Args:
            touched: the lanes.
            time: when.
        """
        times, threads, others = self._writable()
        cells = touched.cells
        was_fresh = times[cells] == FRESH if self.fresh else None
        threads[cells] = touched.threads
        times[cells] = time
        if others is not None:
            others[cells] = NOBODY
        if was_fresh is not None:
            is_last = threads[cells] == touched.threads  # one lane of those that meet
            self.fresh -= int(np.count_nonzero(was_fresh & is_last))
        self.latest_write = time

    def write_together(self, touched: Touched, time: int, order: Judge) -> None:
        """Enter an atomic, which several threads may do in turns: two are kept.

        Args:
            touched: the lanes.
            time: when.
            order: tells which threads are in order, and how far apart.
        """
        cells = touched.cells
        others: Any = None
        if self._write:
            others = _still_loose(self.writes(cells), touched.threads, order)
        self.write(touched, time)
        if self._write[2] is None:
            is_alone = (self._write[1][cells] == touched.threads).all()
            if is_alone and (others is None or (others == NOBODY).all()):
                return
            self._write[2] = np.full(self.size, NOBODY, np.int32)
        _keep_two(self._write[1], self._write[2], touched, others, order)

    def written_by_host(self, cells: Any) -> None:
        """Enter a copy from the host: written, and in order with everything.

        Args:
            cells: int64 (n,) or a slice.
        """
        times, threads, others = self._writable()
        times[cells], threads[cells] = BEFORE, NOBODY
        if others is not None:
            others[cells] = NOBODY
        self.fresh = int(np.count_nonzero(times == FRESH))

    def _writable(self) -> list[Any]:
        if not self._write:
            start = np.full(self.size, self._start, np.int32)
            self._write = [start, np.full(self.size, NOBODY, np.int32), None]
        return self._write

    # Reads.

    def read_later(self, base: Touched, shift: Any, time: int) -> None:
        """Keep a read aside until a write asks for it.

        Args:
            base: the lanes; in a loop the same key each time.
            shift: added to their elements.
            time: when.
        """
        # Of one thread's equal reads the last is enough: it is the least in order.
        if base.key not in self._bases:
            self._bases[base.key] = _Packed(base)
        self._waiting[base.key, int(shift)] = (base.key, shift, time)
        self.latest_read = time

    def drop_reads(self) -> None:
        """Forget the reads that wait: all that comes is in order with them."""
        self._waiting.clear()
        self._bases.clear()

    @property
    def is_crowded(self) -> bool:
        """Whether so many reads wait that they should be entered."""
        kept = sum(base.nbytes for base in self._bases.values())
        return kept + 100 * len(self._waiting) > MOST_WAITING_BYTES

    def enter_reads(self, order: Judge) -> None:
        """Enter the reads that wait, in order of time.

        Args:
            order: as for `write_together`.
        """
        waiting = sorted(self._waiting.values(), key=lambda read: read[2])
        bases = {key: packed.unpacked() for key, packed in self._bases.items()}
        self.drop_reads()
        for key, shift, time in waiting:
            base = bases[key]
            self._read_now(Touched(base.cells + shift, base.threads), time, order)

    def _read_now(self, touched: Touched, time: int, order: Judge) -> None:
        if not self._read:
            kept = [BEFORE, NOBODY, NOBODY]
            self._read = [np.full(self.size, value, np.int32) for value in kept]
        times, threads, others = self._read
        cells = touched.cells
        before = Earlier(times[cells], threads[cells], others[cells])
        still = _still_loose(before, touched.threads, order)
        times[cells], threads[cells] = time, touched.threads
        _keep_two(threads, others, touched, still, order)

    def reads(self, cells: Any) -> Earlier | None:
        """Return the last reads of elements; None if nothing was entered."""
        if not self._read:
            return None
        times, threads, others = self._read
        return Earlier(times[cells], threads[cells], others[cells])


def _split(touched: Touched, ratio: int) -> Touched:
    """Return lanes that touch several elements each, one after another."""
    cells = (touched.cells[:, None] * ratio + np.arange(ratio)).ravel()
    return Touched(cells, touched.threads.repeat(ratio), touched.key)


def _still_loose(earlier: Earlier, now: Any, order: Judge) -> Any:
    """Return the earlier thread that is not in order with those now, int (n,).

    Of two it is the one that is farther away: whoever comes later, in whichever block,
    is then apart from one of those that are kept.
    """
    times, threads, others = earlier
    loose = np.where(order.unordered(times, threads, now), threads, NOBODY)
    if others is not None and (others != NOBODY).any():
        more = np.where(order.unordered(times, others, now), others, NOBODY)
        loose = np.where(order.apart(more, now) > order.apart(loose, now), more, loose)
    return loose


def _keep_two(
    threads: Any, others: Any, touched: Touched, still: Any, order: Judge
) -> None:
    """Keep beside each element's last thread another one that is far away.

    Args:
        threads: by element: the last thread, entered already.
        others: by element: another thread; changed.
        touched: the lanes.
        still: the earlier thread that is loose, int (n,), or None.
        order: tells how far apart threads are.
    """
    cells, now = touched.cells, touched.threads
    others[cells] = NOBODY if still is None else still
    beaten = np.flatnonzero(threads[cells] != now)[::-1]  # the first lane stays
    if len(beaten):
        cells, now = cells[beaten], now[beaten]
        last, other = threads[cells], others[cells]
        is_farther = order.apart(now, last) >= order.apart(other, last)
        others[cells] = np.where(is_farther, now, other)


class _Packed:
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
