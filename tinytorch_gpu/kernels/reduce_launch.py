"""How a reduction is launched: axes become one; rows or columns; in how many parts.

Comes in: a device array, axes, and a pair of kernels. The axes become the middle one of
a view (outer, n, inner); then a kernel of the pair is chosen by where the contiguous
axis lies, and a long axis is spread over more threads and reduced in two launches. Axes
that no view can join are reduced one after another. Read `reduce_into` first.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels.copying import copy
from tinytorch_gpu.kernels.layout import (
    MAX_GRID_YZ,
    block_of_row,
    configuration,
    split_axis,
)
from tinytorch_gpu.kernels.operands import FLOAT32
from tinytorch_gpu.kernels.reduce_kernels import THREADS

if TYPE_CHECKING:
    import numpy as np

    from tinytorch_gpu.memory import DeviceArray

__all__ = ["SHORT", "Pair", "is_row_wise", "reduce_into"]

Pair = tuple[Any, Any]

SHORT = 32  # a row shorter than a warp leaves most of a block's threads idle
ROW_LENGTH = 4096  # elements that one block reduces alone: 16 for each thread
COLUMN_LENGTH = 64  # elements that one thread reduces alone
ENOUGH_THREADS = 65_536  # fill the largest GPU; more parts would cost and gain nothing


def reduce_into(
    x: DeviceArray,
    axes: tuple[int, ...],
    out: DeviceArray,
    pair: Pair,
    scale: np.generic | None,
) -> None:
    """Reduce x into `out`, of the same shape with the axes of length 1.

    Args:
        x: device array, not empty.
        axes: ascending, not negative.
        out: the results.
        pair: the kernels for columns and for rows.
        scale: factor of the result for kernels that take one, else None.
    """
    split = split_axis([x], axes)
    if split is not None:
        outer, _, inner = split[0].shape
        _launch(split[0], out.reshape(outer, 1, inner), pair, scale)
        return
    if not x.is_c_contiguous():
        reduce_into(copy(x), axes, out, pair, scale)
        return
    # Some axis between two of `axes` stays: reduce the last one, then the others.
    shape = tuple(1 if i == axes[-1] else n for i, n in enumerate(x.shape))
    partial = cuda.device_array(shape, out.dtype)
    reduce_into(
        x, axes[-1:], partial, pair, None if scale is None else out.dtype.type(1)
    )
    reduce_into(partial, axes[:-1], out, pair, scale)


def _launch(
    x: DeviceArray, out: DeviceArray, pair: Pair, scale: np.generic | None
) -> None:
    """Reduce the middle axis of x (outer, n, inner) into out (outer, 1, inner)."""
    row_wise = is_row_wise(x)
    parts = _parts(x, row_wise=row_wise)
    if parts > 1:
        outer, _, inner = x.shape
        partial = cuda.device_array((outer, parts, inner), out.dtype)
        _launch_once(x, partial, pair, _one(scale, out), row_wise=row_wise)
        _launch(partial, out, pair, scale)
    else:
        _launch_once(x, out, pair, scale, row_wise=row_wise)


def _one(scale: np.generic | None, out: DeviceArray) -> np.generic | None:
    one: np.generic = out.dtype.type(1)
    return None if scale is None else one


def _launch_once(
    x: DeviceArray,
    out: DeviceArray,
    pair: Pair,
    scale: np.generic | None,
    *,
    row_wise: bool,
) -> None:
    extra = () if scale is None else (scale,)
    columns, rows = pair
    if row_wise:
        threads = block_of_row(x.shape[1], THREADS)
        rows[(x.shape[2], out.shape[1]), threads](x[0].T, *extra, out[0].T)
    else:
        for first in range(0, x.shape[0], MAX_GRID_YZ):
            part, target = (a[first : first + MAX_GRID_YZ] for a in (x, out))
            grid, block = configuration(x.shape[2], out.shape[1], part.shape[0])
            columns[grid, block](part, *extra, target)


def is_row_wise(x: DeviceArray) -> bool:
    """Tell whether one block for each row suits x (outer, n, inner) better.

    It does when neighbours along n lie closer than neighbours along inner, so that the
    threads of a warp load side by side, and when a row fills at least a warp.
    """
    outer, n, inner = x.shape
    if x.dtype != FLOAT32 or outer > 1 or n < SHORT:
        return False
    return inner == 1 or abs(x.strides[1]) < abs(x.strides[2])


def _parts(x: DeviceArray, *, row_wise: bool) -> int:
    """Return into how many parts the middle axis is cut."""
    outer, n, inner = x.shape
    most = max(1, ENOUGH_THREADS // (outer * inner))
    if row_wise:
        return 1 if n <= ROW_LENGTH else min(-(-n // 1024), max(1, most // 256))
    return 1 if n <= COLUMN_LENGTH else min(math.isqrt(n), most)
