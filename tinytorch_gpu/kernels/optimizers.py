"""Optimizer steps in one launch for each parameter: fused_sgd, fused_adam, fused_adamw.

Written with operators, a step of Adam is a dozen launches, each of which loads and
stores whole arrays. Fused, every element is loaded once and stored once. Parameter and
buffers are changed in place, as PyTorch's `_fused_adam_` does.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.kernels.layout import launch_elementwise
from tinytorch_gpu.kernels.operands import same_shape

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["fused_adam", "fused_adamw", "fused_sgd"]


@cuda.jit
def sgd_kernel(grad, lr, decay, param):
    """Step against the gradient, to which decay × param is added."""
    col, row = cuda.grid(2)
    if row < param.shape[0] and col < param.shape[1]:
        old = param[row, col]
        param[row, col] = old - lr * (grad[row, col] + decay * old)


@cuda.jit
def sgd_momentum_kernel(grad, buffer, lr, momentum, decay, param):
    """Step against a running sum of gradients, which loses 1 - momentum each time."""
    col, row = cuda.grid(2)
    if row < param.shape[0] and col < param.shape[1]:
        old = param[row, col]
        speed = momentum * buffer[row, col] + (grad[row, col] + decay * old)
        buffer[row, col] = speed
        param[row, col] = old - lr * speed


@library.impl("tinytorch::fused_sgd", "simgpu")
def fused_sgd(
    param: DeviceArray,
    grad: DeviceArray,
    buffer: DeviceArray | None = None,
    lr: float = 0.01,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
) -> DeviceArray:
    """Change param and buffer in place: v = momentum v + g, p = p - lr v; return param.

    Args:
        param: device array.
        grad: its gradient, same shape.
        buffer: v, zeros before the first step; None for a step without momentum.
        lr: learning rate.
        momentum: share of v that is kept.
        weight_decay: times p is added to the gradient.

    Raises:
        ShapeError: the shapes differ.

    Example:
        >>> import numpy as np
        >>> param, grad = (cuda.to_device(np.float32([n])) for n in (1, 2))
        >>> fused_sgd(param, grad, lr=0.25).copy_to_host().tolist()
        [0.5]
    """
    same_shape("fused_sgd", param, grad, *([] if buffer is None else [buffer]))
    rate, keep, decay = (param.dtype.type(n) for n in (lr, momentum, weight_decay))
    if buffer is None:
        return launch_elementwise(sgd_kernel, (grad, rate, decay), param)
    operands = (grad, buffer, rate, keep, decay)
    return launch_elementwise(sgd_momentum_kernel, operands, param)


@cuda.jit
def adam_kernel(
    grad, m, v, lr, beta1, beta2, rest1, rest2, root, eps, decay, shrink, param
):
    """Step by m / (root √v + eps), after both running means took the gradient in.

    `lr` and `root` hold the corrections for means that started from zeros.
    """
    col, row = cuda.grid(2)
    if row < param.shape[0] and col < param.shape[1]:
        old = param[row, col]
        slope = grad[row, col] + decay * old
        mean = beta1 * m[row, col] + rest1 * slope
        square = beta2 * v[row, col] + rest2 * (slope * slope)
        m[row, col] = mean
        v[row, col] = square
        param[row, col] = old * shrink - lr * mean / (math.sqrt(square) * root + eps)


@library.impl("tinytorch::fused_adam", "simgpu")
def fused_adam(
    param: DeviceArray,
    grad: DeviceArray,
    m: DeviceArray,
    v: DeviceArray,
    step: int,
    lr: float = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
) -> DeviceArray:
    """Do one step of Adam in place, on param, m and v; return param.

    Args:
        param: device array.
        grad: its gradient, same shape.
        m: running mean of gradients, zeros before the first step.
        v: running mean of their squares, zeros before the first step.
        step: number of this step, from 1.
        lr: learning rate.
        beta1: share of m that is kept.
        beta2: share of v that is kept.
        eps: keeps the division finite.
        weight_decay: times p is added to the gradient.

    Raises:
        ShapeError: the shapes differ.

    Example:
        >>> import numpy as np
        >>> param, grad, m, v = (cuda.to_device(np.float32([n])) for n in (1, 5, 0, 0))
        >>> round(fused_adam(param, grad, m, v, step=1, lr=0.1).item(), 6)
        0.9
    """
    same_shape("fused_adam", param, grad, m, v)
    _adam(param, (grad, m, v), step, (lr, beta1, beta2, eps), (weight_decay, 1.0))
    return param


@library.impl("tinytorch::fused_adamw", "simgpu")
def fused_adamw(
    param: DeviceArray,
    grad: DeviceArray,
    m: DeviceArray,
    v: DeviceArray,
    step: int,
    lr: float = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> DeviceArray:
    """Do one step of AdamW in place: as Adam, but p itself shrinks by lr weight_decay.

    Args:
        param: device array.
        grad: its gradient, same shape.
        m: running mean of gradients, zeros before the first step.
        v: running mean of their squares, zeros before the first step.
        step: number of this step, from 1.
        lr: learning rate.
        beta1: share of m that is kept.
        beta2: share of v that is kept.
        eps: keeps the division finite.
        weight_decay: share of p, times lr, that the step takes away.

    Raises:
        ShapeError: the shapes differ.
    """
    same_shape("fused_adamw", param, grad, m, v)
    shrink = 1.0 - lr * weight_decay
    _adam(param, (grad, m, v), step, (lr, beta1, beta2, eps), (0.0, shrink))
    return param


def _adam(
    param: DeviceArray,
    arrays: tuple[DeviceArray, DeviceArray, DeviceArray],
    step: int,
    rates: tuple[float, float, float, float],
    decays: tuple[float, float],
) -> None:
    """Launch the step; its numbers are computed in float64 on the host."""
    lr, beta1, beta2, eps = rates
    rate = lr / (1 - beta1**step)
    root = 1 / math.sqrt(1 - beta2**step)
    numbers = (rate, beta1, beta2, 1 - beta1, 1 - beta2, root, eps, *decays)
    given = (param.dtype.type(number) for number in numbers)
    launch_elementwise(adam_kernel, (*arrays, *given), param)
