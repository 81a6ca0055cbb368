"""Optimizers: SGD, Adam, AdamW. Each step rebinds `param.data` to a new array."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.tensor import Tensor

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]


class Optimizer:
    """Base: parameters, a step counter, and `zero_grad`.

    Args:
        params: tensors to train; iterated once.

    Raises:
        ValueError: a parameter is given twice.
    """

    def __init__(self, params: Any) -> None:
        self.params: list[Tensor] = list(params)
        if len({id(p) for p in self.params}) != len(self.params):
            message = "a parameter is given twice; pass each once"
            raise ValueError(message)
        self.step_count = 0

    def zero_grad(self) -> None:
        """Forget all gradients."""
        for param in self.params:
            param.grad = None

    def step(self) -> None:
        """Change every parameter that has a gradient."""
        self.step_count += 1
        for i, param in enumerate(self.params):
            if param.grad is not None:
                grad = param.grad
                self._update(i, param, grad.data if isinstance(grad, Tensor) else grad)

    def _update(self, i: int, param: Tensor, grad: Any) -> None:
        raise NotImplementedError


class SGD(Optimizer):
    """Gradient descent with momentum.

    Args:
        params: tensors to train.
        lr: learning rate.
        momentum: share of the last step that is kept.
        weight_decay: pull towards 0.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 0.01,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.momentum_buffers: list[Any] = [None] * len(self.params)

    def has_momentum(self) -> bool:
        """Tell whether momentum is used."""
        return self.momentum > 0

    def get_momentum_state(self) -> list[Any] | None:
        """Return copies of the momentum buffers, or None without momentum."""
        buffers = [None if b is None else b.copy() for b in self.momentum_buffers]
        return buffers if self.has_momentum() else None

    def set_momentum_state(self, state: list[Any] | None) -> None:
        """Put momentum buffers back."""
        if state is not None and self.has_momentum():
            self.momentum_buffers = [None if b is None else b.copy() for b in state]

    def _update(self, i: int, param: Tensor, grad: Any) -> None:
        if self.weight_decay:
            grad = grad + param.data * self.weight_decay
        if self.momentum:
            buffer = self.momentum_buffers[i]
            if buffer is None:
                buffer = np.zeros_like(param.data)
            grad = self.momentum_buffers[i] = buffer * self.momentum + grad
        param.data = param.data - grad * self.lr


class Adam(Optimizer):
    """Adam: steps scaled by running means of gradients and their squares.

    Args:
        params: tensors to train.
        lr: learning rate.
        betas: how slowly the two means move.
        eps: keeps the division finite.
        weight_decay: pull towards 0, added to the gradient.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params)
        self.lr, self.eps, self.weight_decay = lr, eps, weight_decay
        self.beta1, self.beta2 = betas
        self.m_buffers: list[Any] = [None] * len(self.params)
        self.v_buffers: list[Any] = [None] * len(self.params)

    def _update(self, i: int, param: Tensor, grad: Any) -> None:
        if self.weight_decay:
            grad = grad + param.data * self.weight_decay
        param.data = param.data - self._direction(i, param, grad)

    def _direction(self, i: int, param: Tensor, grad: Any) -> Any:
        """Return lr · m̂ ÷ (√v̂ + eps)."""
        if self.m_buffers[i] is None:
            self.m_buffers[i] = np.zeros_like(param.data)
            self.v_buffers[i] = np.zeros_like(param.data)
        m = self.m_buffers[i] * self.beta1 + grad * (1 - self.beta1)
        v = self.v_buffers[i] * self.beta2 + grad * grad * (1 - self.beta2)
        self.m_buffers[i], self.v_buffers[i] = m, v
        rate = self.lr / (1 - self.beta1**self.step_count)
        root = np.sqrt(v * (1 / (1 - self.beta2**self.step_count)))
        return m * rate / (root + self.eps)


class AdamW(Adam):
    """Adam whose weight decay acts on the parameters, not on the gradients."""

    def __init__(self, params: Any, lr: float = 0.001, **options: Any) -> None:
        super().__init__(params, lr, **{"weight_decay": 0.01, **options})

    def _update(self, i: int, param: Tensor, grad: Any) -> None:
        if self.weight_decay:
            param.data = param.data * (1 - self.lr * self.weight_decay)
        param.data = param.data - self._direction(i, param, grad)
