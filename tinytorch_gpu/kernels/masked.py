"""Ops with a mask: masked_fill, dropout, tril and triu.

A mask is a device array; what is not zero in it is true. The random mask of dropout is
given, so the op itself is the same every time.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.layout import launch_elementwise
from tinytorch_gpu.kernels.operands import (
    FLOAT32,
    common_shape,
    prepared_out,
    without_overlap,
)
from tinytorch_gpu.kernels.rows import launch_flat

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["dropout", "dropout_backward", "masked_fill", "tril", "triu"]


@cuda.jit
def masked_fill_kernel(x, mask, value, out):
    """Store value where the mask is true, else x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        kept = x[row, col]
        out[row, col] = value if mask[row, col] else kept


@library.impl("tinytorch::masked_fill", "simgpu")
def masked_fill(
    x: DeviceArray, mask: DeviceArray, value: float, out: DeviceArray | None = None
) -> DeviceArray:
    """Return x with one value where the mask is true.

    Args:
        x: device array.
        mask: device array that broadcasts to x; what is not zero is true.
        value: number, converted to the dtype of x.
        out: where to write, may be x itself; a new array if None.

    Raises:
        ShapeError: the mask does not broadcast to the shape of x.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([1, 2]))
        >>> mask = cuda.to_device(np.array([True, False]))
        >>> masked_fill(x, mask, -9).copy_to_host().tolist()
        [-9.0, 2.0]
    """
    _check_mask("masked_fill", x, mask)
    out = prepared_out("masked_fill", out, x.shape, x.dtype)
    operands = [without_overlap(o, out) for o in (x, mask)]
    number = x.dtype.type(value)
    return launch_elementwise(masked_fill_kernel, (*operands, number), out)


@cuda.jit
def dropout_kernel(x, mask, scale, out):
    """Store x × scale where the mask is true, else 0."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        kept = x[row, col] * scale
        out[row, col] = kept if mask[row, col] else float32(0.0)


@library.impl("tinytorch::dropout", "simgpu")
def dropout(x: DeviceArray, mask: DeviceArray, p: float = 0.5) -> DeviceArray:
    """Return x / (1 - p) where the mask is true, else 0.

    Args:
        x: device array.
        mask: device array that broadcasts to x: what stays.
        p: share of elements that is dropped, 0 to 1; it only scales the others.

    Raises:
        ShapeError: the mask does not broadcast to the shape of x.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([1, 2]))
        >>> mask = cuda.to_device(np.array([True, False]))
        >>> dropout(x, mask, 0.5).copy_to_host().tolist()
        [2.0, 0.0]
    """
    _check_mask("dropout", x, mask)
    dtype = x.dtype if x.dtype.kind == "f" else FLOAT32
    scale = dtype.type(1 / (1 - p) if p < 1 else 0)
    out = cuda.device_array(x.shape, dtype)
    return launch_elementwise(dropout_kernel, (x, mask, scale), out)


@library.impl("tinytorch::dropout_backward", "simgpu")
def dropout_backward(
    grad: DeviceArray, mask: DeviceArray, p: float = 0.5
) -> DeviceArray:
    """Return the gradient by x: what passed forward passes back, scaled alike.

    Args:
        grad: gradient of the loss by the output.
        mask: what `dropout` was given.
        p: what `dropout` was given.

    Raises:
        ShapeError: the mask does not broadcast to the shape of grad.
    """
    return dropout(grad, mask, p)


def _check_mask(op: str, x: DeviceArray, mask: DeviceArray) -> None:
    if common_shape(op, x, mask) != x.shape:
        raise ShapeError(
            f"{op}: mask {mask.shape} is larger than x {x.shape}",
            where=f"tinytorch::{op}",
            why="each element of x has one entry of the mask",
            fix="broadcast x first, or take a mask of the shape of x",
            shapes=(x.shape, mask.shape),
        )


@cuda.jit
def tril_kernel(x, diagonal, out):
    """Store x (batch, rows, columns) on and below a diagonal, 0 above."""
    element = cuda.grid(1)
    if element < out.size:
        matrix = element // (out.shape[1] * out.shape[2])
        row = element // out.shape[2] % out.shape[1]
        col = element % out.shape[2]
        kept = x[matrix, row, col]
        out[matrix, row, col] = kept if col - row <= diagonal else float32(0.0)


@cuda.jit
def triu_kernel(x, diagonal, out):
    """Store x (batch, rows, columns) on and above a diagonal, 0 below."""
    element = cuda.grid(1)
    if element < out.size:
        matrix = element // (out.shape[1] * out.shape[2])
        row = element // out.shape[2] % out.shape[1]
        col = element % out.shape[2]
        kept = x[matrix, row, col]
        out[matrix, row, col] = kept if col - row >= diagonal else float32(0.0)


@library.impl("tinytorch::tril", "simgpu")
def tril(x: DeviceArray, diagonal: int = 0) -> DeviceArray:
    """Return the lower triangle of the last two axes, 0 above.

    Args:
        x: device array (..., rows, columns).
        diagonal: how many columns right of the main one the last kept diagonal is.

    Raises:
        ShapeError: x has fewer than two axes.

    Example:
        >>> import numpy as np
        >>> tril(cuda.to_device(np.ones((2, 2)))).copy_to_host().tolist()
        [[1.0, 0.0], [1.0, 1.0]]
    """
    return _triangle("tril", tril_kernel, x, diagonal)


@library.impl("tinytorch::triu", "simgpu")
def triu(x: DeviceArray, diagonal: int = 0) -> DeviceArray:
    """Return the upper triangle of the last two axes, 0 below.

    Args:
        x: device array (..., rows, columns).
        diagonal: how many columns right of the main one the first kept diagonal is.

    Raises:
        ShapeError: x has fewer than two axes.
    """
    return _triangle("triu", triu_kernel, x, diagonal)


def _triangle(op: str, kernel: object, x: DeviceArray, diagonal: int) -> DeviceArray:
    if x.ndim < 2:
        raise ShapeError(
            f"{op}: x has shape {x.shape}",
            where=f"tinytorch::{op}",
            why="a triangle is one of rows and columns, the last two axes",
            fix="reshape x, for example x.reshape(1, -1)",
            shape=x.shape,
        )
    out = cuda.device_array(x.shape, x.dtype)
    if out.size:
        views = [a.reshape(-1, *x.shape[-2:]) for a in (x, out)]
        launch_flat(kernel, (views[0], diagonal, views[1]), out.size)
    return out
