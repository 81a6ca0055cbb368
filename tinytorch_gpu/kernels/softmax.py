"""softmax, log_softmax and their gradients along one axis.

Comes in: an array and `dim`. The axis becomes the middle one of a view (outer, n,
inner), and one of two kernels is launched: one block for each row where n is contiguous
and fills a warp, else one thread for each slice. The kernels of the gradients stand
here, those of the functions in `softmax_kernels.py`.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tinytorch_gpu import cuda, library
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.kernels import softmax_kernels as kernels
from tinytorch_gpu.kernels.copying import copy, in_reals
from tinytorch_gpu.kernels.layout import (
    MAX_GRID_YZ,
    block_of_row,
    configuration,
    split_axis,
)
from tinytorch_gpu.kernels.operands import real_dtype, same_shape
from tinytorch_gpu.kernels.reduce import is_row_wise, normalized_axes
from tinytorch_gpu.kernels.softmax_kernels import THREADS

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = [
    "launch_along",
    "log_softmax",
    "log_softmax_backward",
    "softmax",
    "softmax_backward",
]


@library.impl("tinytorch::softmax", "simgpu")
def softmax(x: DeviceArray, dim: int = -1, of_blank: float = 0.0) -> DeviceArray:
    """Return exp(x) divided by its sum along `dim`.

    Args:
        x: device array; integers give float64.
        dim: the axis along which results sum to 1.
        of_blank: what there is where all x are -inf: 0 as in TinyTorch, or NaN as in
            PyTorch and in TinyTorch's first releases.

    Raises:
        ShapeError: there is no such axis.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([[1000, 1000], [0, -1000]]))
        >>> softmax(x).copy_to_host().tolist()
        [[0.5, 0.5], [1.0, 0.0]]
    """
    if math.isnan(of_blank):
        pair = (
            kernels.softmax_columns_or_nan_kernel,
            kernels.softmax_rows_or_nan_kernel,
        )
    else:
        pair = (kernels.softmax_columns_kernel, kernels.softmax_rows_kernel)
    return launch_along("softmax", pair, (x,), dim)


@library.impl("tinytorch::log_softmax", "simgpu")
def log_softmax(x: DeviceArray, dim: int = -1) -> DeviceArray:
    """Return the logarithm of softmax along `dim`, without taking one of 0.

    Args:
        x: device array; integers give float64.
        dim: the axis along which probabilities sum to 1.

    Raises:
        ShapeError: there is no such axis.

    Example:
        >>> import numpy as np
        >>> log_softmax(cuda.to_device(np.float32([0, -1000]))).copy_to_host().tolist()
        [0.0, -1000.0]
    """
    pair = (kernels.log_softmax_columns_kernel, kernels.log_softmax_rows_kernel)
    return launch_along("log_softmax", pair, (x,), dim)


@cuda.jit
def softmax_backward_columns_kernel(grad, output, out):
    """Store output × (grad - sum of grad × output), along n of (outer, n, inner)."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[2]:
        total = float32(0.0)
        for k in range(out.shape[1]):
            total += grad[row, k, col] * output[row, k, col]
        for k in range(out.shape[1]):
            out[row, k, col] = output[row, k, col] * (grad[row, k, col] - total)


@cuda.jit
def softmax_backward_rows_kernel(grad, output, out):
    """Store output × (grad - sum of grad × output), along n of (rows, n)."""
    cache = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    total = float32(0.0)
    for k in range(tid, out.shape[1], cuda.blockDim.x):
        total += grad[row, k] * output[row, k]
    cache[tid] = total
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] += cache[tid + half]
        cuda.syncthreads()
        half //= 2
    for k in range(tid, out.shape[1], cuda.blockDim.x):
        out[row, k] = output[row, k] * (grad[row, k] - cache[0])


@library.impl("tinytorch::softmax_backward", "simgpu")
def softmax_backward(
    grad: DeviceArray, output: DeviceArray, dim: int = -1
) -> DeviceArray:
    """Return the gradient of softmax: output × (grad - sum of grad × output).

    Args:
        grad: gradient of the loss by the output, same shape.
        output: what `softmax` returned.
        dim: the axis that `softmax` was given.

    Raises:
        ShapeError: the shapes differ, or there is no such axis.
    """
    pair = (softmax_backward_columns_kernel, softmax_backward_rows_kernel)
    return launch_along("softmax_backward", pair, (grad, output), dim)


@cuda.jit
def log_softmax_backward_columns_kernel(grad, output, out):
    """Store grad - exp(output) × sum of grad, along n of (outer, n, inner)."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[2]:
        total = float32(0.0)
        for k in range(out.shape[1]):
            total += grad[row, k, col]
        for k in range(out.shape[1]):
            out[row, k, col] = grad[row, k, col] - math.exp(output[row, k, col]) * total


@cuda.jit
def log_softmax_backward_rows_kernel(grad, output, out):
    """Store grad - exp(output) × sum of grad, along n of (rows, n)."""
    cache = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    total = float32(0.0)
    for k in range(tid, out.shape[1], cuda.blockDim.x):
        total += grad[row, k]
    cache[tid] = total
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] += cache[tid + half]
        cuda.syncthreads()
        half //= 2
    for k in range(tid, out.shape[1], cuda.blockDim.x):
        out[row, k] = grad[row, k] - math.exp(output[row, k]) * cache[0]


@library.impl("tinytorch::log_softmax_backward", "simgpu")
def log_softmax_backward(
    grad: DeviceArray, output: DeviceArray, dim: int = -1
) -> DeviceArray:
    """Return the gradient of log_softmax: grad - exp(output) × sum of grad.

    Args:
        grad: gradient of the loss by the output, same shape.
        output: what `log_softmax` returned.
        dim: the axis that `log_softmax` was given.

    Raises:
        ShapeError: the shapes differ, or there is no such axis.
    """
    pair = (log_softmax_backward_columns_kernel, log_softmax_backward_rows_kernel)
    return launch_along("log_softmax_backward", pair, (grad, output), dim)


def launch_along(
    op: str, pair: tuple[Any, Any], operands: tuple[DeviceArray, ...], dim: int
) -> DeviceArray:
    """Launch the kernel of a pair (columns, rows) that suits the axis.

    Args:
        op: the op's name, for errors.
        pair: `kernel(*operands, out)` over (outer, n, inner), and over (rows, n).
        operands: device arrays of one shape; the first one's dtype is the result's.
        dim: the axis.

    Returns:
        A new contiguous array of the operands' shape.

    Raises:
        ShapeError: the shapes differ, or there is no such axis.
    """
    same_shape(op, *operands)
    x = operands[0]
    axes = normalized_axes(op, x, dim)
    out = cuda.device_array(x.shape, real_dtype(x.dtype))
    if not out.size:
        return out
    operands = in_reals(*operands)
    views = split_axis((*operands, out), axes)
    if views is None:
        contiguous = [o if o.is_c_contiguous() else copy(o) for o in operands]
        views = split_axis((*contiguous, out), axes) or []
    columns, rows = pair
    outer, n, inner = views[0].shape
    if all(is_row_wise(v) for v in views):
        rows[inner, block_of_row(n, THREADS)](*(v[0].T for v in views))
    else:
        for first in range(0, outer, MAX_GRID_YZ):
            part = [v[first : first + MAX_GRID_YZ] for v in views]
            grid, block = configuration(inner, len(part[0]))
            columns[grid, block](*part)
    return out
