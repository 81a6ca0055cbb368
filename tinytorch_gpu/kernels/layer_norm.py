"""Layer normalisation over the last axis, and its gradients.

Two versions, as in `softmax_kernels.py`: one thread for each row, or one block for each
row when it fills a warp. Mean and variance are found in two passes, the mean first, so
that no large squares cancel; backward finds them again instead of keeping them. With
x̂ = (x - mean) / √(var + eps) and g = grad × weight, the gradient by x is
(g - mean g - x̂ mean(g x̂)) / √(var + eps).
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tinytorch_gpu import cuda, library
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.block_sums import block_sum
from tinytorch_gpu.kernels.copying import in_reals
from tinytorch_gpu.kernels.layout import block_of_row, configuration
from tinytorch_gpu.kernels.operands import FLOAT32, real_dtype, same_shape
from tinytorch_gpu.kernels.reduce import SHORT, reduce_sum

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["layer_norm", "layer_norm_backward"]

THREADS = 256  # most threads of a block, and length of the shared array


@cuda.jit
def layer_norm_threads_kernel(x, weight, bias, eps, out):
    """Store x̂ × weight + bias for x and out (rows, n); one thread a row."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        count = float32(x.shape[1])
        total = float32(0.0)
        for k in range(x.shape[1]):
            total += x[row, k]
        mean = total / count
        squares = float32(0.0)
        for k in range(x.shape[1]):
            squares += (x[row, k] - mean) * (x[row, k] - mean)
        scale = float32(1.0) / math.sqrt(squares / count + eps)
        for k in range(x.shape[1]):
            out[row, k] = (x[row, k] - mean) * scale * weight[k] + bias[k]


@cuda.jit
def layer_norm_blocks_kernel(x, weight, bias, eps, out):
    """Store x̂ × weight + bias for x and out (rows, n); one block a row."""
    cache = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    n = x.shape[1]
    total = float32(0.0)
    for k in range(tid, n, cuda.blockDim.x):
        total += x[row, k]
    mean = block_sum(cache, total) / float32(n)
    squares = float32(0.0)
    for k in range(tid, n, cuda.blockDim.x):
        squares += (x[row, k] - mean) * (x[row, k] - mean)
    variance = block_sum(cache, squares) / float32(n)
    scale = float32(1.0) / math.sqrt(variance + eps)
    for k in range(tid, n, cuda.blockDim.x):
        out[row, k] = (x[row, k] - mean) * scale * weight[k] + bias[k]


@library.impl("tinytorch::layer_norm", "simgpu")
def layer_norm(
    x: DeviceArray, weight: DeviceArray, bias: DeviceArray, eps: float = 1e-5
) -> DeviceArray:
    """Return (x - mean) / √(var + eps) × weight + bias, along the last axis.

    Args:
        x: device array (..., n).
        weight: device array (n,).
        bias: device array (n,).
        eps: keeps the division finite.

    Raises:
        ShapeError: the shapes do not fit.

    Example:
        >>> import numpy as np
        >>> rows = np.float32([[1, 3], [1, 1], [0, 0]])
        >>> x, one, zero = (cuda.to_device(row) for row in rows)
        >>> layer_norm(x, one, zero, eps=0.0).copy_to_host().tolist()
        [-1.0, 1.0]
    """
    _check_shapes("layer_norm", x, weight, bias)
    (x,) = in_reals(x)
    out = cuda.device_array(x.shape, real_dtype(x.dtype))
    pair = (layer_norm_threads_kernel, layer_norm_blocks_kernel)
    rows = _rows(x)
    _launch(pair, (rows, weight, bias, out.dtype.type(eps), _rows(out)), rows)
    return out


