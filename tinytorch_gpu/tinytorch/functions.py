"""The ops of `Tensor`: arithmetic, matmul, shape changes, reductions.

`forward` and `backward` take and return bare arrays, with NumPy's operators and
functions only. `operators` puts them on `Tensor`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.tensor import Function

__all__ = [
    "Add",
    "Copy",
    "Div",
    "MaskedFill",
    "MatMul",
    "Max",
    "Mean",
    "Mul",
    "Permute",
    "Reshape",
    "Slice",
    "Sub",
    "Sum",
    "expanded",
    "unbroadcast",
]


def unbroadcast(grad: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient over the axes that broadcasting repeated.

    Args:
        grad: array of the broadcast shape.
        shape: the operand's shape.

    Example:
        >>> unbroadcast(np.ones((3, 2)), (1, 2)).tolist()
        [[3.0, 3.0]]
    """
    extra = grad.ndim - len(shape)
    if extra > 0:
        grad = grad.sum(axis=tuple(range(extra)))
    repeated = tuple(i for i, n in enumerate(shape) if n == 1 and grad.shape[i] != 1)
    return grad.sum(axis=repeated, keepdims=True) if repeated else grad


def expanded(array: Any, axis: Any, keepdims: bool) -> Any:
    """Put the axes back that a reduction took away."""
    return array if axis is None or keepdims else np.expand_dims(array, axis)


class Add(Function):
    """`a + b`."""

    def forward(self, a: Any, b: Any) -> Any:
        """Add."""
        return a + b

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Hand the gradient to both."""
        a, b = self.inputs
        return unbroadcast(grad_output, a.shape), unbroadcast(grad_output, b.shape)


class Sub(Function):
    """`a - b`."""

    def forward(self, a: Any, b: Any) -> Any:
        """Subtract."""
        return a - b

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Hand the gradient to a, its negative to b."""
        a, b = self.inputs
        grad_b = -unbroadcast(grad_output, b.shape) if b.requires_grad else None
        return unbroadcast(grad_output, a.shape), grad_b


class Mul(Function):
    """`a * b`."""

    def forward(self, a: Any, b: Any) -> Any:
        """Multiply."""
        return a * b

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Scale by the other factor."""
        a, b = self.inputs
        return (
            unbroadcast(grad_output * b.data, a.shape) if a.requires_grad else None,
            unbroadcast(grad_output * a.data, b.shape) if b.requires_grad else None,
        )


class Div(Function):
    """`a / b`."""

    def forward(self, a: Any, b: Any) -> Any:
        """Divide."""
        return a / b

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Use 1/b for a, −a/b² for b."""
        a, b = self.inputs
        grad_a = grad_output / b.data
        grad_b = -grad_a * (a.data / b.data) if b.requires_grad else None
        return (
            unbroadcast(grad_a, a.shape),
            None if grad_b is None else unbroadcast(grad_b, b.shape),
        )


class MatMul(Function):
    """`a @ b` of vectors, matrices and stacks of matrices."""

    def forward(self, a: Any, b: Any) -> Any:
        """Multiply matrices."""
        return np.matmul(a, b)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Compute grad @ bᵀ and aᵀ @ grad; vectors count as one row or column."""
        a, b = (t.data for t in self.inputs)
        rows = a.reshape(1, -1) if a.ndim == 1 else a
        columns = b.reshape(-1, 1) if b.ndim == 1 else b
        grad = grad_output
        if b.ndim == 1:
            grad = np.expand_dims(grad, -1)
        if a.ndim == 1:
            grad = np.expand_dims(grad, -2)
        need_a, need_b = (t.requires_grad for t in self.inputs)
        grad_a = np.matmul(grad, np.swapaxes(columns, -1, -2)) if need_a else None
        grad_b = np.matmul(np.swapaxes(rows, -1, -2), grad) if need_b else None
        return _shaped(grad_a, rows.shape, a.shape), _shaped(
            grad_b, columns.shape, b.shape
        )


def _shaped(grad: Any, matrix: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Bring a matrix's gradient to the operand's own shape."""
    return None if grad is None else unbroadcast(grad, matrix).reshape(shape)


class Slice(Function):
    """`a[key]`."""

    key: Any = None

    def forward(self, a: Any) -> Any:
        """Index."""
        return a[self.key]

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Add the gradient where it was read; an element read twice gets both."""
        grad = np.zeros(self.inputs[0].shape, np.float32)
        np.add.at(grad, self.key, grad_output)
        return (grad,)


class Reshape(Function):
    """`a.reshape(shape)`."""

    shape: tuple[int, ...] = ()

    def forward(self, a: Any) -> Any:
        """Reshape."""
        return a.reshape(self.shape)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Reshape back."""
        return (grad_output.reshape(self.inputs[0].shape),)


class Permute(Function):
    """`a` with its axes in another order."""

    axes: tuple[int, ...] = ()

    def forward(self, a: Any) -> Any:
        """Permute the axes."""
        return np.transpose(a, self.axes)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Permute them back."""
        back = tuple(int(axis) for axis in np.argsort(self.axes))
        return (np.transpose(grad_output, back),)


class Copy(Function):
    """A contiguous copy."""

    def forward(self, a: Any) -> Any:
        """Copy."""
        return np.ascontiguousarray(a)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Hand the gradient on."""
        return (grad_output,)


class MaskedFill(Function):
    """`a` with `value` where `mask` is true."""

    mask: Any = None
    value = 0.0

    def forward(self, a: Any) -> Any:
        """Fill."""
        return np.where(self.mask, np.float32(self.value), a)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Stop the gradient where the value was replaced."""
        return (np.where(self.mask, np.float32(0.0), grad_output),)


class Sum(Function):
    """Sum over axes."""

    axis: Any = None
    keepdims = False

    def forward(self, a: Any) -> Any:
        """Sum."""
        return np.sum(a, axis=self.axis, keepdims=self.keepdims)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Hand the gradient to every summand."""
        grad = expanded(grad_output, self.axis, self.keepdims)
        return (np.broadcast_to(grad, self.inputs[0].shape),)


class Mean(Sum):
    """Mean over axes."""

    def forward(self, a: Any) -> Any:
        """Average."""
        return np.mean(a, axis=self.axis, keepdims=self.keepdims)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Hand an equal part of the gradient to every element."""
        count = self.inputs[0].size / max(1, self.output.size)
        return super().backward(grad_output * np.float32(1.0 / count))


class Max(Sum):
    """Maximum over axes."""

    def forward(self, a: Any) -> Any:
        """Take the largest."""
        return np.max(a, axis=self.axis, keepdims=self.keepdims)

    def backward(self, grad_output: Any) -> tuple[Any, ...]:
        """Share the gradient between the elements that are the largest."""
        data = self.inputs[0].data
        largest = expanded(self.output.data, self.axis, self.keepdims)
        is_largest = (data == largest).astype(np.float32)
        ties = np.sum(is_largest, axis=self.axis, keepdims=True)
        grad = expanded(grad_output, self.axis, self.keepdims)
        return (is_largest * (grad / ties),)
