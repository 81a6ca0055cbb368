# ruff: noqa: SLF001  (TinyTorch keeps the graph in `Tensor._grad_fn`)
"""The switch that records ops, and the walk back over what was recorded.

A tensor that an op made holds the op's node in `_grad_fn`; the node holds its inputs.
Tensors and arrays are typed Any here and in the whole core: an array is an ndarray, or
another array that answers NumPy's protocols.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["enable_autograd", "is_grad_enabled", "no_grad", "run_backward"]

_GRAD_TRACKING_ENABLED = True


class no_grad:  # noqa: N801  (torch's name)
    """A block in which no op is recorded; one switch for the whole process.

    Example:
        >>> with no_grad():
        ...     is_grad_enabled()
        False
    """

    def __enter__(self) -> None:
        """Stop recording."""
        self._before = _switch(enabled=False)

    def __exit__(self, *_: object) -> None:
        """Go back to what was before the block."""
        _switch(enabled=self._before)


def is_grad_enabled() -> bool:
    """Tell whether ops are recorded for `backward`."""
    return _GRAD_TRACKING_ENABLED


def enable_autograd(quiet: bool = False) -> None:
    """Do nothing: autograd is always there. Older TinyTorch code calls this."""
    del quiet


def run_backward(root: Any, gradient: Any, retain_graph: bool) -> None:
    """Do the work of `Tensor.backward`, which tells the arguments and errors."""
    if not root.requires_grad:
        return
    order = _outputs_first(root)
    pending = {id(root): _seed(root.data, gradient)}
    for tensor in order:
        grad = pending.pop(id(tensor), None)
        if grad is None:  # an op answered None for it, as losses do for targets
            continue
        if tensor.grad is None:
            tensor.grad = np.zeros_like(tensor.data)
        tensor.grad += grad
        for parent, part in _parts(tensor._grad_fn, grad):
            held = pending.get(id(parent))
            pending[id(parent)] = part if held is None else held + part
    for tensor in () if retain_graph else order:
        if tensor._grad_fn is not None:  # cut, so that its arrays can be freed
            tensor._grad_fn, tensor._graph_released = None, True


def unbroadcast(grad: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient over the axes along which its input was repeated.

    Example:
        >>> unbroadcast(np.ones((4, 3)), (1, 3))
        array([[4., 4., 4.]])
    """
    while np.ndim(grad) > len(shape):
        grad = grad.sum(axis=0)
    for axis in range(np.ndim(grad)):
        if shape[axis + len(shape) - np.ndim(grad)] == 1 != grad.shape[axis]:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad


def _switch(*, enabled: bool) -> bool:
    """Set the switch; return what it was."""
    before = _GRAD_TRACKING_ENABLED
    globals()["_GRAD_TRACKING_ENABLED"] = enabled
    return before


def _seed(data: Any, gradient: Any) -> Any:
    """Return the gradient to begin with: float32, of the tensor's shape."""
    seed = np.ones_like(data) if gradient is None else np.asarray(gradient, np.float32)
    if seed.shape != data.shape:
        raise ValueError(
            f"Gradient shape mismatch: the tensor has {data.shape}, the gradient "
            f"{seed.shape}; give one weight for each element of the tensor"
        )
    return seed


def _outputs_first(root: Any) -> list[Any]:
    """Return the tensors that root was made from, each after all that use it."""
    order: list[Any] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        tensor, is_expanded = stack.pop()
        if is_expanded:
            order.append(tensor)
        elif id(tensor) not in seen:
            if tensor._graph_released:
                raise RuntimeError(
                    f"the graph of a tensor of shape {tensor.shape} was released by an "
                    "earlier backward(); compute anew, or pass retain_graph=True there"
                )
            seen.add(id(tensor))
            inputs = tensor._grad_fn.inputs if tensor._grad_fn else ()
            stack += [(tensor, True), *((t, False) for t in inputs if t.requires_grad)]
    return order[::-1]


def _parts(node: Any, grad: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the node's inputs that need a gradient, each with its own."""
    parts = node.backward(grad) if node else ()
    for parent, part in zip(node.inputs if node else (), parts, strict=True):
        if part is None or not parent.requires_grad:
            continue
        fitted = unbroadcast(part, parent.data.shape)
        if np.shape(fitted) != parent.data.shape:
            raise RuntimeError(
                f"{node!r} gave a gradient of shape {np.shape(part)} for an input of "
                f"{parent.data.shape}; backward must return the input's shape"
            )
        yield parent, fitted
