"""Losses: mean over all elements or rows, a 0-d Tensor. Targets get no gradient."""

from typing import Any, ClassVar

import numpy as np

from tinytorch_gpu.tinytorch.functions import Function, Grads, placed_like
from tinytorch_gpu.tinytorch.layers import Layer
from tinytorch_gpu.tinytorch.tensor import Tensor

__all__ = ["BinaryCrossEntropyLoss", "CrossEntropyLoss", "MSELoss", "log_softmax"]

EPSILON = 1e-7  # probabilities are kept this far from 0 and 1


class LogSoftmax(Function):
    """y = x - log(sum(exp(x))) along `dim`."""

    dim = -1

    def forward(self, x: Any) -> Any:
        """Return y; the largest x is subtracted first, against overflow."""
        shifted = x - np.max(x, axis=self.dim, keepdims=True)
        return shifted - np.log(np.sum(np.exp(shifted), axis=self.dim, keepdims=True))

    def backward(self, grad: Any) -> Grads:
        """Return g - exp(y) sum(g)."""
        total = np.sum(grad, axis=self.dim, keepdims=True)
        return (grad - np.exp(self.output.data) * total,)


class MSEFunction(Function):
    """mean((p - t)²)."""

    def forward(self, pred: Any, targ: Any) -> Any:
        """Return the mean, 0-d."""
        error = pred - targ
        return np.mean(error * error)

    def backward(self, grad: Any) -> Grads:
        """Return 2 g (p - t) / n, and None for the targets."""
        pred, targ = (tensor.data for tensor in self.inputs)
        return (pred - targ) * (grad * (2.0 / pred.size)), None


class BinaryCrossEntropyFunction(Function):
    """-mean(t log(p) + (1 - t) log(1 - p))."""

    def forward(self, pred: Any, targ: Any) -> Any:
        """Return the mean, 0-d."""
        p = np.clip(pred, EPSILON, 1.0 - EPSILON)
        return -np.mean(targ * np.log(p) + (1.0 - targ) * np.log(1.0 - p))

    def backward(self, grad: Any) -> Grads:
        """Return g (p - t) / (p (1 - p) n), and None for the targets."""
        pred, targ = (tensor.data for tensor in self.inputs)
        p = np.clip(pred, EPSILON, 1.0 - EPSILON)
        return (p - targ) / (p * (1.0 - p)) * (grad * (1.0 / pred.size)), None


class CrossEntropyFunction(Function):
    """-mean(log_softmax(x)[target]) over rows."""

    def forward(self, logits: Any, targets: Any) -> Any:
        """Return the mean over rows, 0-d."""
        chosen = np.where(_one_hot(logits, targets), LogSoftmax().forward(logits), 0.0)
        return -np.sum(chosen) / max(1, targets.size)

    def backward(self, grad: Any) -> Grads:
        """Return g (softmax - one-hot) / rows, and None for the targets."""
        logits, targets = (tensor.data for tensor in self.inputs)
        shares = np.exp(LogSoftmax().forward(logits))
        error = shares - _one_hot(logits, targets).astype(np.float32)
        return error * (grad * (1.0 / targets.size)), None


def _one_hot(logits: Any, targets: Any) -> Any:
    """Return bool (..., classes): whether the class is the row's target."""
    classes = placed_like(np.arange(logits.shape[-1], dtype=np.float32), logits)
    return np.expand_dims(targets, -1) == classes


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Return x - log(sum(exp(x))) along an axis, without overflow.

    Example:
        >>> log_softmax(Tensor([1000.0, 1000.0])).numpy()
        array([-0.6931472, -0.6931472], dtype=float32)
    """
    return LogSoftmax.apply(x, dim=dim)


class _Loss(Layer):
    function: ClassVar[type[Function]]

    def forward(self, pred: Tensor, targ: Tensor) -> Tensor:
        _check(pred.shape, targ.shape)
        return self.function.apply(pred, targ)


class MSELoss(_Loss):
    """Mean squared error of two Tensors of one shape."""

    function = MSEFunction


class BinaryCrossEntropyLoss(_Loss):
    """Cross-entropy of probabilities and targets from 0 to 1, of one shape."""

    function = BinaryCrossEntropyFunction


class CrossEntropyLoss(Layer):
    """Cross-entropy of logits (..., classes) and class indices (...)."""

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Return the mean loss, 0-d.

        Args:
            logits: (..., classes), any numbers.
            targets: (...), whole numbers from 0 to classes - 1.

        Raises:
            ValueError: the shapes do not fit, or a host target is no class.
        """
        _check(logits.shape[:-1], targets.shape)
        known, data = logits.shape[-1], targets.data
        if isinstance(data, np.ndarray) and not np.isin(data, np.arange(known)).all():
            raise ValueError(
                f"targets from {data.min():g} to {data.max():g} for {known} classes; "
                f"each must be a whole number from 0 to {known - 1}"
            )
        if logits.ndim != 2:  # kernels know rows
            logits, targets = logits.reshape(-1, known), targets.reshape(-1)
        return CrossEntropyFunction.apply(logits, targets)


def _check(wanted: tuple[int, ...], got: tuple[int, ...]) -> None:
    if wanted != got:
        raise ValueError(
            f"shape mismatch: these predictions need targets of shape {wanted}, got "
            f"{got}; reshape the targets"
        )
