"""`Tensor` and `Function`: an array with operators, and the choke point of every op.

Each operator is a `Function` (see `functions`) applied by `Function.apply`, which makes
the result and, while gradients are tracked, notes the node that made it. Gradients run
backward in `autograd`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

__all__ = ["Function", "Tensor"]


class Function:
    """One op: `forward` and `backward` on bare arrays, and what connects them.

    Args:
        *inputs: the tensors it is applied to.
        **params: become attributes of the node.
    """

    # Replaced by autograd: tells whether results remember what made them.
    is_recording: ClassVar[Any] = staticmethod(lambda: False)

    def __init__(self, *inputs: Any, **params: Any) -> None:
        self.inputs = inputs
        self.output: Any = None
        for name, value in params.items():
            setattr(self, name, value)

    @classmethod
    def apply(cls, *inputs: Any, **params: Any) -> Tensor:
        """Apply the op to tensors.

        Returns:
            The result; it remembers its node while gradients are tracked and an input
            requires them.
        """
        node = cls(*inputs, **params)
        output = Tensor(node.forward(*(t.data for t in inputs)))
        node.output = output
        if Function.is_recording() and any(t.requires_grad for t in inputs):
            output.requires_grad = True
            output._grad_fn = node
        return output

    def forward(self, *arrays: Any) -> Any:
        """Compute the result from the inputs' arrays."""
        raise NotImplementedError

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Compute each input's gradient from the result's."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Name the node as PyTorch does: `SigmoidBackward`."""
        return f"<{type(self).__name__.removesuffix('Function')}Backward>"


class Tensor:
    """An array of float32 that knows how it was made.

    Args:
        data: anything NumPy makes an array of; copied to float32.
        requires_grad: compute a gradient for it in `backward`.

    Example:
        >>> x = Tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad.tolist()
        [2.0, 4.0]
    """

    def __init__(self, data: Any, requires_grad: bool = False) -> None:
        if isinstance(data, Tensor):
            data = data.data
        self.data = np.array(data, dtype=np.float32)
        self.shape = self.data.shape
        self.size = self.data.size
        self.dtype = self.data.dtype
        self.requires_grad = requires_grad
        self.grad: Any = None
        self._grad_fn: Any = None
        self._graph_released = False

    # Filled in by autograd, functions: they stand above this file.

    def backward(self, gradient: Any = None, retain_graph: bool = False) -> None:
        """Compute gradients; autograd replaces this."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def numpy(self) -> Any:
        """Return the data itself, not a copy."""
        return self.data

    def numel(self) -> int:
        """Return the number of elements."""
        return int(self.size)

    def memory_footprint(self) -> int:
        """Return the bytes of the data."""
        return int(self.data.nbytes)

    def zero_grad(self) -> None:
        """Forget the gradient."""
        self.grad = None

    def __repr__(self) -> str:
        """Show the data, and whether gradients are computed."""
        grad = ", requires_grad=True" if self.requires_grad else ""
        return f"Tensor({self.data}, shape={self.shape}{grad})"
