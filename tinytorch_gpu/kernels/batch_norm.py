"""Batch normalisation by channel, and its gradients; x is (N, C, ...).

Mean and variance of a batch are reductions, the ops `mean` and `sum`; with running ones
given, a step is one launch. In training the gradient passes through mean and variance
as well, in evaluation they are constants.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.elementwise import sub
from tinytorch_gpu.kernels.operands import real_dtype, same_shape
from tinytorch_gpu.kernels.reduce import reduce_mean, reduce_sum
from tinytorch_gpu.kernels.rows import around, launch_flat
from tinytorch_gpu.kernels.unary import square

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["batch_norm", "batch_norm_backward", "batch_statistics"]


@cuda.jit
def batch_norm_kernel(x, weight, bias, mean, var, eps, out):
    """Store (x - mean) / √(var + eps) × weight + bias, for (N, C, places)."""
    element = cuda.grid(1)
    if element < out.size:
        image = element // (out.shape[1] * out.shape[2])
        c = element // out.shape[2] % out.shape[1]
        place = element % out.shape[2]
        hat = (x[image, c, place] - mean[c]) / math.sqrt(var[c] + eps)
        out[image, c, place] = hat * weight[c] + bias[c]


@library.impl("tinytorch::batch_norm", "simgpu")
def batch_norm(
    x: DeviceArray,
    weight: DeviceArray,
    bias: DeviceArray,
    mean: DeviceArray | None = None,
    var: DeviceArray | None = None,
    eps: float = 1e-5,
) -> DeviceArray:
    """Return (x - mean) / √(var + eps) × weight + bias, each channel with its own.

    Args:
        x: device array (N, C, ...).
        weight: device array (C,).
        bias: device array (C,).
        mean: device array (C,), running mean; that of the batch if None.
        var: device array (C,), running variance; that of the batch if None.
        eps: keeps the division finite.

    Raises:
        ShapeError: the shapes do not fit.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([[1], [3]]))
        >>> one, zero = cuda.to_device(np.float32([1])), cuda.to_device(np.float32([0]))
        >>> batch_norm(x, one, zero, eps=0.0).copy_to_host().tolist()
        [[-1.0], [1.0]]
    """
    if mean is None or var is None:
        mean, var = batch_statistics(x)
    _check_shapes("batch_norm", x, weight, bias, mean, var)
    out = cuda.device_array(x.shape, real_dtype(x.dtype))
    if out.size:
        number = out.dtype.type(eps)
        arguments = (around(x, 1), weight, bias, mean, var, number, around(out, 1))
        launch_flat(batch_norm_kernel, arguments, out.size)
    return out


def batch_statistics(x: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    """Return mean and variance of each channel of x (N, C, ...), each (C,).

    The variance is divided by the number of elements, not by one less.
    """
    _check_axes("batch_norm", x)
    axes = tuple(i for i in range(x.ndim) if i != 1)
    mean = reduce_mean(x, axes, keepdims=True)
    var = reduce_mean(square(sub(x, mean)), axes)
    return mean.reshape(-1), var


@cuda.jit
def batch_norm_terms_kernel(grad, x, mean, var, eps, out):
    """Store grad × x̂: what the gradient by the weight sums up."""
    element = cuda.grid(1)
    if element < out.size:
        image = element // (out.shape[1] * out.shape[2])
        c = element // out.shape[2] % out.shape[1]
        place = element % out.shape[2]
        hat = (x[image, c, place] - mean[c]) / math.sqrt(var[c] + eps)
        out[image, c, place] = grad[image, c, place] * hat


@cuda.jit
def batch_norm_backward_kernel(
    grad, x, weight, mean, var, by_weight, by_bias, share, eps, out
):
    """Store (grad - share (Σ grad + x̂ Σ grad x̂)) weight / √(var + eps)."""
    element = cuda.grid(1)
    if element < out.size:
        image = element // (out.shape[1] * out.shape[2])
        c = element // out.shape[2] % out.shape[1]
        place = element % out.shape[2]
        root = math.sqrt(var[c] + eps)
        hat = (x[image, c, place] - mean[c]) / root
        common = share * (by_bias[c] + hat * by_weight[c])
        out[image, c, place] = (grad[image, c, place] - common) * weight[c] / root


@library.impl("tinytorch::batch_norm_backward", "simgpu")
def batch_norm_backward(
    grad: DeviceArray,
    x: DeviceArray,
    weight: DeviceArray,
    mean: DeviceArray | None = None,
    var: DeviceArray | None = None,
    eps: float = 1e-5,
    training: bool = True,
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Return the gradients by x, weight and bias.

    Args:
        grad: gradient of the loss by the output, same shape as x.
        x: what `batch_norm` was given.
        weight: what `batch_norm` was given.
        mean: what x was normalised with; that of the batch if None.
        var: what x was normalised with; that of the batch if None.
        eps: what `batch_norm` was given.
        training: mean and var are those of this batch, so x acts through them too.

    Returns:
        Device arrays of the shape of x, (C,) and (C,).

    Raises:
        ShapeError: the shapes do not fit.
    """
    op = "batch_norm_backward"
    same_shape(op, grad, x)
    if mean is None or var is None:
        mean, var = batch_statistics(x)
    _check_shapes(op, x, weight, weight, mean, var)
    out = cuda.device_array(x.shape, real_dtype(x.dtype))
    terms, number = cuda.device_array_like(out), out.dtype.type(eps)
    slopes, images = around(grad, 1), around(x, 1)
    arguments = (slopes, images, mean, var, number, around(terms, 1))
    launch_flat(batch_norm_terms_kernel, arguments, out.size)
    by_weight = reduce_sum(around(terms, 1), (0, 2))
    by_bias = reduce_sum(slopes, (0, 2))
    count = x.size // max(1, x.shape[1])
    share = out.dtype.type(1 / count if training and count else 0)
    sums = (by_weight, by_bias, share, number, around(out, 1))
    launch_flat(
        batch_norm_backward_kernel, (slopes, images, weight, mean, var, *sums), out.size
    )
    return out, by_weight, by_bias


def _check_axes(op: str, x: DeviceArray) -> None:
    if x.ndim < 2:
        raise ShapeError(
            f"{op}: x has shape {x.shape}",
            where=f"tinytorch::{op}",
            why="x is (N, C, ...): channels are the second axis",
            fix="reshape it, for example x.reshape(-1, 1) for one channel",
            shape=x.shape,
        )


def _check_shapes(op: str, x: DeviceArray, *given: DeviceArray) -> None:
    _check_axes(op, x)
    shapes = tuple(a.shape for a in given)
    if any(shape != x.shape[1:2] for shape in shapes):
        raise ShapeError(
            f"{op}: weight, bias, mean and var have shapes {shapes}",
            where=f"tinytorch::{op}, x {x.shape}",
            why=f"x has {x.shape[1]} channels, and each channel one of these",
            fix=f"pass arrays of shape ({x.shape[1]},)",
            shapes=(x.shape, *shapes),
        )
