"""`ChosenLanes`: picks the chosen blocks and warps out of what a batch tells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.trace.steps import KeptLanes

if TYPE_CHECKING:
    from tinytorch_gpu.trace.recorder import ActiveMask, Lanes
    from tinytorch_gpu.trace.selection import Selection

__all__ = ["ChosenLanes"]

MOST_MASKS = 256  # masks of a batch whose bits are remembered


class ChosenLanes:
    """The chosen lanes of one batch.

    Args:
        batch: the lanes that run.
        selection: which blocks and warps are chosen.
        blocks: linear numbers of the chosen blocks; None for all.
    """

    def __init__(
        self, batch: Lanes, selection: Selection, blocks: npt.NDArray[np.int64] | None
    ) -> None:
        count, padded = batch.shape
        self.shared = batch.shared
        rows = np.arange(batch.first, batch.first + count, dtype=np.int64)
        self._rows = None if blocks is None else np.isin(rows, blocks)
        self._threads = selection.thread_numbers(padded)
        threads = np.arange(padded, dtype=np.int64)
        self.where = KeptLanes(
            rows if self._rows is None else rows[self._rows],
            threads if self._threads is None else self._threads,
            math.prod(batch.block),
        )
        self._masks: dict[int, tuple[ActiveMask, npt.NDArray[np.uint8] | None]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no lane of the batch is chosen."""
        return 0 in self.where.shape

    def of(self, column: Any) -> Any:
        """Return the chosen lanes of a column, as small as it can be.

        Args:
            column: a scalar, or an array broadcastable to the batch's shape.
        """
        if np.ndim(column) == 0:
            return column
        return _compact(self._picked(np.atleast_2d(column)))

    def bits(self, mask: ActiveMask) -> npt.NDArray[np.uint8] | None:
        """Return who of the chosen lanes is in a mask, as bits; None for all of them.

        Args:
            mask: lanes of the batch.
        """
        known = self._masks.get(id(mask))
        if known is None:
            if len(self._masks) == MOST_MASKS:
                self._masks.clear()
            known = self._masks[id(mask)] = (mask, self._packed(mask))
        return known[1]

    def _packed(self, mask: ActiveMask) -> npt.NDArray[np.uint8] | None:
        if mask.lanes is None:
            return None
        lanes = mask.full() if mask.lanes.shape[1] == 1 else mask.lanes
        lanes = self._picked(lanes)
        is_all = np.array_equal(lanes, np.broadcast_to(self.where.exist, lanes.shape))
        return None if is_all else np.packbits(lanes, axis=1)

    def _picked(self, column: Any) -> Any:
        if self._rows is not None and column.shape[0] > 1:
            column = column[self._rows]
        if self._threads is not None and column.shape[1] > 1:
            column = column[:, self._threads]
        return column


def _compact(column: Any) -> Any:
    """Return an array without its repeated rows, and without a larger one behind it."""
    if column.shape[0] > 1 and column.strides[0] == 0:
        column = column[:1]
    if column.shape[1] > 1 and column.strides[1] == 0:
        column = column[:, :1]
    is_part = column.base is not None and column.base.nbytes > column.nbytes
    return column.copy() if is_part else column
