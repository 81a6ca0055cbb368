"""`Shadow`: who touched each element of a memory last, and who ever wrote it.

For each element it keeps the last write, and two reads: when, and which thread. Of the
reads one is the last, and one is far from it, so that whoever writes later, in
whichever block, is apart from one of them. Writes that are not the last, but may be in
another order, are kept among the reads: atomics, and stores of the same value. A time
counts accesses. Reads are kept aside until a write asks for them: what is only read, as
most inputs of kernels are, costs next to nothing.

At most six int32, 24 bytes, an element. Up to 8 MB of reads may wait in any case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from tinytorch_gpu.sanitizer.lanes import Packed, Touched

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BEFORE", "FRESH", "NOBODY", "Earlier", "Shadow"]

FRESH = -2  # time of an element that nothing has written
BEFORE = -1  # time of what was written before anyone watched
NOBODY = -1  # in place of a thread
MOST_BYTES = 24  # kept for each element
LEAST_ROOM = 1 << 23  # bytes of reads that may wait in any case


class Judge(Protocol):
    """Tells of threads, each (n,), whether their accesses are in order."""

    def unordered(self, times: Any, earlier: Any, threads: Any) -> Any:
        """Tell which accesses of earlier threads may come after those now, bool."""
        ...

    def apart(self, one: Any, other: Any) -> Any:
        """Tell how far apart threads are, int: -1 for `NOBODY`."""
        ...


class Earlier(NamedTuple):
    """Earlier accesses of some elements, each (n,); `NOBODY` where there was none."""

    times: Any
    threads: Any

    def at(self, lanes: Any) -> Earlier:
        """Return those of some lanes: positions, or bool (n,)."""
        return Earlier(self.times[lanes], self.threads[lanes])


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
        self.has_writes = False  # among the reads
        self._write: list[Any] = []  # times, threads
        self._read: list[Any] = []  # times, threads; times, threads of the second
        self._waiting: dict[Any, tuple[Any, Any, int]] = {}
        self._bases: dict[int, Packed] = {}

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
        return touched if ratio == 1 else touched.split(ratio)

    def _refine(self, ratio: int) -> None:
        """Split each element into several with the same history."""
        self.size, self.fresh = self.size * ratio, self.fresh * ratio
        self.granule //= ratio
        self._write = [a.repeat(ratio) for a in self._write]
        self._read = [a.repeat(ratio) for a in self._read]
        for key, base in self._bases.items():
            self._bases[key] = Packed(base.unpacked().split(ratio))
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
        return Earlier(*(kept[cells] for kept in self._write))

    def write(self, touched: Touched, time: int) -> None:
        """Enter a write; of lanes that meet the last one is kept.

        Args:
            touched: the lanes.
            time: when.
        """
        times, threads = self._writable()
        cells = touched.cells
        was_fresh = times[cells] == FRESH if self.fresh else None
        threads[cells] = touched.threads
        times[cells] = time
        if was_fresh is not None:
            is_last = threads[cells] == touched.threads  # one lane of those that meet
            self.fresh -= int(np.count_nonzero(was_fresh & is_last))
        self.latest_write = time

    def keep_write(self, touched: Touched, times: Any, order: Judge) -> None:
        """Keep a write among the reads, since its element has another last write.

        Args:
            touched: the lanes.
            times: when, one time or (n,).
            order: tells which threads are in order, and how far apart.
        """
        if len(touched.cells):
            self._read_now(touched, times, order)
            self.has_writes = True

    def keep_lost(self, touched: Touched, times: Any, order: Judge) -> None:
        """Keep writes of some time ago beside what was read since.

        Args:
            touched: the lanes.
            times: when, (n,).
            order: as for `keep_write`.
        """
        reads = self.reads(touched.cells)
        is_first = (
            reads[0].threads == NOBODY if reads else np.ones(len(times), np.bool_)
        )
        self.keep_write(touched.at(is_first), times[is_first], order)
        cells, lost = touched.at(~is_first)[:2]
        if not len(cells):
            return
        if len(self._read) == 2:
            self._read += self._nothing()
        last, others = self._read[1][cells], self._read[3][cells]
        is_kept = order.unordered(times[~is_first], lost, last)
        is_kept &= order.apart(lost, last) > order.apart(others, last)
        self._read[2][cells[is_kept]] = times[~is_first][is_kept]
        self._read[3][cells[is_kept]] = lost[is_kept]

    def written_by_host(self, cells: Any) -> None:
        """Enter a copy from the host: written, and in order with everything.

        Args:
            cells: int64 (n,) or a slice.
        """
        times, threads = self._writable()
        times[cells], threads[cells] = BEFORE, NOBODY
        self.fresh = int(np.count_nonzero(times == FRESH))

    def put_back(self, cells: Any, since: int) -> None:
        """Make elements fresh again that were written after a time.

        Args:
            cells: int64 (n,).
            since: the time.
        """
        if self.latest_write >= since:
            times = self._write[0]
            times[cells[times[cells] >= since]] = FRESH
            self.fresh = int(np.count_nonzero(times == FRESH))

    def _writable(self) -> list[Any]:
        if not self._write:
            start = np.full(self.size, self._start, np.int32)
            self._write = [start, np.full(self.size, NOBODY, np.int32)]
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
            self._bases[base.key] = Packed(base)
        self._waiting[base.key, int(shift)] = (base.key, shift, time)
        self.latest_read = time

    def drop_reads(self) -> None:
        """Forget the reads that wait: all that comes is in order with them."""
        self._waiting.clear()
        self._bases.clear()

    @property
    def is_crowded(self) -> bool:
        """Whether so many reads wait that they should be entered."""
        waiting = sum(base.nbytes for base in self._bases.values())
        entered = sum(kept.nbytes for kept in (*self._write, *self._read))
        room = max(MOST_BYTES * self.size - entered, LEAST_ROOM)
        return bool(waiting + 100 * len(self._waiting) > room)

    def enter_reads(self, order: Judge) -> None:
        """Enter the reads that wait, in order of time.

        Args:
            order: as for `keep_write`.
        """
        waiting = sorted(self._waiting.values(), key=lambda read: read[2])
        bases = {key: packed.unpacked() for key, packed in self._bases.items()}
        self.drop_reads()
        for key, shift, time in waiting:
            base = bases[key]
            self._read_now(Touched(base.cells + shift, base.threads), time, order)

    def _read_now(self, touched: Touched, time: Any, order: Judge) -> None:
        if not self._read:
            self._read = self._nothing()
        times, threads = self._read[:2]
        cells, now = touched.cells, touched.threads
        still = _farthest(self.reads(cells), now, order)
        times[cells], threads[cells] = time, now
        beaten = np.flatnonzero(threads[cells] != now)[::-1]  # the first lane stays
        if len(self._read) == 2:
            if not len(beaten) and (still.threads == NOBODY).all():
                return
            self._read += self._nothing()
        its_times, others = self._read[2:]
        its_times[cells], others[cells] = still
        cells, now = cells[beaten], now[beaten]
        last, other = threads[cells], others[cells]
        is_farther = order.apart(now, last) > order.apart(other, last)
        others[cells] = np.where(is_farther, now, other)
        its_times[cells] = np.where(is_farther, times[cells], its_times[cells])

    def _nothing(self) -> list[Any]:
        return [np.full(self.size, value, np.int32) for value in (BEFORE, NOBODY)]

    def forget_reads(self, cells: Any, are_meant: Callable[[Any], Any]) -> None:
        """Forget some of what is kept among the reads of elements.

        Args:
            cells: int64 (n,).
            are_meant: tells of times, (n,), which are meant.
        """
        pairs = zip(self._read[::2], self._read[1::2], strict=True)
        for times, threads in pairs:
            threads[cells[are_meant(times[cells])]] = NOBODY

    def reads(self, cells: Any) -> tuple[Earlier, ...]:
        """Return what is kept among the reads of elements: nothing, one or two of each.

        The second is in no order with the first.
        """
        found = [kept[cells] for kept in self._read]
        pairs = zip(found[::2], found[1::2], strict=True)
        return tuple(Earlier(*pair) for pair in pairs)


def _farthest(earlier: tuple[Earlier, ...], now: Any, order: Judge) -> Earlier:
    """Return of some accesses those not in order with threads now, the farthest."""
    times = threads = np.full(len(now), NOBODY, np.int32)
    for one in earlier:
        if (one.threads != NOBODY).any():
            loose = order.unordered(*one, now)
            loose &= order.apart(one.threads, now) > order.apart(threads, now)
            times = np.where(loose, one.times, times)
            threads = np.where(loose, one.threads, threads)
    return Earlier(times, threads)
