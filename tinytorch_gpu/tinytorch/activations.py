"""Activations: a Function each, and the layer without parameters that applies it."""

from typing import Any, ClassVar

import numpy as np

from tinytorch_gpu.tinytorch.functions import Function, Grads
from tinytorch_gpu.tinytorch.layers import Layer
from tinytorch_gpu.tinytorch.tensor import Tensor

__all__ = ["GELU", "ReLU", "Sigmoid", "Softmax", "Tanh"]

LOWEST = float(np.finfo(np.float32).min)
FAR = -1e4
SLOPE = 1.702  # of the sigmoid that stands for the normal distribution in GELU


class SigmoidFunction(Function):
    """s = 1 / (1 + exp(-x))."""

    def forward(self, x: Any) -> Any:
        """Return s."""
        small = np.exp(-np.abs(x))  # at most 1: nothing overflows
        return np.where(x >= 0, 1.0, small) / (small + 1.0)

    def backward(self, grad: Any) -> Grads:
        """Return g s (1 - s)."""
        s = self.output.data
        return (grad * s * (1.0 - s),)


class ReLUFunction(Function):
    """max(x, 0)."""

    def forward(self, x: Any) -> Any:
        """Return x where it is positive, else 0."""
        return np.maximum(x, 0.0)

    def backward(self, grad: Any) -> Grads:
        """Pass the gradient where x is positive."""
        return (grad * (self.inputs[0].data > 0).astype(np.float32),)


class TanhFunction(Function):
    """t = tanh(x)."""

    def forward(self, x: Any) -> Any:
        """Return t."""
        return np.tanh(x)

    def backward(self, grad: Any) -> Grads:
        """Return g (1 - t²)."""
        t = self.output.data
        return (grad * (1.0 - t * t),)


class GELUFunction(Function):
    """x s, with s = sigmoid(1.702 x); 0 for -inf."""

    def forward(self, x: Any) -> Any:
        """Return x s."""
        kept = np.maximum(x, FAR)  # s is 0 there already, and -inf × 0 would be NaN
        return kept * SigmoidFunction().forward(kept * SLOPE)

    def backward(self, grad: Any) -> Grads:
        """Return g (s + 1.702 x s (1 - s))."""
        scaled = self.inputs[0].data * SLOPE
        s = SigmoidFunction().forward(scaled)
        return (grad * (s + scaled * s * (1.0 - s)),)


class SoftmaxFunction(Function):
    """s = exp(x) / sum(exp(x)) along `dim`; 0 where all x are -inf."""

    dim = -1

    def forward(self, x: Any) -> Any:
        """Return s; the largest x is subtracted first, against overflow."""
        top = np.maximum(np.max(x, axis=self.dim, keepdims=True), LOWEST)
        powers = np.exp(x - top)
        total = np.sum(powers, axis=self.dim, keepdims=True)
        return powers / np.maximum(total, 1.0)  # total >= 1, for exp(0) is in it

    def backward(self, grad: Any) -> Grads:
        """Return s (g - sum(g s))."""
        s = self.output.data
        return (s * (grad - np.sum(grad * s, axis=self.dim, keepdims=True)),)


class _Activation(Layer):
    function: ClassVar[type[Function]]

    def forward(self, x: Tensor) -> Tensor:
        return self.function.apply(x)


class Sigmoid(_Activation):
    """1 / (1 + exp(-x)), between 0 and 1."""

    function = SigmoidFunction


class ReLU(_Activation):
    """max(x, 0)."""

    function = ReLUFunction


class Tanh(_Activation):
    """tanh(x), between -1 and 1."""

    function = TanhFunction


class GELU(_Activation):
    """x sigmoid(1.702 x), a smooth ReLU."""

    function = GELUFunction


class Softmax(Layer):
    """exp(x) / sum(exp(x)) along an axis: shares that add up to 1."""

    def forward(self, x: Tensor, dim: int = -1) -> Tensor:
        """Return shares along the axis `dim`, in x's shape."""
        return SoftmaxFunction.apply(x, dim=dim)
