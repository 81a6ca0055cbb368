"""`Order`: which accesses of a launch are certain to come before which.

A barrier puts everything in order that a block did before it and after it, a grid
barrier everything of the launch, `syncwarp` what the lanes of its mask did, and the end
of a launch everything for launches that wait for it. The rest is unordered, whatever
order the simulator happens to run it in. Times count accesses.

Source: CUDA C++ Programming Guide, "Memory Fence Functions", "Synchronization
Functions" and "Warp Synchronize"; simulated orders are one of many that are legal.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from tinytorch_gpu.sanitizer.shadow import NOBODY
from tinytorch_gpu.trace.places import WARP, padded_threads

if TYPE_CHECKING:
    from tinytorch_gpu.trace import LaunchStart, Stamp
    from tinytorch_gpu.trace.recorder import ActiveMask, Lanes

__all__ = ["WARP", "Order"]

MOST_LAUNCHES = 256  # of other streams, that a later launch may be unordered with


class Order:
    """The order of the accesses of one launch after another.

    A thread's number is block × padded threads + thread, within its launch.
    """

    def __init__(self) -> None:
        self.now = 0
        self.floor = 0  # what came before is in order with all that comes
        self.start = 0  # of the launch that runs
        self._loose: list[tuple[int, int, Stamp]] = []  # start, end, stamp
        self._stamp: Stamp | None = None

    def begin(self, launch: LaunchStart) -> None:
        """Begin a launch: work of launches that are over is in order with it."""
        self.start, self._stamp = self.now, launch.stamp
        self._loose = self._loose[-MOST_LAUNCHES:]
        loose = [start for start, _, s in self._loose if not launch.stamp.is_after(s)]
        self.floor = min(loose, default=self.now)
        self._grid_floor = self.now
        self._blocks = math.prod(launch.grid)
        self._block_floor: Any = None
        self._warp_floor: Any = None
        self._lane_floor: Any = None
        self._lane_bits: Any = None
        self._batch_floor: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self.padded = padded_threads(launch.block)

    def end(self) -> None:
        """End the launch; one of the default stream is in order with all later ones."""
        if self._stamp is not None and self._stamp.stream != 0:
            self._loose.append((self.start, self.now, self._stamp))

    def tick(self) -> int:
        """Return the time of an access, and go on."""
        time = self.now
        self.now += 1
        return time

    def floor_of(self, batch: Lanes, space: str) -> int:
        """Return the time before which all is in order with what the batch does next.

        Args:
            batch: the blocks that run.
            space: `shared` memory is seen by these blocks only.
        """
        if space != "shared":
            return self.floor
        return max(self.floor, self._batch_floor.get(batch.shared, 0))

    # What puts accesses in order.

    def release(self, batch: Lanes, mask: ActiveMask, kind: str) -> None:
        """A barrier opens."""
        if kind == "grid":
            self._grid_floor = self.now
            if self.floor >= self.start:  # no launch of another stream is loose
                self.floor = self.now
            return
        rows = np.flatnonzero(mask.full().any(axis=1))
        if self._block_floor is None:
            self._block_floor = np.full(self._blocks, -1, np.int64)
        self._block_floor[batch.first + rows] = self.now
        if len(rows) == batch.shape[0]:
            self._batch_floor[batch.shared] = self.now

    def sync_warp(self, batch: Lanes, mask: ActiveMask, members: Any) -> None:
        """`syncwarp` puts in order what the lanes of its mask did.

        Args:
            batch: the lanes.
            mask: those that take part.
            members: uint32 bits, a scalar or broadcastable to (warps, 32).
        """
        # Simplified: of a lane's calls with a part of its warp only the last counts, so
        # that a race may be told between lanes that an earlier such call put in order.
        threads = batch.shape[1]
        active = mask.full().reshape(-1, WARP)
        exist = np.arange(threads) < math.prod(batch.block)
        lanes = np.packbits(exist, bitorder="little").view(np.uint32)
        lanes = np.tile(lanes, batch.shape[0])[:, None]
        bits = np.broadcast_to(np.asarray(members).astype(np.uint32), active.shape)
        is_whole = active & ((bits & lanes) == lanes)
        first = batch.first * threads // WARP
        if self._warp_floor is None:
            warps = self._blocks * self.padded // WARP
            self._warp_floor = np.full(warps, -1, np.int64)
            self._lane_floor = np.full(warps * WARP, -1, np.int64)
            self._lane_bits = np.zeros(warps * WARP, np.uint32)
        whole = np.flatnonzero(is_whole.any(axis=1))
        self._warp_floor[first + whole] = self.now
        part = np.flatnonzero((active & ~is_whole).ravel())
        self._lane_floor[first * WARP + part] = self.now
        self._lane_bits[first * WARP + part] = bits.ravel()[part]

    def barrier_of(self, threads: Any) -> Any:
        """Return when each thread's block last passed a barrier, int (n,); -1 if never.

        Args:
            threads: int (n,), their numbers.
        """
        if self._block_floor is None:
            return np.full(len(threads), -1)
        return self._block_floor[threads // self.padded]

    def apart(self, one: Any, other: Any) -> Any:
        """Tell how far apart threads are: in one warp, one block, or different blocks.

        Args:
            one: int (n,), threads' numbers, or `NOBODY`.
            other: int (n,), threads' numbers.

        Returns:
            0, 1 or 2, int (n,); -1 for `NOBODY`.
        """
        in_warp, in_block = (
            one // WARP == other // WARP,
            (one // self.padded == other // self.padded),
        )
        return np.where(one == NOBODY, -1, 2 - in_block.astype(np.int8) - in_warp)

    def warp_of(self, threads: Any) -> Any:
        """Return when each thread's whole warp last passed `syncwarp`; -1 if never.

        Args:
            threads: int (n,), their numbers.
        """
        if self._warp_floor is None:
            return np.full(len(threads), -1)
        return self._warp_floor[threads // WARP]

    @property
    def threads(self) -> int:
        """Numbers of threads that the launch has, those of padding included."""
        return self._blocks * self.padded

    # The question.

    def unordered(self, times: Any, earlier: Any, threads: Any) -> Any:
        """Tell which earlier accesses are not certain to come before those now.

        Args:
            times: int (n,), when the earlier accesses were.
            earlier: int (n,), their threads; `NOBODY` where there was none.
            threads: int (n,), the threads that access now.

        Returns:
            bool (n,).
        """
        loose = (times >= self.floor) & (earlier != NOBODY)
        if not loose.any():
            return loose
        is_own = times >= self.start
        loose &= (earlier != threads) | ~is_own
        if self._loose and not is_own.all():
            loose &= is_own | self._of_loose_launches(times)
        loose &= ~is_own | (times >= self._grid_floor)
        if self._block_floor is not None:
            block = threads // self.padded
            is_done = times < self._block_floor[block]
            loose &= ~((earlier // self.padded == block) & is_done & is_own)
        if self._warp_floor is not None:
            loose &= ~(self._warp_is_done(times, earlier, threads) & is_own)
        return loose

    def _of_loose_launches(self, times: Any) -> Any:
        """Tell which accesses are of launches that may still be running."""
        found = np.zeros(len(times), np.bool_)
        for start, end, stamp in self._loose:
            if self._stamp is not None and not self._stamp.is_after(stamp):
                found |= (times >= start) & (times < end)
        return found

    def _warp_is_done(self, times: Any, earlier: Any, threads: Any) -> Any:
        warp = threads // WARP
        is_done = times < self._warp_floor[warp]
        named = self._lane_bits[threads] >> (earlier % WARP).astype(np.uint32) & 1
        is_done |= (times < self._lane_floor[threads]) & (named != 0)
        return is_done & (earlier // WARP == warp)
