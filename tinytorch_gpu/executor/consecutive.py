"""Consecutive lanes: where each lane's index is one more than the last lane's.

`x[cuda.grid(1)]`, however it is spelled, touches one stretch of memory, which NumPy
copies five times faster than it gathers. Whether an index is like that is seen in its
values, not in the program: in its ends first, which costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.executor.global_memory import GlobalArray

if TYPE_CHECKING:
    from tinytorch_gpu.executor.kernel_array import KernelArray
    from tinytorch_gpu.executor.lanes import Batch

__all__ = ["first_of_consecutive", "window"]


def first_of_consecutive(batch: Batch, index: Any) -> int | None:
    """Return the first lane's index if all lanes count up from it by one.

    Args:
        batch: the lanes; keeps the answer for the index asked for last.
        index: an integer array, broadcastable to (blocks, threads).

    Example:
        >>> from tinytorch_gpu.executor.lanes import Batch
        >>> batch = Batch((5, 1, 1), (32, 1, 1), first=3, count=2)
        >>> index = batch.block_index(0) * 32 + batch.thread_index(0)
        >>> first_of_consecutive(batch, index)
        96
    """
    if batch.consecutive[0] is not index:
        batch.consecutive = (
            index,
            _first(index) if index.shape == batch.shape else None,
        )
    first: int | None = batch.consecutive[1]
    return first


def _first(index: Any) -> int | None:
    """Integers that go up and span as many as there are leave none out."""
    first = index.item(0)
    if index.item(-1) - first != index.size - 1:
        return None
    row = index.ravel()
    return int(first) if np.all(row[1:] > row[:-1]) else None


def window(batch: Batch, array: KernelArray, parts: tuple[Any, ...]) -> Any:
    """Return the stretch of global memory that the lanes index one after another.

    Args:
        batch: the lanes.
        array: what is indexed.
        parts: a lane value for each axis.

    Returns:
        The storage's elements themselves, (blocks, threads); None if the array is not
        one axis of neighbours in global memory, the lanes are not consecutive, one of
        them (active or not) is outside, or the addresses are to be recorded.
    """
    index = parts[0] if len(parts) == 1 else None
    if (
        batch.recorder is not None
        or not isinstance(index, np.ndarray)
        or index.dtype.kind not in "iu"
        or not isinstance(array, GlobalArray)
        or array.steps != (1,)
        or isinstance(array.offset, np.ndarray)
        or not isinstance(array.lengths[0], int)
    ):
        return None
    first = first_of_consecutive(batch, index)
    if first is None or first < 0 or first + index.size > array.lengths[0]:
        return None
    start = int(array.offset) + first
    return array.storage[start : start + index.size].reshape(index.shape)
