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


class _Turns(NamedTuple):
    """Atomics in the order of their turns, each (n,).

    Args:
        numbers: which turn of all it is.
        flags: number of the flag.
        threads: who.
        times: when.
        barriers: when the thread's block had passed its last barrier.
        warps: when its warp had passed its last `syncwarp`.
        seen_by_block: what its block wrote before this time, the thread's last fence
            covers; -1 without a fence.
        seen_by_warp: the same of its warp.
    """

    numbers: Any
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
        self._number = 0  # of the next turn
        self._numbers: dict[int, int] = {}  # of shadows

    def fence(self, threads: Any, name: str = "threadfence") -> None:
        """Note that threads have passed a fence.

        Args:
            threads: int (n,), their numbers.
            name: of the fence; `threadfence_block` publishes to nobody here.
        """
        # Simplified: threads of one block that wait for each other by a flag and
        # `threadfence_block` may be told to race; a barrier is what blocks have.
        if name == "threadfence_block":
            return
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
                np.arange(self._number, self._number + len(threads)),
                touched.cells + (number << 40),
                threads,
                np.full(len(threads), time),
                self._order.barrier_of(threads),
                self._order.warp_of(threads),
                by_block,
                by_warp,
            )
        )
        self._number += len(threads)

    def orders(self, times: Any, earlier: Any, threads: Any) -> Any:
        """Tell which earlier accesses a flag puts before those now.

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
        padded = self._order.padded
        pairs = np.stack([earlier[asked] // padded, threads[asked] // padded])
        for rows in _alike(pairs):
            lanes = asked[rows]
            found[lanes] = self._are_after(times[lanes], earlier[lanes], threads[lanes])
        return found

    def _gather(self) -> None:
        """Put all turns, by thread, and all fences into one piece."""
        if len(self._turns) > 1:
            columns = zip(*self._turns, strict=True)
            turns = _Turns(*map(np.concatenate, columns))
            self._turns = [turns.at(np.argsort(turns.threads, kind="stable"))]
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

    def _are_after(self, times: Any, earlier: Any, threads: Any) -> Any:
        """Answer for lanes of one block, and earlier accesses of one block."""
        out, out_lanes = self._published(times, earlier)
        known, known_lanes = self._learned(threads)
        found = np.zeros(len(times), np.bool_)
        for flag in np.intersect1d(out.flags, known.flags):
            turns, lanes = _of_flag(out, out_lanes, flag)
            first = np.where(lanes, turns, self._count()).min(axis=1)
            turns, lanes = _of_flag(known, known_lanes, flag)
            found |= first < np.where(lanes, turns, -1).max(axis=1)
        return found

    def _count(self) -> int:
        return self._number

    def _of_block(self, thread: int) -> _Turns:
        """Return the turns of a thread's block."""
        padded = self._order.padded
        first = thread // padded * padded
        ends = np.searchsorted(self._turns[0].threads, [first, first + padded])
        return self._turns[0].at(slice(*ends))

    def _published(self, times: Any, earlier: Any) -> tuple[_Turns, Any]:
        """Return turns, and which put out what each lane asks for, (n, turns)."""
        turns = self._of_block(int(earlier[0]))
        fences = self._first_fences(earlier, times)[:, None]
        times, earlier = times[:, None], earlier[:, None]
        in_warp = turns.threads // WARP == earlier // WARP
        is_out = (times < turns.seen_by_block) | in_warp & (times < turns.seen_by_warp)
        passed = (turns.threads == earlier) & (fences <= turns.times)
        passed |= fences <= turns.barriers
        passed |= in_warp & (fences <= turns.warps)
        return turns, is_out | passed & (fences >= 0)

    def _learned(self, threads: Any) -> tuple[_Turns, Any]:
        """Return turns, and which each lane knows of: its own and its mates'."""
        turns = self._of_block(int(threads[0]))
        barriers = self._order.barrier_of(threads)[:, None]
        warps = self._order.warp_of(threads)[:, None]
        threads = threads[:, None]
        knows = (turns.threads == threads) | (turns.times < barriers)
        in_warp = turns.threads // WARP == threads // WARP
        return turns, knows | in_warp & (turns.times < warps)


def _alike(pairs: Any) -> list[Any]:
    """Return the positions of each pair that occurs, int arrays.

    Args:
        pairs: int (2, n).
    """
    order = np.lexsort(pairs)
    ordered = pairs[:, order]
    starts = np.flatnonzero((ordered[:, 1:] != ordered[:, :-1]).any(axis=0)) + 1
    return np.split(order, starts)


def _of_flag(turns: _Turns, lanes: Any, flag: int) -> tuple[Any, Any]:
    """Return numbers of a flag's turns, (turns,), and their lanes, (n, turns)."""
    here = turns.flags == flag
    return turns.numbers[here], lanes[:, here]
