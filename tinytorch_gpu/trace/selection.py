"""`Selection`: which blocks and warps of a launch a trace keeps in full."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["EVERYTHING", "Selection"]

Dim3 = tuple[int, int, int]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Selection:
    """Chosen or drawn blocks, and chosen warps in them.

    Args:
        blocks: linear numbers or (x, y, z); None for all. A launch keeps those that it
            has.
        warps: warp numbers within a block; None for all.
        sample: draw this many blocks; None for no draw.
        seed: what is drawn; the same seed draws the same blocks of equal grids.

    Example:
        >>> Selection(blocks=(0, (1, 1, 0))).block_numbers((4, 2, 1)).tolist()
        [0, 5]
        >>> len(Selection(sample=3, seed=7).block_numbers((100, 1, 1)))
        3
    """

    blocks: tuple[int | Dim3, ...] | None = None
    warps: tuple[int, ...] | None = None
    sample: int | None = None
    seed: int = 0

    def block_numbers(self, grid: Dim3) -> IntArray | None:
        """Return the linear numbers of the chosen blocks, ascending; None for all.

        Args:
            grid: blocks in x, y, z.
        """
        count = math.prod(grid)
        if self.blocks is not None:
            numbers = {_linear(block, grid) for block in self.blocks}
            return np.array(sorted(n for n in numbers if 0 <= n < count), np.int64)
        if self.sample is None or self.sample >= count:
            return None
        draw = np.random.default_rng(self.seed)
        return np.sort(draw.choice(count, self.sample, replace=False)).astype(np.int64)

    def thread_numbers(self, padded: int) -> IntArray | None:
        """Return the linear numbers of the chosen warps' threads; None for all.

        Args:
            padded: threads of a block, padded to whole warps.
        """
        if self.warps is None:
            return None
        threads = np.arange(padded, dtype=np.int64)
        return threads[np.isin(threads // 32, self.warps)]


EVERYTHING = Selection()


def _linear(block: int | Dim3, grid: Dim3) -> int:
    """Return a block's linear number, x fastest; -1 if the grid does not have it."""
    if isinstance(block, int):
        return block
    if any(not 0 <= part < length for part, length in zip(block, grid, strict=True)):
        return -1
    return block[0] + grid[0] * (block[1] + grid[1] * block[2])
