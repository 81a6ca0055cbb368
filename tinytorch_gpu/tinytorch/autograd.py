"""Gradients: which ops are remembered, and the walk back through them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.tensor import Function, Tensor

__all__ = ["enable_autograd", "is_grad_enabled", "no_grad"]

_GRAD_TRACKING_ENABLED = True


class no_grad:  # noqa: N801  (PyTorch's name)
    """Within the `with` block results do not remember what made them.

    Example:
        >>> with no_grad():
        ...     is_grad_enabled()
        False
    """

    def __enter__(self) -> no_grad:
        """Stop tracking."""
        self._before = is_grad_enabled()
        _track(enabled=False)
        return self

    def __exit__(self, *_error: object) -> None:
        """Track as before."""
        _track(enabled=self._before)


def is_grad_enabled() -> bool:
    """Tell whether results remember what made them."""
    return _GRAD_TRACKING_ENABLED


def enable_autograd(quiet: bool = False) -> None:
    """Do nothing: autograd is on from the start; older TinyTorch code calls this."""
    del quiet


def _track(*, enabled: bool) -> None:
    global _GRAD_TRACKING_ENABLED  # noqa: PLW0603  (TinyTorch keeps it here)
    _GRAD_TRACKING_ENABLED = enabled


def _backward(self: Tensor, gradient: Any = None, retain_graph: bool = False) -> None:
    """Compute the gradients of everything the tensor was made from.

    Args:
        self: where the walk begins.
        gradient: of the tensor's shape; may be left out for a single element.
        retain_graph: keep the graph for another walk.

    Raises:
        ValueError: the gradient is missing, or of another shape.
        RuntimeError: the graph was walked before without `retain_graph`.
    """
    if not self.requires_grad:
        return
    grad = _seed(self, gradient)
    order = _topological(self)
    pending = {id(self): grad}
    for tensor in order:
        grad = pending.pop(id(tensor), None)
        if grad is None:
            continue
        if tensor.grad is None:
            tensor.grad = np.zeros_like(tensor.data)
        tensor.grad += grad
        node = tensor._grad_fn
        for parent, part in (
            zip(node.inputs, node.backward(grad), strict=True) if node else ()
        ):
            if part is not None and parent.requires_grad:
                known = pending.get(id(parent))
                pending[id(parent)] = part if known is None else known + part
    if not retain_graph:
        for tensor in order:
            tensor._graph_released = (
                tensor._graph_released or tensor._grad_fn is not None
            )
            tensor._grad_fn = None


def _seed(tensor: Tensor, gradient: Any) -> Any:
    """Return the gradient to begin with."""
    if gradient is None:
        if tensor.size != 1:
            message = (
                f"backward() of a tensor of shape {tensor.shape} needs a gradient of "
                "that shape; call .mean() or .sum() first"
            )
            raise ValueError(message)
        return np.asarray(np.ones_like(tensor.data))
    grad = np.asarray(gradient.data if isinstance(gradient, Tensor) else gradient)
    if grad.shape != tensor.shape:
        message = (
            f"gradient shape mismatch: {grad.shape} for a tensor of {tensor.shape}"
        )
        raise ValueError(message)
    return grad


def _topological(root: Tensor) -> list[Tensor]:
    """Return every tensor after all that were made from it; `root` first."""
    order: list[Tensor] = []
    seen: set[int] = set()
    stack: list[tuple[Tensor, bool]] = [(root, False)]
    while stack:
        tensor, is_done = stack.pop()
        if is_done:
            order.append(tensor)
        elif id(tensor) not in seen and tensor.requires_grad:
            if tensor._graph_released:
                message = (
                    "the graph was used by an earlier backward(): retain_graph=True"
                )
                raise RuntimeError(message)
            seen.add(id(tensor))
            stack.append((tensor, True))
            inputs = tensor._grad_fn.inputs if tensor._grad_fn else ()
            stack.extend((parent, False) for parent in inputs)
    return order[::-1]


Function.is_recording = staticmethod(is_grad_enabled)
setattr(Tensor, "backward", _backward)  # noqa: B010  (completes the class)
