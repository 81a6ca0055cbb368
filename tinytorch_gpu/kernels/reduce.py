"""Reductions over any axes: sum, mean, max and min.

Comes in: a device array and axes. The axes become the middle one of a view (outer, n,
inner); then a kernel of `reduce_kernels.py` is chosen by where the contiguous axis
lies, and a long axis is spread over more threads and reduced in two launches. Axes that
no view can join are reduced one after another.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels import reduce_kernels as kernels
from tinytorch_gpu.kernels.copying import copy, fill
from tinytorch_gpu.kernels.layout import (
    MAX_GRID_YZ,
    block_of_row,
    configuration,
    split_axis,
)
from tinytorch_gpu.kernels.operands import FLOAT32, INT64, Dtype, real_dtype

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = [
    "is_row_wise",
    "normalized_axes",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_sum",
]

Axes = int | tuple[int, ...] | None
Pair = tuple[Any, Any]

SHORT = 32  # a row shorter than a warp leaves most of a block's threads idle
ROW_LENGTH = 4096  # elements that one block reduces alone: 16 for each thread
COLUMN_LENGTH = 64  # elements that one thread reduces alone
ENOUGH_THREADS = 65_536  # fill the largest GPU; more parts would cost and gain nothing


@library.impl("tinytorch::sum", "simgpu")
def reduce_sum(
    x: DeviceArray, axis: Axes = None, keepdims: bool = False
) -> DeviceArray:
    """Sum over axes; 0 where there is nothing to sum. Integers and bools give int64.

    Args:
        x: device array.
        axis: int, tuple, or None for all axes.
        keepdims: keep the reduced axes, with length 1.

    Raises:
        ShapeError: an axis does not exist, or stands twice.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))
        >>> reduce_sum(x, axis=0).copy_to_host().tolist()
        [3.0, 5.0, 7.0]
    """
    dtype = x.dtype if x.dtype.kind == "f" else INT64
    return _summed(x, "sum", axis, keepdims, dtype, dtype.type(1))


@library.impl("tinytorch::mean", "simgpu")
def reduce_mean(
    x: DeviceArray, axis: Axes = None, keepdims: bool = False
) -> DeviceArray:
    """Average over axes; NaN where there is nothing to average.

    Args:
        x: device array; integers give float64.
        axis: int, tuple, or None for all axes.
        keepdims: keep the reduced axes, with length 1.

    Raises:
        ShapeError: an axis does not exist, or stands twice.

    Example:
        >>> import numpy as np
        >>> reduce_mean(cuda.to_device(np.float32([1, 2, 6]))).item()
        3.0
    """
    dtype = real_dtype(x.dtype)
    axes = normalized_axes("mean", x, axis)
    count = math.prod(x.shape[i] for i in axes)
    scale = dtype.type(1 / count if count else np.nan)
    return _summed(x, "mean", axes, keepdims, dtype, scale)


@library.impl("tinytorch::max", "simgpu")
def reduce_max(
    x: DeviceArray, axis: Axes = None, keepdims: bool = False
) -> DeviceArray:
    """Return the largest along axes; NaN wins, as in NumPy.

    Args:
        x: device array.
        axis: int, tuple, or None for all axes.
        keepdims: keep the reduced axes, with length 1.

    Raises:
        ShapeError: there is nothing to choose from, or an axis does not exist.

    Example:
        >>> import numpy as np
        >>> reduce_max(cuda.to_device(np.float32([[1, 9], [3, 4]])), 1).copy_to_host()
        array([9., 4.], dtype=float32)
    """
    return _chosen(
        x, "max", axis, keepdims, (kernels.max_columns_kernel, kernels.max_rows_kernel)
    )


@library.impl("tinytorch::min", "simgpu")
def reduce_min(
    x: DeviceArray, axis: Axes = None, keepdims: bool = False
) -> DeviceArray:
    """Return the smallest along axes; NaN wins, as in NumPy.

    Args:
        x: device array.
        axis: int, tuple, or None for all axes.
        keepdims: keep the reduced axes, with length 1.

    Raises:
        ShapeError: there is nothing to choose from, or an axis does not exist.
    """
    return _chosen(
        x, "min", axis, keepdims, (kernels.min_columns_kernel, kernels.min_rows_kernel)
    )


def normalized_axes(op: str, x: DeviceArray, axis: Axes) -> tuple[int, ...]:
    """Return the axes as ascending non-negative numbers.

    Raises:
        ShapeError: an axis does not exist, or stands twice.

    Example:
        >>> normalized_axes("sum", cuda.device_array((2, 3)), -1)
        (1,)
    """
    if axis is None:
        return tuple(range(x.ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = {i % x.ndim for i in given if -x.ndim <= i < x.ndim}
    if len(axes) < len(given):
        raise ShapeError(
            f"{op}: axis {axis} of an array of shape {x.shape}",
            where=f"tinytorch::{op}, operand {x.dtype.name} {x.shape}",
            why=f"the array has {x.ndim} axes, each may be named once",
            fix=f"use axes from {-x.ndim} to {x.ndim - 1}",
            shape=x.shape,
        )
    return tuple(sorted(axes))


def _summed(
    x: DeviceArray, op: str, axis: Axes, keepdims: bool, dtype: Dtype, scale: np.generic
) -> DeviceArray:
    axes = normalized_axes(op, x, axis)
    out = cuda.device_array(_reduced_shape(x, axes), dtype)
    if not x.size:
        fill(out, scale if np.isnan(scale) else 0)
    else:
        pair = (kernels.sum_columns_kernel, kernels.sum_rows_kernel)
        _reduce(x, axes, out, pair, scale)
    return out if keepdims else _without(out, axes)


def _chosen(
    x: DeviceArray, op: str, axis: Axes, keepdims: bool, pair: Pair
) -> DeviceArray:
    axes = normalized_axes(op, x, axis)
    out = cuda.device_array(_reduced_shape(x, axes), x.dtype)
    if out.size and not x.size:
        raise ShapeError(
            f"{op} of no elements: shape {x.shape}, axes {axes}",
            where=f"tinytorch::{op}, operand {x.dtype.name} {x.shape}",
            why=f"a {op} is one of the elements, and there is none",
            fix="check x.size first",
            shape=x.shape,
        )
    if out.size:
        _reduce(x, axes, out, pair, None)
    return out if keepdims else _without(out, axes)


def _reduced_shape(x: DeviceArray, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if i in axes else n for i, n in enumerate(x.shape))


def _without(out: DeviceArray, axes: tuple[int, ...]) -> DeviceArray:
    """Drop the reduced axes: a view."""
    return out.reshape(tuple(n for i, n in enumerate(out.shape) if i not in axes))


def _reduce(
    x: DeviceArray,
    axes: tuple[int, ...],
    out: DeviceArray,
    pair: Pair,
    scale: np.generic | None,
) -> None:
    """Reduce x into `out`, of the same shape with the axes of length 1."""
    split = split_axis([x], axes)
    if split is not None:
        outer, _, inner = split[0].shape
        _launch(split[0], out.reshape(outer, 1, inner), pair, scale)
        return
    if not x.is_c_contiguous():
        _reduce(copy(x), axes, out, pair, scale)
        return
    # Some axis between two of `axes` stays: reduce the last one, then the others.
    shape = _reduced_shape(x, axes[-1:])
    partial = cuda.device_array(shape, out.dtype)
    _reduce(x, axes[-1:], partial, pair, None if scale is None else out.dtype.type(1))
    _reduce(partial, axes[:-1], out, pair, scale)


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
        threads = block_of_row(x.shape[1], kernels.THREADS)
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
