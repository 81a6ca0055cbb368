"""How the blocks of a fused kernel lie over its arrays: which lane has which place.

Comes in: arrays placed on a shape. Goes out: a `Grid` for each launch, by the rules of
`kernels.layout`, which knows row and column of every lane.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.fusion.values import item_bytes
from tinytorch_gpu.kernels.layout import block_of_row, collapsed, configuration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.fusion.space import Place

__all__ = ["Grid", "element_grids", "line_grid", "row_grid"]

WARP = 32
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Grid:
    """How the blocks of one launch lie on rows × columns.

    Args:
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        rows, columns: what the launch covers.
        is_row_wise: a block walks along one row.
        arrays: address, and strides along rows and columns, of each array.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    rows: int
    columns: int
    is_row_wise: bool
    arrays: tuple[tuple[int, int, int, int], ...]  # address, strides, bytes

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return math.prod(self.grid)

    @property
    def padded(self) -> int:
        """Threads of a block, in whole warps."""
        return -(-math.prod(self.block) // WARP) * WARP

    @property
    def warps(self) -> int:
        """Warps of the launch."""
        return self.blocks * self.padded // WARP

    def lanes(self, blocks: range) -> tuple[IntArray, IntArray, BoolArray]:
        """Return row, column and activity of lanes: (blocks, steps, threads)."""
        number = np.arange(blocks.start, blocks.stop)[:, None, None]
        thread = np.arange(self.padded)[None, None, :]
        is_real = thread < math.prod(self.block)
        if self.is_row_wise:
            steps = -(-self.columns // self.block[0])
            column = thread + self.block[0] * np.arange(steps)[None, :, None]
            row = np.broadcast_to(number, (len(number), steps, self.padded))
            column = np.broadcast_to(column, row.shape)
            return row, column, is_real & (column < self.columns)
        across, width = self.grid[0], self.block[0]
        column = number % across * width + thread % width
        row = number // across * self.block[1] + thread // width
        active = is_real & (row < self.rows) & (column < self.columns)
        return row, column, active


def element_grids(shape: tuple[int, ...], places: Sequence[Place]) -> list[Grid]:
    """Return the launches of an element-wise kernel over a shape.

    Args:
        shape: the shape.
        places: of the arrays, the main output first.

    Example:
        >>> from tinytorch_gpu.fusion.space import Place
        >>> x = Place(0, (400, 4), "float32")
        >>> (only,) = element_grids((64, 100), [x, x])
        >>> only.grid, only.block
        ((25, 1, 1), (256, 1, 1))
    """
    order, lengths = collapsed(shape, tuple(p.strides for p in places))
    strides = [_merged(shape, order, lengths, p.strides) for p in places]
    *leading, rows, columns = lengths
    grid, block = configuration(columns, rows)
    grids = []
    for index in np.ndindex(*leading):
        arrays = tuple(
            (
                p.address + sum(i * n for i, n in zip(index, s, strict=False)),
                s[-2],
                s[-1],
                item_bytes(p.dtype),
            )
            for p, s in zip(places, strides, strict=True)
        )
        sizes = (*grid, 1), (*block, 1)
        grids.append(Grid(*_three(*sizes), rows, columns, False, arrays))  # noqa: FBT003
    return grids


def _three(
    grid: tuple[int, ...], block: tuple[int, ...]
) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    return (grid[0], grid[1], 1), (block[0], block[1], 1)


def _merged(
    shape: tuple[int, ...],
    order: tuple[int, ...],
    lengths: tuple[int, ...],
    strides: tuple[int, ...],
) -> tuple[int, ...]:
    """Return the strides of an array whose axes were put in order and merged."""
    axes = [(shape[i], strides[i]) for i in order if shape[i] > 1]
    found = []
    for length in reversed(lengths):
        stride, count = 0, 1
        while count < length:
            size, step = axes.pop()
            stride = step if count == 1 else stride
            count *= size
        found.append(stride)
    return tuple(reversed(found))


def row_grid(shape: tuple[int, ...], places: Sequence[Place], threads: int) -> Grid:
    """Return the launch of a kernel with one block for each row.

    Args:
        shape: the shape; its last axis is the row.
        places: of the arrays.
        threads: of a block, at most.
    """
    rows, columns = math.prod(shape[:-1]), shape[-1]
    arrays = []
    for place in places:
        *leading, last = place.strides
        long = [s for n, s in zip(shape[:-1], leading, strict=True) if n > 1]
        step = long[-1] if long else 0
        arrays.append((place.address, step, last, item_bytes(place.dtype)))
    block = (block_of_row(columns, threads), 1, 1)
    return Grid((rows, 1, 1), block, rows, columns, True, tuple(arrays))  # noqa: FBT003


def line_grid(
    blocks: int, threads: int, size: int, arrays: Sequence[tuple[int, int, int]]
) -> Grid:
    """Return one array's part of a launch over several arrays of their own lengths.

    Args:
        blocks: of the launch.
        threads: of a block.
        size: elements of the array.
        arrays: address, stride (0: that of neighbours) and bytes of an element.
    """
    every = tuple((at, 0, step or width, width) for at, step, width in arrays)
    return Grid((blocks, 1, 1), (threads, 1, 1), 1, size, False, every)  # noqa: FBT003
