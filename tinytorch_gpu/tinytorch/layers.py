"""Layers: called with a Tensor, they give one; `parameters()` are what is trained."""

import inspect
import math
from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.functions import placed_like
from tinytorch_gpu.tinytorch.tensor import Tensor

__all__ = ["Dropout", "Layer", "Linear", "Sequential", "takes_training"]

rng = np.random.default_rng(7)  # of weights and dropout; assign another one to reseed


class Layer:
    """Base of all layers: `layer(x)` is `layer.forward(x)`."""

    def forward(self, *args: Any, **options: Any) -> Tensor:
        """Return the layer's output; each layer has its own."""
        raise NotImplementedError(f"{type(self).__name__} needs forward(self, x)")

    def __call__(self, *args: Any, **options: Any) -> Tensor:
        """Return the layer's output."""
        return self.forward(*args, **options)

    def parameters(self) -> list[Tensor]:
        """Return the Tensors to train; none unless a layer says so."""
        return []

    def __repr__(self) -> str:
        """Name the layer."""
        return f"{type(self).__name__}()"


class Linear(Layer):
    """x @ weight + bias, with weights drawn from N(0, 1 / in_features).

    Args:
        in_features: length of x's last axis.
        out_features: length of the output's last axis.
        bias: add a bias (out_features,), zeros at first.

    Raises:
        ValueError: a length is not positive.

    Example:
        >>> layer = Linear(3, 2)
        >>> layer(Tensor(np.ones((5, 3)))).shape, layer.weight.shape
        ((5, 2), (3, 2))
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        if in_features < 1 or out_features < 1:
            raise ValueError(f"Linear({in_features}, {out_features}): both must be > 0")
        self.in_features, self.out_features = in_features, out_features
        weight = rng.standard_normal((in_features, out_features))
        self.weight = Tensor(weight * math.sqrt(1.0 / in_features), requires_grad=True)
        self.bias = Tensor(np.zeros(out_features), requires_grad=True) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Return (..., out_features) of x (..., in_features)."""
        product = x.matmul(self.weight)
        return product if self.bias is None else product + self.bias

    def parameters(self) -> list[Tensor]:
        """Return weight and, if there is one, bias."""
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def __repr__(self) -> str:
        """Name the layer with its lengths."""
        return f"Linear({self.in_features}, {self.out_features})"


class Dropout(Layer):
    """In training, zero each element with probability p and scale the others to fit.

    Args:
        p: 0 to 1.

    Raises:
        ValueError: p is no probability.
    """

    def __init__(self, p: float = 0.5) -> None:
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"Dropout({p}): p is a probability, from 0 to 1")
        self.p = p

    def forward(self, x: Tensor, training: bool = True) -> Tensor:
        """Return x with elements dropped; x itself unless training."""
        if not training or self.p == 0.0:
            return x
        scale = 1.0 / (1.0 - self.p) if self.p < 1.0 else 0.0
        mask = (rng.random(x.shape) >= self.p).astype(np.float32) * scale
        return x * Tensor(placed_like(mask, x.data))


class Sequential(Layer):
    """Layers one after another.

    Args:
        *layers: the layers, or one list of them.
    """

    def __init__(self, *layers: Any) -> None:
        is_packed = len(layers) == 1 and isinstance(layers[0], (list, tuple))
        self.layers: list[Any] = list(layers[0] if is_packed else layers)

    def forward(self, x: Tensor, training: bool = True) -> Tensor:
        """Return the last output; `training` goes to the layers that take it."""
        for layer in self.layers:
            x = layer(x, training=training) if takes_training(layer) else layer(x)
        return x

    def parameters(self) -> list[Tensor]:
        """Return the layers' parameters, a shared one once."""
        found = {id(p): p for layer in self.layers for p in layer.parameters()}
        return list(found.values())


def takes_training(layer: Any) -> bool:
    """Tell whether a layer behaves differently in training: `forward(training=)`."""
    return "training" in inspect.signature(layer.forward).parameters
