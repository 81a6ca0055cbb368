"""Gradients of the activations, element by element.

Ops: relu_backward, sigmoid_backward, tanh_backward, gelu_backward. Each takes the
gradient of the loss by the output, and what its forward step kept: the input x for relu
and gelu, the output for sigmoid and tanh. One thread computes one element.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tinytorch_gpu import cuda, library
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.kernels.layout import launch_elementwise
from tinytorch_gpu.kernels.operands import prepared_out, result_dtype, same_shape
from tinytorch_gpu.kernels.unary import GELU_SLOPE

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["gelu_backward", "relu_backward", "sigmoid_backward", "tanh_backward"]


def _launch(op: str, kernel: Any, grad: DeviceArray, kept: DeviceArray) -> DeviceArray:
    same_shape(op, grad, kept)
    out = prepared_out(op, None, grad.shape, result_dtype(grad, kept))
    return launch_elementwise(kernel, (grad, kept), out)


@cuda.jit
def relu_backward_kernel(grad, x, out):
    """Store grad where x is positive, else 0."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        slope = grad[row, col]
        out[row, col] = slope if x[row, col] > float32(0.0) else float32(0.0)


@library.impl("tinytorch::relu_backward", "simgpu")
def relu_backward(grad: DeviceArray, x: DeviceArray) -> DeviceArray:
    """Return grad where x is positive, else 0.

    Args:
        grad: gradient of the loss by relu(x).
        x: what relu was given.

    Raises:
        ShapeError: the shapes differ.
    """
    return _launch("relu_backward", relu_backward_kernel, grad, x)


@cuda.jit
def sigmoid_backward_kernel(grad, output, out):
    """Store grad × output × (1 - output)."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        s = output[row, col]
        out[row, col] = grad[row, col] * s * (float32(1.0) - s)


@library.impl("tinytorch::sigmoid_backward", "simgpu")
def sigmoid_backward(grad: DeviceArray, output: DeviceArray) -> DeviceArray:
    """Return grad × output × (1 - output).

    Args:
        grad: gradient of the loss by the output.
        output: what sigmoid returned.

    Raises:
        ShapeError: the shapes differ.
    """
    return _launch("sigmoid_backward", sigmoid_backward_kernel, grad, output)


@cuda.jit
def tanh_backward_kernel(grad, output, out):
    """Store grad × (1 - output²)."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        t = output[row, col]
        out[row, col] = grad[row, col] * (float32(1.0) - t * t)


@library.impl("tinytorch::tanh_backward", "simgpu")
def tanh_backward(grad: DeviceArray, output: DeviceArray) -> DeviceArray:
    """Return grad × (1 - output²).

    Args:
        grad: gradient of the loss by the output.
        output: what tanh returned.

    Raises:
        ShapeError: the shapes differ.
    """
    return _launch("tanh_backward", tanh_backward_kernel, grad, output)


@cuda.jit
def gelu_backward_kernel(grad, x, out):
    """Store grad × (s + 1.702 x s (1 - s)), where s = sigmoid(1.702 x)."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        scaled = GELU_SLOPE * x[row, col]
        s = float32(1.0) / (float32(1.0) + math.exp(-scaled))
        out[row, col] = grad[row, col] * (s + scaled * s * (float32(1.0) - s))


@library.impl("tinytorch::gelu_backward", "simgpu")
def gelu_backward(grad: DeviceArray, x: DeviceArray) -> DeviceArray:
    """Return the gradient of x × sigmoid(1.702 x).

    Args:
        grad: gradient of the loss by gelu(x).
        x: what gelu was given.

    Raises:
        ShapeError: the shapes differ.
    """
    return _launch("gelu_backward", gelu_backward_kernel, grad, x)
