"""Losses: mean squared error, binary and categorical cross-entropy."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tinytorch_gpu.tinytorch.tensor import Function, Tensor

__all__ = ["BinaryCrossEntropyLoss", "CrossEntropyLoss", "MSELoss", "log_softmax"]

EPSILON = 1e-7


class LogSoftmax(Function):
    """x − log Σeˣ along an axis."""

    dim = -1

    def forward(self, x: Any) -> Any:
        """Compute it with the largest element subtracted."""
        centred = x - np.max(x, axis=self.dim, keepdims=True)
        return centred - np.log(np.sum(np.exp(centred), axis=self.dim, keepdims=True))

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Compute g − softmax · Σg."""
        total = np.sum(grad_output, axis=self.dim, keepdims=True)
        return (grad_output - np.exp(self.output.data) * total,)


class MSEFunction(Function):
    """Mean of (pred − targ)²."""

    def forward(self, pred: Any, targ: Any) -> Any:
        """Compute it."""
        difference = pred - targ
        return np.mean(difference * difference)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Scale the difference by 2 ÷ n."""
        pred, targ = (t.data for t in self.inputs)
        return ((pred - targ) * np.float32(2.0 / pred.size) * grad_output, None)


class BinaryCrossEntropyFunction(Function):
    """−mean(t·log p + (1 − t)·log(1 − p)), p clipped away from 0 and 1."""

    def forward(self, pred: Any, targ: Any) -> Any:
        """Compute it."""
        p = np.clip(pred, np.float32(EPSILON), np.float32(1 - EPSILON))
        one = np.float32(1.0)
        return -np.mean(targ * np.log(p) + (one - targ) * np.log(one - p))

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Compute (p − t) ÷ (p·(1 − p)·n)."""
        pred, targ = (t.data for t in self.inputs)
        p = np.clip(pred, np.float32(EPSILON), np.float32(1 - EPSILON))
        scale = np.float32(1.0 / pred.size) * grad_output
        return ((p - targ) / (p * (np.float32(1.0) - p)) * scale, None)


class CrossEntropyFunction(Function):
    """−mean of the log-probability of each row's class; targets are class indices."""

    def forward(self, logits: Any, targets: Any) -> Any:
        """Compute it.

        Raises:
            ValueError: shapes do not fit, or a target is no class.
        """
        rows, classes = logits.shape
        index = targets.astype(int)
        if index.shape != (rows,) or ((index < 0) | (index >= classes)).any():
            message = f"shape mismatch or class outside 0 to {classes - 1}: logits "
            message += f"{logits.shape}, targets {targets.shape}"
            raise ValueError(message)
        return -np.mean(LogSoftmax().forward(logits)[np.arange(rows), index])

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Compute (softmax − one-hot) ÷ rows."""
        logits, targets = (t.data for t in self.inputs)
        grad = np.exp(LogSoftmax().forward(logits))
        grad[np.arange(len(grad)), targets.astype(int)] -= np.float32(1.0)
        return (grad * (grad_output * np.float32(1.0 / len(grad))), None)


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """Return x − log Σeˣ along an axis."""
    return LogSoftmax.apply(x, dim=dim)


class _Loss:
    """A loss: mean over the batch."""

    function: ClassVar[type[Function]]
    same_shape = True

    def forward(self, pred: Tensor, targ: Tensor) -> Tensor:
        """Compute the loss.

        Raises:
            ValueError: the shapes do not fit.
        """
        if self.same_shape and pred.shape != targ.shape:
            message = f"shape mismatch: predictions {pred.shape}, targets {targ.shape}"
            raise ValueError(message)
        return self.function.apply(pred, targ)

    def __call__(self, pred: Tensor, targ: Tensor) -> Tensor:
        """Compute the loss."""
        return self.forward(pred, targ)


class MSELoss(_Loss):
    """Mean squared error of two tensors of one shape."""

    function = MSEFunction


class BinaryCrossEntropyLoss(_Loss):
    """Cross-entropy of probabilities and targets between 0 and 1."""

    function = BinaryCrossEntropyFunction


class CrossEntropyLoss(_Loss):
    """Cross-entropy of logits (rows, classes) and class indices (rows,)."""

    function = CrossEntropyFunction
    same_shape = False
