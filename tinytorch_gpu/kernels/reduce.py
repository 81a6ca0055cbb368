"""Reductions over any axes: sum, prod, mean, max and min.

Comes in: a device array and axes. Each op checks the axes and makes its result, then
`reduce_launch.py` launches a kernel of `reduce_kernels.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels import reduce_kernels as kernels
from tinytorch_gpu.kernels.copying import fill
from tinytorch_gpu.kernels.operands import INT64, Dtype, real_dtype
from tinytorch_gpu.kernels.reduce_launch import SHORT, Pair, is_row_wise, reduce_into

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = [
    "SHORT",
    "is_row_wise",
    "normalized_axes",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
]

Axes = int | tuple[int, ...] | None


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


@library.impl("tinytorch::prod", "simgpu")
def reduce_prod(
    x: DeviceArray, axis: Axes = None, keepdims: bool = False
) -> DeviceArray:
    """Multiply over axes; 1 where there is nothing. Integers and bools give int64.

    Args:
        x: device array.
        axis: int, tuple, or None for all axes.
        keepdims: keep the reduced axes, with length 1.

    Raises:
        ShapeError: an axis does not exist, or stands twice.

    Example:
        >>> import numpy as np
        >>> reduce_prod(cuda.to_device(np.int32([2, 3, 7]))).item()
        42
    """
    axes = normalized_axes("prod", x, axis)
    dtype = x.dtype if x.dtype.kind == "f" else INT64
    out = cuda.device_array(_reduced_shape(x, axes), dtype)
    if not x.size:
        fill(out, 1)
    else:
        pair = (kernels.prod_columns_kernel, kernels.prod_rows_kernel)
        reduce_into(x, axes, out, pair, None)
    return out if keepdims else _without(out, axes)


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
        reduce_into(x, axes, out, pair, scale)
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
        reduce_into(x, axes, out, pair, None)
    return out if keepdims else _without(out, axes)


def _reduced_shape(x: DeviceArray, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if i in axes else n for i, n in enumerate(x.shape))


def _without(out: DeviceArray, axes: tuple[int, ...]) -> DeviceArray:
    """Drop the reduced axes: a view."""
    return out.reshape(tuple(n for i, n in enumerate(out.shape) if i not in axes))
