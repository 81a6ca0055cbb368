"""The op matmul: shapes as in `np.matmul`, and which kernel computes them.

Comes in: arrays of one or more axes. Two matrices of float32 of which no side is
shorter than a tile go to `matmul_tiled`, other pairs to `matmul_naive`, stacks of
matrices to `matmul_batched`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.copying import fill
from tinytorch_gpu.kernels.layout import MAX_GRID_YZ, configuration
from tinytorch_gpu.kernels.matmul_kernels import (
    TILE,
    matmul_batched,
    matmul_naive,
    matmul_tiled,
)
from tinytorch_gpu.kernels.operands import FLOAT32

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["bmm", "matmul"]


@library.impl("tinytorch::matmul", "simgpu")
def matmul(a: DeviceArray, b: DeviceArray) -> DeviceArray:
    """Return the matrix product of a and b, as `np.matmul` does.

    Args:
        a: device array (..., m, k), or (k,) for one row.
        b: device array (..., k, n), or (k,) for one column.

    Returns:
        (..., m, n) without the axes that a one-dimensional operand lacks.

    Raises:
        ShapeError: an operand has no axis, or the lengths do not fit.

    Example:
        >>> import numpy as np
        >>> a = cuda.to_device(np.ones((2, 3), np.float32))
        >>> matmul(a, a.T).copy_to_host().tolist()
        [[3.0, 3.0], [3.0, 3.0]]

    Limits: a stack whose batch axes no single stride joins is copied first.
    """
    _check_shapes(a, b)
    rows = a if a.ndim > 1 else a.reshape(1, -1)
    columns = b if b.ndim > 1 else b.reshape(-1, 1)
    batch = _batch_shape(a, b, rows, columns)
    shape = (*batch, rows.shape[-2], columns.shape[-1])
    out = cuda.device_array(shape, np.result_type(a.dtype, b.dtype))
    if out.size and not rows.shape[-1]:
        fill(out, 0)  # a sum of nothing
    elif out.size and batch:
        _launch_batched(rows, columns, out)
    elif out.size:
        _launch(rows, columns, out)
    return out.reshape(
        (*batch, *a.shape[-2:-1], *(columns.shape[-1:] if b.ndim > 1 else ()))
    )


@library.impl("tinytorch::bmm", "simgpu")
def bmm(a: DeviceArray, b: DeviceArray) -> DeviceArray:
    """Return the products of two stacks of matrices; `matmul` without broadcasting.

    Args:
        a: device array (batch, m, k).
        b: device array (batch, k, n).

    Returns:
        Device array (batch, m, n).

    Raises:
        ShapeError: the shapes are not these.

    Example:
        >>> import numpy as np
        >>> a = cuda.to_device(np.ones((5, 2, 3), np.float32))
        >>> bmm(a, a.transpose(0, 2, 1)).shape
        (5, 2, 2)
    """
    if a.ndim != 3 or b.ndim != 3 or len(a) != len(b):
        raise ShapeError(
            f"bmm: operands of shape {a.shape} and {b.shape}",
            where="tinytorch::bmm",
            why="bmm takes two stacks of as many matrices, three axes each",
            fix="use matmul, which broadcasts",
            shapes=(a.shape, b.shape),
        )
    return matmul(a, b)


def _launch(a: DeviceArray, b: DeviceArray, out: DeviceArray) -> None:
    """Multiply two matrices; tiles pay when every side fills one."""
    is_single = a.dtype == b.dtype == FLOAT32
    if is_single and min(*a.shape, *b.shape) >= TILE:
        grid = tuple(-(-n // TILE) for n in out.shape[::-1])
        matmul_tiled[grid, (TILE, TILE)](a, b, out)
    else:
        for first in range(0, len(out), MAX_GRID_YZ):
            part, target = (x[first : first + MAX_GRID_YZ] for x in (a, out))
            grid, block = configuration(*target.shape[::-1])
            matmul_naive[grid, block](part, b, target)


def _launch_batched(a: DeviceArray, b: DeviceArray, out: DeviceArray) -> None:
    """Multiply stacks of matrices: one launch for as many as a grid holds."""
    batch = out.shape[:-2]
    pair = [_stacked(x.broadcast_to((*batch, *x.shape[-2:]))) for x in (a, b)]
    stack = out.reshape(-1, *out.shape[-2:])
    for first in range(0, len(stack), MAX_GRID_YZ):
        part = [x[first : first + MAX_GRID_YZ] for x in (*pair, stack)]
        grid, block = configuration(*part[-1].shape[::-1])
        matmul_batched[grid, block](*part)


def _stacked(x: DeviceArray) -> DeviceArray:
    """View (..., m, n) as (batch, m, n); `reshape` copies where no stride does."""
    return x.reshape(-1, *x.shape[-2:])


def _check_shapes(a: DeviceArray, b: DeviceArray) -> None:
    if not (a.ndim and b.ndim):
        raise ShapeError(
            f"matmul: operands of shape {a.shape} and {b.shape}",
            where="tinytorch::matmul",
            why="both operands have at least one axis; a number has none",
            fix="multiply with *",
            shapes=(a.shape, b.shape),
        )
    inner_a, inner_b = a.shape[-1], b.shape[-2 if b.ndim > 1 else 0]
    if inner_a != inner_b:
        raise ShapeError(
            f"matmul: inner dimensions {inner_a} and {inner_b} differ, "
            f"shapes {a.shape} and {b.shape}",
            where="tinytorch::matmul",
            why="each row of a meets a column of b of the same length: (m, k) @ (k, n)",
            fix="transpose an operand, for example a @ b.T",
            shapes=(a.shape, b.shape),
        )


def _batch_shape(
    a: DeviceArray, b: DeviceArray, rows: DeviceArray, columns: DeviceArray
) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    except ValueError:
        raise ShapeError(
            f"matmul: batch axes of {a.shape} and {b.shape} do not broadcast",
            where="tinytorch::matmul",
            why="axes before the last two are equal, or 1, counted from the end",
            fix="reshape an operand so that the batch axes fit",
            shapes=(a.shape, b.shape),
        ) from None
