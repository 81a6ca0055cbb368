"""`Flags`: order that threads make themselves, with atomics and memory fences.

A thread that has written data, calls `threadfence()` and then changes a flag atomically
publishes the data. So it does if the fence came before a barrier (or `syncwarp`) and a
thread of the same block (warp) changes the flag after it. A thread that finds the flag
changed, by an atomic of its own, comes after what was published; so do the threads of
its block after their next barrier. Locks made of `cas` and `exch`, tickets, and "the
last block adds up" are of this kind.

Source: CUDA C++ Programming Guide, "Memory Fence Functions".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tinytorch_gpu.sanitizer.order import WARP

if TYPE_CHECKING:
    from tinytorch_gpu.sanitizer.lanes import Touched
    from tinytorch_gpu.sanitizer.order import Order
    from tinytorch_gpu.sanitizer.shadow import Shadow

__all__ = ["Flags"]

MOST_WORK = 1 << 24  # entries that one question looks at, all its lanes together


class _Turns(NamedTuple):
    """Atomics in the order of their turns, each (n,).

    Args:
        flags: number of the flag.
        threads: who.
        times: when.
        barriers: when the thread's block had passed its last barrier.
        warps: when its warp had passed its last `syncwarp`.
        seen_by_block: what its block wrote before this time, the thread's last fence
            covers; -1 without a fence.
        seen_by_warp: the same of its warp.
    """

    flags: Any
    threads: Any
    times: Any
    barriers: Any
    warps: Any
    seen_by_block: Any
    seen_by_warp: Any

    def at(self, places: Any) -> _Turns:
        """Return some of the turns."""
        return _Turns(*(column[places] for column in self))


class Flags:
    """The order that atomics and fences of one launch make.

    Args:
        order: tells time and barriers.
    """

    # Simplified: what a thread learns from a flag it does not pass on through another
    # flag, so that chains of flags over three blocks may be told as races. A fence is
    # asked of who publishes only; hardware needs one on the other side, too, where the
    # compiler could move a read ahead of the atomic.

    def __init__(self, order: Order) -> None:
        self._order = order
        self._fences: list[tuple[Any, Any]] = []  # threads, times
        self._last_fence: Any = None  # by thread: time, barrier and warp at that time
        self._turns: list[_Turns] = []
        self._numbers: dict[int, int] = {}  # of shadows

    def fence(self, threads: Any) -> None:
        """Note that threads have passed a fence.

        Args:
            threads: int (n,), their numbers.
        """
        order = self._order
        if self._last_fence is None:
            self._last_fence = np.full((3, order.threads), -1, np.int64)
        now = np.full(len(threads), order.now)
        self._fences.append((threads, now))
        told = now, order.barrier_of(threads), order.warp_of(threads)
        self._last_fence[:, threads] = told

    def atomic(self, shadow: Shadow, touched: Touched, time: int) -> None:
        """Let lanes publish and learn through flags, in lane order.

        Args:
            shadow: of the flags' memory.
            touched: the lanes.
            time: when.
        """
        if not self._fences:
            return
        threads = touched.threads
        number = self._numbers.setdefault(id(shadow), len(self._numbers))
        _, by_block, by_warp = self._last_fence[:, threads]
        self._turns.append(
            _Turns(
                touched.cells + (number << 40),
                threads,
                np.full(len(threads), time),
                self._order.barrier_of(threads),
                self._order.warp_of(threads),
                by_block,
                by_warp,
            )
        )

    def orders(self, times: Any, earlier: Any, threads: Any) -> Any:
        """Tell which earlier accesses a flag puts before those now.

        Where many lanes ask at once, some are looked at, and if a flag orders all of
        these, it is taken to order the rest.

        Args:
            times: int (n,), when the earlier accesses were.
            earlier: int (n,), their threads.
            threads: int (n,), the threads that access now.

        Returns:
            bool (n,).
        """
        found = np.zeros(len(times), np.bool_)
        asked = np.flatnonzero((times >= self._order.start) & (earlier != threads))
        if not self._turns or not len(asked):
            return found
        self._gather()
        turns = len(self._turns[0].flags)
        few = asked[:: max(1, len(asked) * turns // MOST_WORK)]
        fence = self._first_fences(earlier[few], times[few])
        rows = zip(few, fence, strict=True)
        told = [self._is_after(times[r], earlier[r], f, threads[r]) for r, f in rows]
        found[asked] = all(told)
        found[few] = told
        return found

    def _gather(self) -> None:
        """Put all turns, and all fences, into one piece."""
        if len(self._turns) > 1:
            columns = zip(*self._turns, strict=True)
            self._turns = [_Turns(*map(np.concatenate, columns))]
        if len(self._fences) > 1:
            threads, times = map(np.concatenate, zip(*self._fences, strict=True))
            order = np.lexsort((times, threads))
            self._fences = [(threads[order], times[order])]

    def _first_fences(self, threads: Any, times: Any) -> Any:
        """Return when threads first passed a fence after some times; -1 if never."""
        fenced, when = self._fences[0]
        span = self._order.now + 1
        keys = fenced.astype(np.int64) * span + when
        place = np.searchsorted(keys, threads.astype(np.int64) * span + times, "right")
        place = np.minimum(place, len(keys) - 1)
        is_there = (fenced[place] == threads) & (when[place] > times)
        return np.where(is_there, when[place], -1)

    def _is_after(self, time: int, earlier: int, fence: int, thread: int) -> bool:
        """Tell whether a thread has learned of what another had written at a time."""
        turns = self._turns[0]
        published = self._published(turns, time, earlier, fence)
        if not len(published):
            return False
        learned = self._learned(turns, thread)
        flags = np.intersect1d(turns.flags[published], turns.flags[learned])
        return any(
            published[turns.flags[published] == flag][0]
            < learned[turns.flags[learned] == flag][-1]
            for flag in flags
        )

    def _published(self, turns: _Turns, time: int, earlier: int, fence: int) -> Any:
        """Return the turns at which what a thread wrote at a time was out."""
        padded = self._order.padded
        in_block = turns.threads // padded == earlier // padded
        in_warp = turns.threads // WARP == earlier // WARP
        is_out = in_block & (time < turns.seen_by_block)
        is_out |= in_warp & (time < turns.seen_by_warp)
        if fence >= 0:
            is_out |= (turns.threads == earlier) & (fence <= turns.times)
            is_out |= in_block & (fence <= turns.barriers)
            is_out |= in_warp & (fence <= turns.warps)
        return np.flatnonzero(is_out)

    def _learned(self, turns: _Turns, thread: int) -> Any:
        """Return the turns that a thread knows of: its own, and of its block-mates."""
        one = np.array([thread])
        barrier, warp = self._order.barrier_of(one)[0], self._order.warp_of(one)[0]
        padded = self._order.padded
        knows = turns.threads == thread
        in_block = turns.threads // padded == thread // padded
        knows |= in_block & (turns.times < barrier)
        in_warp = turns.threads // WARP == thread // WARP
        knows |= in_warp & (turns.times < warp)
        return np.flatnonzero(knows)
