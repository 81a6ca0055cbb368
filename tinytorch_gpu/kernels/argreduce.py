"""The ops argmax and argmin: where along an axis the largest or smallest stands.

Two versions, as in `reduce_kernels.py`: one thread for each result, or one block for
each row when the axis is contiguous and fills a warp. Of equals the first wins, and the
first NaN wins over every number, as in NumPy. `sign` -1 turns largest into smallest.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.cuda import float32, int64
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.copying import copy
from tinytorch_gpu.kernels.layout import block_of_row
from tinytorch_gpu.kernels.operands import FLOAT32, INT64
from tinytorch_gpu.kernels.reduce import SHORT, normalized_axes
from tinytorch_gpu.kernels.rows import around, launch_flat

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["argmax", "argmin"]

THREADS = 256  # most threads of a block, and length of the shared arrays


@cuda.jit
def arg_columns_kernel(x, sign, out):
    """Store the place of the largest x × sign along n of (outer, n, inner)."""
    element = cuda.grid(1)
    if element < out.size:
        row = element // out.shape[1]
        col = element % out.shape[1]
        best = x[row, 0, col] * sign
        found = 0
        for k in range(1, x.shape[1]):
            value = x[row, k, col] * sign
            is_new = value > best or (math.isnan(value) and not math.isnan(best))
            best = value if is_new else best
            found = k if is_new else found
        out[row, col] = found


@cuda.jit
def arg_rows_kernel(x, sign, out):
    """Store the place of the largest x × sign along n of (rows, n, 1)."""
    values = cuda.shared.array(THREADS, float32)
    places = cuda.shared.array(THREADS, int64)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    first = min(tid, x.shape[1] - 1)
    best = x[row, first, 0] * sign
    found = first
    for k in range(tid + cuda.blockDim.x, x.shape[1], cuda.blockDim.x):
        value = x[row, k, 0] * sign
        is_new = value > best or (math.isnan(value) and not math.isnan(best))
        best = value if is_new else best
        found = k if is_new else found
    values[tid] = best
    places[tid] = found
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            value = values[tid + half]
            place = places[tid + half]
            both_nan = math.isnan(value) and math.isnan(best)
            is_tie = value == best or both_nan
            is_new = value > best or (math.isnan(value) and not both_nan)
            is_new = place < found if is_tie else is_new
            best = value if is_new else best
            found = place if is_new else found
            values[tid] = best
            places[tid] = found
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        out[row, 0] = found


@library.impl("tinytorch::argmax", "simgpu")
def argmax(
    x: DeviceArray, axis: int | None = None, keepdims: bool = False
) -> DeviceArray:
    """Return where along an axis the largest element stands; the first of equals.

    Args:
        x: device array.
        axis: the axis; None counts through all elements, row by row.
        keepdims: keep the axis, with length 1.

    Returns:
        Device array of int64.

    Raises:
        ShapeError: there is nothing to choose from, or no such axis.

    Example:
        >>> import numpy as np
        >>> argmax(cuda.to_device(np.float32([[1, 9], [3, 2]])), 1).copy_to_host()
        array([1, 0])
    """
    return _place("argmax", 1, x, axis, keepdims=keepdims)


@library.impl("tinytorch::argmin", "simgpu")
def argmin(
    x: DeviceArray, axis: int | None = None, keepdims: bool = False
) -> DeviceArray:
    """Return where along an axis the smallest element stands; the first of equals.

    Args:
        x: device array.
        axis: the axis; None counts through all elements, row by row.
        keepdims: keep the axis, with length 1.

    Returns:
        Device array of int64.

    Raises:
        ShapeError: there is nothing to choose from, or no such axis.
    """
    return _place("argmin", -1, x, axis, keepdims=keepdims)


def _place(
    op: str, sign: int, x: DeviceArray, axis: int | None, *, keepdims: bool
) -> DeviceArray:
    kept = tuple(1 for _ in x.shape)
    if axis is None:
        view = x.reshape(1, -1, 1)
    else:
        (axis,) = normalized_axes(op, x, axis)
        kept = tuple(1 if i == axis else n for i, n in enumerate(x.shape))
        view = around(x, axis)
    out = cuda.device_array((view.shape[0], view.shape[2]), INT64)
    if out.size and not view.shape[1]:
        raise _nothing(op, x)
    if out.size:
        _launch(view if x.dtype.kind in "fi" else copy(view, INT64), sign, out)
    dropped = tuple(n for i, n in enumerate(kept) if axis is not None and i != axis)
    return out.reshape(kept if keepdims else dropped)


def _launch(x: DeviceArray, sign: int, out: DeviceArray) -> None:
    scale = x.dtype.type(sign)
    if x.dtype == FLOAT32 and x.shape[2] == 1 and x.shape[1] >= SHORT:
        threads = block_of_row(x.shape[1], THREADS)
        arg_rows_kernel[x.shape[0], threads](x, scale, out)
    else:
        launch_flat(arg_columns_kernel, (x, scale, out), out.size)


def _nothing(op: str, x: DeviceArray) -> ShapeError:
    return ShapeError(
        f"{op} of no elements: shape {x.shape}",
        where=f"tinytorch::{op}, operand {x.dtype.name} {x.shape}",
        why="the result is the place of an element, and there is none",
        fix="check x.size first",
        shape=x.shape,
    )
