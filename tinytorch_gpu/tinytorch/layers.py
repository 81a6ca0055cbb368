"""Layers: `Linear`, `Dropout`, `Sequential`. Weights come from the module's `rng`."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.tensor import Tensor

__all__ = ["Dropout", "Layer", "Linear", "Sequential"]

rng = np.random.default_rng(7)


class Layer:
    """Base of all layers: call it to run `forward`."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute the layer's output."""
        raise NotImplementedError

    def __call__(self, x: Tensor, *args: Any, **options: Any) -> Tensor:
        """Compute the layer's output."""
        return self.forward(x, *args, **options)

    def parameters(self) -> list[Tensor]:
        """Return the tensors to train."""
        return []

    def __repr__(self) -> str:
        """Name it."""
        return f"{type(self).__name__}()"


class Linear(Layer):
    """x @ weight + bias.

    Args:
        in_features: columns of x.
        out_features: columns of the result.
        bias: add a bias.

    Example:
        >>> Linear(3, 2).weight.shape
        (3, 2)
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        scale = np.sqrt(1.0 / in_features)
        weight = rng.standard_normal((in_features, out_features)) * scale
        self.in_features, self.out_features = in_features, out_features
        self.weight = Tensor(weight, requires_grad=True)
        self.bias = Tensor(np.zeros(out_features), requires_grad=True) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Multiply by the weight and add the bias."""
        product: Tensor = x.matmul(self.weight)  # type: ignore[attr-defined]
        return product if self.bias is None else product + self.bias  # type: ignore[operator]

    def parameters(self) -> list[Tensor]:
        """Return weight and bias."""
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __repr__(self) -> str:
        """Name it with its sizes."""
        return f"Linear({self.in_features}, {self.out_features})"


class Dropout(Layer):
    """Set each element to 0 with probability p while training; scale the others.

    Args:
        p: probability, 0 to 1.

    Raises:
        ValueError: p is outside.
    """

    def __init__(self, p: float = 0.5) -> None:
        if not 0.0 <= p <= 1.0:
            message = f"p is {p}, a probability is between 0 and 1"
            raise ValueError(message)
        self.p = p

    def forward(self, x: Tensor, training: bool = True) -> Tensor:
        """Drop elements; without training return x."""
        if not training or self.p == 0.0:
            return x
        keep = rng.random(x.shape) >= self.p
        scale = 1.0 / (1.0 - self.p) if self.p < 1.0 else 0.0
        return x * Tensor(keep * scale)  # type: ignore[operator, no-any-return]


class Sequential(Layer):
    """Layers one after another.

    Args:
        *layers: the layers, or one list of them.
    """

    def __init__(self, *layers: Any) -> None:
        is_list = len(layers) == 1 and isinstance(layers[0], (list, tuple))
        self.layers = list(layers[0] if is_list else layers)

    def forward(self, x: Tensor, training: bool = True) -> Tensor:
        """Run the layers; those that know `training` get it."""
        for layer in self.layers:
            knows = "training" in inspect.signature(layer.forward).parameters
            x = layer(x, training=training) if knows else layer(x)
        return x

    def parameters(self) -> list[Tensor]:
        """Return all layers' parameters, each once."""
        found = {id(p): p for layer in self.layers for p in layer.parameters()}
        return list(found.values())
