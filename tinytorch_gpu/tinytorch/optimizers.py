"""Optimizers. Each step binds `param.data` to a new array, made with operators only."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.tensor import Tensor

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]


class Optimizer:
    """Base: a subclass says in `_update` how one parameter changes.

    Args:
        params: Tensors to train.

    Raises:
        TypeError: something else than a Tensor is among them.
        ValueError: a parameter is given twice.
    """

    def __init__(self, params: Iterable[Tensor]) -> None:
        self.params = [params] if isinstance(params, Tensor) else list(params)
        wrong = [type(p).__name__ for p in self.params if not isinstance(p, Tensor)]
        if wrong:
            raise TypeError(f"an optimizer requires Tensor parameters, got {wrong}")
        if len({id(param) for param in self.params}) < len(self.params):
            raise ValueError("a parameter is given twice, and would step twice")
        self.step_count = 0

    def zero_grad(self) -> None:
        """Forget the gradients of all parameters."""
        for param in self.params:
            param.zero_grad()

    def step(self) -> None:
        """Change every parameter that has a gradient, against it."""
        self.step_count += 1
        for i, param in enumerate(self.params):
            if param.grad is not None:
                self._update(i, param, self._extract_gradient(param))

    def _extract_gradient(self, param: Tensor) -> Any:
        return param.grad.data if isinstance(param.grad, Tensor) else param.grad

    def _update(self, i: int, param: Tensor, grad: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} needs _update")


class SGD(Optimizer):
    """Gradient descent: v = momentum v + g, p = p - lr v.

    Args:
        params: Tensors to train.
        lr: learning rate.
        momentum: share of the last step that is kept, 0 to 1.
        weight_decay: times p is added to the gradient.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.01,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.momentum_buffers: list[Any] = [None] * len(self.params)

    def has_momentum(self) -> bool:
        """Tell whether steps have momentum."""
        return self.momentum > 0

    def get_momentum_state(self) -> list[Any] | None:
        """Return copies of the momentum arrays; None without momentum."""
        return _copies(self.momentum_buffers) if self.has_momentum() else None

    def set_momentum_state(self, state: list[Any] | None) -> None:
        """Take over copies of what `get_momentum_state` returned."""
        if state is not None and self.has_momentum():
            self.momentum_buffers = _copies(state)

    def _update(self, i: int, param: Tensor, grad: Any) -> None:
        if self.weight_decay:
            grad = grad + self.weight_decay * param.data
        if self.has_momentum():
            if self.momentum_buffers[i] is None:
                self.momentum_buffers[i] = np.zeros_like(param.data)
            grad = self.momentum * self.momentum_buffers[i] + grad
            self.momentum_buffers[i] = grad
        param.data = param.data - float(self.lr) * grad


class Adam(Optimizer):
    """Steps m / (sqrt(v) + eps) of running means m of g and v of g², bias-corrected.

    Args:
        params: Tensors to train.
        lr: learning rate.
        betas: shares of m and v that are kept in a step.
        eps: keeps the division finite.
        weight_decay: times p is added to the gradient.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
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
            grad = grad + self.weight_decay * param.data
        param.data = param.data - float(self.lr) * self._direction(i, param, grad)

    def _direction(self, i: int, param: Tensor, grad: Any) -> Any:
        if self.m_buffers[i] is None:
            self.m_buffers[i] = np.zeros_like(param.data)
            self.v_buffers[i] = np.zeros_like(param.data)
        m = self.beta1 * self.m_buffers[i] + (1 - self.beta1) * grad
        v = self.beta2 * self.v_buffers[i] + (1 - self.beta2) * (grad * grad)
        self.m_buffers[i], self.v_buffers[i] = m, v
        m_mean = m / (1 - self.beta1**self.step_count)  # both started from zeros
        v_mean = v / (1 - self.beta2**self.step_count)
        return m_mean / (np.sqrt(v_mean) + self.eps)


class AdamW(Adam):
    """Adam whose weight decay shrinks p itself: p = p - lr weight_decay p.

    Args:
        params: Tensors to train.
        lr: learning rate.
        betas: as in `Adam`.
        eps: as in `Adam`.
        weight_decay: share of p, times lr, that a step takes away.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)

    def _update(self, i: int, param: Tensor, grad: Any) -> None:
        if self.weight_decay:
            param.data = param.data - float(self.lr) * self.weight_decay * param.data
        param.data = param.data - float(self.lr) * self._direction(i, param, grad)


def _copies(arrays: list[Any]) -> list[Any]:
    return [None if array is None else array.copy() for array in arrays]