@cuda.jit
def layer_norm_backward_threads_kernel(grad, x, weight, eps, terms, out):
    """Store the gradient by x, and grad × x̂ in terms, (rows, n); one thread a row."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        count = float32(x.shape[1])
        total = float32(0.0)
        for k in range(x.shape[1]):
            total += x[row, k]
        mean = total / count
        squares = float32(0.0)
        for k in range(x.shape[1]):
            squares += (x[row, k] - mean) * (x[row, k] - mean)
        scale = float32(1.0) / math.sqrt(squares / count + eps)
        slopes = float32(0.0)
        tilt = float32(0.0)
        for k in range(x.shape[1]):
            hat = (x[row, k] - mean) * scale
            terms[row, k] = grad[row, k] * hat
            slopes += grad[row, k] * weight[k]
            tilt += grad[row, k] * weight[k] * hat
        for k in range(x.shape[1]):
            hat = (x[row, k] - mean) * scale
            slope = grad[row, k] * weight[k]
            out[row, k] = (slope - (slopes + hat * tilt) / count) * scale


@cuda.jit
def layer_norm_backward_blocks_kernel(grad, x, weight, eps, terms, out):
    """Store the gradient by x, and grad × x̂ in terms, (rows, n); one block a row."""
    cache = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    n = x.shape[1]
    count = float32(n)
    total = float32(0.0)
    for k in range(tid, n, cuda.blockDim.x):
        total += x[row, k]
    mean = block_sum(cache, total) / count
    squares = float32(0.0)
    for k in range(tid, n, cuda.blockDim.x):
        squares += (x[row, k] - mean) * (x[row, k] - mean)
    scale = float32(1.0) / math.sqrt(block_sum(cache, squares) / count + eps)
    slopes = float32(0.0)
    tilt = float32(0.0)
    for k in range(tid, n, cuda.blockDim.x):
        hat = (x[row, k] - mean) * scale
        terms[row, k] = grad[row, k] * hat
        slopes += grad[row, k] * weight[k]
        tilt += grad[row, k] * weight[k] * hat
    slopes = block_sum(cache, slopes)
    tilt = block_sum(cache, tilt)
    for k in range(tid, n, cuda.blockDim.x):
        hat = (x[row, k] - mean) * scale
        slope = grad[row, k] * weight[k]
        out[row, k] = (slope - (slopes + hat * tilt) / count) * scale


@library.impl("tinytorch::layer_norm_backward", "simgpu")
def layer_norm_backward(
    grad: DeviceArray, x: DeviceArray, weight: DeviceArray, eps: float = 1e-5
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Return the gradients by x, weight and bias.

    Args:
        grad: gradient of the loss by the output, (..., n).
        x: what `layer_norm` was given.
        weight: what `layer_norm` was given.
        eps: what `layer_norm` was given.

    Returns:
        Device arrays of the shape of x, (n,) and (n,).

    Raises:
        ShapeError: the shapes do not fit.
    """
    _check_shapes("layer_norm_backward", x, weight, weight)
    same_shape("layer_norm_backward", grad, x)
    (x,) = in_reals(x)
    out, terms = (cuda.device_array(x.shape, real_dtype(x.dtype)) for _ in range(2))
    pair = (layer_norm_backward_threads_kernel, layer_norm_backward_blocks_kernel)
    rows, number = _rows(x), out.dtype.type(eps)
    _launch(pair, (_rows(grad), rows, weight, number, _rows(terms), _rows(out)), rows)
    return out, reduce_sum(_rows(terms), 0), reduce_sum(_rows(grad), 0)


def _launch(
    pair: tuple[Any, Any], arguments: tuple[Any, ...], rows: DeviceArray
) -> None:
    """Launch the version that suits rows (rows, n)."""
    if not rows.size:
        return
    threads, blocks = pair
    is_wide = rows.shape[1] >= SHORT and abs(rows.strides[1]) <= abs(rows.strides[0])
    if is_wide and rows.dtype == FLOAT32:
        blocks[rows.shape[0], block_of_row(rows.shape[1], THREADS)](*arguments)
    else:
        threads[configuration(rows.shape[0])](*arguments)


def _rows(x: DeviceArray) -> DeviceArray:
    return x.reshape(x.size // x.shape[-1] if x.shape[-1] else 0, x.shape[-1])


def _check_shapes(
    op: str, x: DeviceArray, weight: DeviceArray, bias: DeviceArray
) -> None:
    if x.ndim and weight.shape == bias.shape == x.shape[-1:]:
        return
    raise ShapeError(
        f"{op}: x {x.shape}, weight {weight.shape}, bias {bias.shape}",
        where=f"tinytorch::{op}",
        why="each place of the last axis has its own weight and bias",
        fix="pass weight and bias of shape x.shape[-1:]",
        shapes=(x.shape, weight.shape, bias.shape),
    )
