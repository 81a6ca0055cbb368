"""Activations: a Function each, and the layer that applies it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tinytorch_gpu.tinytorch.tensor import Function, Tensor

__all__ = ["GELU", "ReLU", "Sigmoid", "Softmax", "Tanh"]


class SigmoidFunction(Function):
    """1 ÷ (1 + e⁻ˣ)."""

    def forward(self, x: Any) -> Any:
        """Compute it through tanh, which never overflows."""
        return np.tanh(x * np.float32(0.5)) * np.float32(0.5) + np.float32(0.5)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Scale by s·(1 − s)."""
        s = self.output.data
        return (grad_output * (s * (np.float32(1.0) - s)),)


class ReLUFunction(Function):
    """max(x, 0)."""

    def forward(self, x: Any) -> Any:
        """Drop what is negative."""
        return np.maximum(x, np.float32(0.0))

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Let the gradient through where x is positive."""
        return (grad_output * (self.inputs[0].data > 0).astype(np.float32),)


class TanhFunction(Function):
    """Hyperbolic tangent."""

    def forward(self, x: Any) -> Any:
        """Compute it."""
        return np.tanh(x)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Scale by 1 − t²."""
        t = self.output.data
        return (grad_output * (np.float32(1.0) - t * t),)


class GELUFunction(Function):
    """x·σ(1.702·x), the sigmoid form of GELU."""

    def forward(self, x: Any) -> Any:
        """Compute it."""
        return x * SigmoidFunction().forward(x * np.float32(1.702))

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Scale by s + 1.702·x·s·(1 − s)."""
        x = self.inputs[0].data
        s = SigmoidFunction().forward(x * np.float32(1.702))
        one = np.float32(1.0)
        return (grad_output * (s + x * (s * (one - s)) * np.float32(1.702)),)


class SoftmaxFunction(Function):
    """eˣ ÷ Σeˣ along an axis."""

    dim = -1

    def forward(self, x: Any) -> Any:
        """Compute it with the largest element subtracted, so that nothing overflows."""
        e = np.exp(x - np.max(x, axis=self.dim, keepdims=True))
        return e / np.sum(e, axis=self.dim, keepdims=True)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Compute s·(g − Σ g·s)."""
        s = self.output.data
        total = np.sum(grad_output * s, axis=self.dim, keepdims=True)
        return (s * (grad_output - total),)


class _Activation:
    """A layer without parameters that applies one Function."""

    function: ClassVar[type[Function]]

    def parameters(self) -> list[Tensor]:
        """Return nothing: there is nothing to train."""
        return []

    def forward(self, x: Tensor) -> Tensor:
        """Apply the activation."""
        return self.function.apply(x)

    def __call__(self, x: Tensor, *args: Any, **options: Any) -> Tensor:
        """Apply the activation."""
        return self.forward(x, *args, **options)

    def __repr__(self) -> str:
        """Name it."""
        return f"{type(self).__name__}()"


class Sigmoid(_Activation):
    """1 ÷ (1 + e⁻ˣ)."""

    function = SigmoidFunction


class ReLU(_Activation):
    """max(x, 0)."""

    function = ReLUFunction


class Tanh(_Activation):
    """Hyperbolic tangent."""

    function = TanhFunction


class GELU(_Activation):
    """x·σ(1.702·x)."""

    function = GELUFunction


class Softmax(_Activation):
    """eˣ ÷ Σeˣ along an axis."""

    function = SoftmaxFunction

    def forward(self, x: Tensor, dim: int = -1) -> Tensor:
        """Apply it along `dim`."""
        return SoftmaxFunction.apply(x, dim=dim)
