"""`Mask`: which lanes of a batch take part in a statement.

Masks are dearer than arithmetic, so a mask knows how many lanes it has: a full or an
empty one costs nothing further. `lanes` is None when every lane takes part, else bool
and broadcastable to (blocks, threads).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.trace.places import WARP

__all__ = ["Mask"]

BoolArray = npt.NDArray[np.bool_]


class Mask:
    """The active lanes of a batch of (blocks, threads) lanes.

    Args:
        lanes: bool, (1 or blocks, 1 or threads), or None for all.
        shape: (blocks, threads).

    Example:
        >>> everyone = Mask(None, (2, 32))
        >>> low, high = everyone.split(np.arange(32)[None] < 8)
        >>> low.count, high.count, low.warps
        (16, 48, 2)
    """

    __slots__ = ("_warps", "count", "lanes", "shape")

    def __init__(self, lanes: BoolArray | None, shape: tuple[int, int]) -> None:
        self.lanes = lanes
        self.shape = shape
        total = shape[0] * shape[1]
        if lanes is None:
            self.count = total
        else:
            repeats = total // lanes.size if lanes.size else 1
            self.count = int(np.count_nonzero(lanes)) * repeats
        self._warps = -1

    @property
    def warps(self) -> int:
        """Warps with at least one active lane."""
        if self._warps < 0:
            self._warps = self._count_warps()
        return self._warps

    def _count_warps(self) -> int:
        blocks, threads = self.shape
        per_block = threads // WARP
        if self.count == blocks * threads:
            return blocks * per_block
        if self.lanes is None or self.lanes.shape[1] == 1:
            return self.count // threads * per_block
        rows = self.lanes.shape[0]
        live = self.lanes.reshape(rows * per_block, WARP).any(axis=1)
        return int(np.count_nonzero(live) * (blocks // rows))

    def split(self, condition: Any) -> tuple[Mask, Mask]:
        """Return the lanes where the condition is true, and the other active ones.

        Args:
            condition: a scalar, or an array broadcastable to (blocks, threads); any
                dtype, non-zero is true.
        """
        if np.ndim(condition) == 0:
            return (self, self.none()) if condition else (self.none(), self)
        truth = condition if condition.dtype == np.bool_ else condition != 0
        if self.lanes is not None:
            truth = self.lanes & truth
        taken = Mask(truth, self.shape)
        if taken.count == self.count:
            return self, self.none()
        if not taken.count:
            return taken, self
        return taken, self.minus(taken)

    def minus(self, other: Mask) -> Mask:
        """Return the active lanes that are not active in `other`."""
        if not other.count or not self.count:
            return self
        if other.lanes is None:
            return self.none()
        rest = ~other.lanes if self.lanes is None else self.lanes & ~other.lanes
        return Mask(rest, self.shape)

    def plus(self, other: Mask) -> Mask:
        """Return the lanes active in either."""
        if not other.count or self.lanes is None:
            return self
        if not self.count or other.lanes is None:
            return other
        return Mask(self.lanes | other.lanes, self.shape)

    def none(self) -> Mask:
        """Return the empty mask of the same batch."""
        return Mask(np.zeros((1, 1), np.bool_), self.shape)

    def full(self) -> BoolArray:
        """Return the lanes as bool (blocks, threads)."""
        lanes = np.ones((1, 1), np.bool_) if self.lanes is None else self.lanes
        return np.broadcast_to(lanes, self.shape)
