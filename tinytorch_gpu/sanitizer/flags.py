"""`Flags`: order that threads make themselves, with atomics and memory fences.

A thread that has written data, calls `threadfence()` and then changes a flag atomically
publishes the data. A thread that finds the flag changed, by an atomic of its own, comes
after it; so do the threads of its block after their next barrier. Locks made of `cas`
and `exch`, and "the last block adds up", are of this kind.

Source: CUDA C++ Programming Guide, "Memory Fence Functions".
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tinytorch_gpu.sanitizer.order import Order
    from tinytorch_gpu.sanitizer.shadow import Shadow, Touched

__all__ = ["Flags"]


class _Published:
    """What one flag has published: by thread and by block, until when writes are out.

    `turns` counts atomics of the flag, so that who comes sees only what came before.
    """

    def __init__(self) -> None:
        self.turns = 0
        self._until: dict[tuple[str, int], list[tuple[int, int]]] = {}

    def publish(self, who: tuple[str, int], until: int) -> None:
        """Note that what a thread or block wrote before a time is out."""
        self._until.setdefault(who, []).append((self.turns, until))

    def has(self, who: tuple[str, int], time: int, turn: int) -> bool:
        """Tell whether a write at a time was out before a turn."""
        entries = self._until.get(who, [])
        before = bisect_left(entries, (turn, -1)) - 1
        return before >= 0 and time < entries[before][1]


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
        self._fences: dict[int, tuple[int, int]] = {}  # thread: time, its last barrier
        self._flags: dict[tuple[int, int], _Published] = {}
        # By block: who learned from which flag, when, and at which turn.
        self._seen: dict[int, dict[tuple[int, int], tuple[int, _Published, int]]] = {}

    def fence(self, threads: Any) -> None:
        """Note that threads have passed a fence.

        Args:
            threads: int (n,), their numbers.
        """
        now = self._order.now
        barriers = self._order.barrier_of(threads)
        self._fences.update(
            (thread, (now, barrier))
            for thread, barrier in zip(threads.tolist(), barriers.tolist(), strict=True)
        )

    def atomic(self, shadow: Shadow, touched: Touched, time: int) -> None:
        """Let lanes publish and learn through flags, in lane order.

        Args:
            shadow: of the flags' memory.
            touched: the lanes.
            time: when.
        """
        if not self._fences:
            return
        padded = self._order.padded
        pairs = zip(touched.cells.tolist(), touched.threads.tolist(), strict=True)
        for cell, thread in pairs:
            fence = self._fences.get(thread)
            key = (id(shadow), cell)
            flag = self._flags.get(key)
            if flag is None:
                if fence is None:
                    continue
                flag = self._flags[key] = _Published()
            flag.turns += 1
            block = thread // padded
            learned = self._seen.setdefault(block, {})
            learned[thread, id(flag)] = (time, flag, flag.turns)
            if fence is not None:
                flag.publish(("thread", thread), fence[0])
                flag.publish(("block", block), fence[1])

    def apart(self, one: Any, other: Any) -> Any:
        """Tell how far apart threads are, as `Order.apart`."""
        return self._order.apart(one, other)

    def unordered(self, times: Any, earlier: Any, threads: Any) -> Any:
        """Tell which earlier accesses no barrier and no flag puts before those now.

        Args:
            times: int (n,), when the earlier accesses were.
            earlier: int (n,), their threads.
            threads: int (n,), the threads that access now.

        Returns:
            bool (n,).
        """
        loose = self._order.unordered(times, earlier, threads)
        lanes = np.flatnonzero(loose)
        if len(lanes):
            told = times[lanes], earlier[lanes], threads[lanes]
            loose[lanes] &= ~self.orders(*told)
        return loose

    def orders(self, times: Any, earlier: Any, threads: Any) -> Any:
        """Tell which earlier accesses a flag puts before those now.

        Args:
            times: int (n,), when the earlier accesses were.
            earlier: int (n,), their threads.
            threads: int (n,), the threads that access now.

        Returns:
            bool (n,).
        """
        if not self._seen:
            return np.zeros(len(times), np.bool_)
        barriers = self._order.barrier_of(threads)
        rows = zip(
            times.tolist(),
            earlier.tolist(),
            threads.tolist(),
            barriers.tolist(),
            strict=True,
        )
        return np.array([self._is_after(*row) for row in rows], np.bool_)

    def _is_after(self, time: int, earlier: int, thread: int, barrier: int) -> bool:
        if time < self._order.start:
            return False  # of another launch
        padded = self._order.padded
        learned = self._seen.get(thread // padded, {})
        for (who, _), (when, flag, turn) in learned.items():
            if who != thread and when >= barrier:
                continue  # a block-mate learned of it, and no barrier came since
            if flag.has(("thread", earlier), time, turn):
                return True
            if flag.has(("block", earlier // padded), time, turn):
                return True
        return False
