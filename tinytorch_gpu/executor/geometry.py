"""Where lanes sit in their block and blocks in the grid: x fastest, kept for reuse.

Limits: the arrays are read-only, since later launches get the same ones.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tinytorch_gpu.trace.places import padded_threads

__all__ = ["Dim3", "block_geometry", "block_indices"]

Dim3 = tuple[int, int, int]


@lru_cache(maxsize=256)
def block_geometry(block: Dim3) -> tuple[int, int, Any, tuple[Any, ...]]:
    """Tell where the threads of a block sit.

    Args:
        block: threads in x, y, z.

    Returns:
        The block's threads; the same padded to whole warps; which of these enter a
        kernel, bool (1, padded), or None for all; threadIdx.x, y and z, int32
        (1, padded). The padding repeats the last thread: its addresses are in bounds.

    Example:
        >>> threads, padded, entry, (x, y, _) = block_geometry((5, 4, 1))
        >>> threads, padded, x[0, :7].tolist(), y[0, :7].tolist()
        (20, 32, [0, 1, 2, 3, 4, 0, 1], [0, 0, 0, 0, 0, 1, 1])
    """
    threads = block[0] * block[1] * block[2]
    padded = padded_threads(block)
    lanes = np.arange(padded)[None]
    entry = None if padded == threads else _constant(lanes < threads)
    return threads, padded, entry, _unravel(np.minimum(lanes, threads - 1), block)


@lru_cache(maxsize=64)
def block_indices(grid: Dim3, first: int, count: int) -> tuple[Any, ...]:
    """Return blockIdx.x, y and z of `count` blocks from `first` on, int32 (count, 1).

    Example:
        >>> x, y, _ = block_indices((3, 2, 1), first=2, count=3)
        >>> x[:, 0].tolist(), y[:, 0].tolist()
        ([2, 0, 1], [0, 1, 1])
    """
    return _unravel(np.arange(first, first + count)[:, None], grid)


def _unravel(linear: Any, lengths: Dim3) -> tuple[Any, ...]:
    """Split linear indices into x, y, z: int32, of the same shape."""
    x, y = lengths[0], lengths[1]
    parts = (linear % x, linear // x % y, linear // (x * y))
    return tuple(_constant(part.astype(np.int32)) for part in parts)


def _constant(values: Any) -> Any:
    values.flags.writeable = False
    return values
