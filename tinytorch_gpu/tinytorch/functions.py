"""`Function`, the form of every op, and the ops of `Tensor`.

All is written with operators and NumPy functions that other arrays than ndarrays can
answer, through NumPy's protocols.
"""

from types import EllipsisType, NoneType
from typing import Any, TypeVar

import numpy as np

from tinytorch_gpu.tinytorch.autograd import is_grad_enabled, unbroadcast

__all__ = [
    "Add", "Copy", "Div", "Function", "MaskedFill", "MatMul", "Max", "Mean", "Mul",
    "Permute", "Reshape", "Slice", "Sub", "Sum", "placed_like",
]  # fmt: skip

AnyTensor = TypeVar("AnyTensor")
Axis = int | tuple[int, ...] | None
Grads = tuple[Any, ...]
BASIC_KEYS = (int, np.integer, slice, NoneType, EllipsisType)


class Function:
    """One call of an op: a node of the graph, with `inputs` and `output` (Tensors).

    Args:
        *inputs: the call's Tensors; none if only `forward` of arrays is wanted.
        **params: become attributes of the node.

    Example:
        >>> Add().forward(np.ones(2), np.ones(2))
        array([2., 2.])
    """

    output: Any = None

    def __init__(self, *inputs: Any, **params: Any) -> None:
        self.inputs = inputs
        self.__dict__.update(params)

    @classmethod
    def apply(cls, *inputs: AnyTensor, **params: Any) -> AnyTensor:
        """Run the op on Tensors; record it if one of them requires a gradient.

        Returns:
            A new Tensor; if recorded, its `_grad_fn` is the node.
        """
        tensors: tuple[Any, ...] = inputs
        node = cls(*tensors, **params)
        out = type(tensors[0])(node.forward(*(tensor.data for tensor in tensors)))
        node.output = out
        if is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            out.requires_grad, out._grad_fn = True, node  # noqa: SLF001  (the graph)
        made: AnyTensor = out
        return made

    def forward(self, *arrays: Any, **_: Any) -> Any:
        """Return the output array of input arrays; each op has its own."""
        raise NotImplementedError(f"{type(self).__name__} needs forward(self, *arrays)")

    def backward(self, grad: Any) -> Grads:
        """Return the gradient of each input array, None for one that has none.

        Args:
            grad: gradient of the output, of its shape.
        """
        raise NotImplementedError(f"{type(self).__name__} needs backward(self, grad)")

    def __repr__(self) -> str:
        """Name the node as graphs show it, for example `SigmoidBackward`."""
        return type(self).__name__.removesuffix("Function") + "Backward"


def placed_like(values: Any, neighbour: Any) -> Any:
    """Copy values into a new array of a neighbour's kind, where the neighbour is."""
    made = np.empty_like(neighbour, dtype=values.dtype, shape=values.shape)
    made[...] = values
    return made


class Add(Function):
    """a + b."""

    def forward(self, a: Any, b: Any) -> Any:
        """Return the elementwise sum."""
        return a + b

    def backward(self, grad: Any) -> Grads:
        """Pass the gradient to both."""
        return _fitted(self, grad, grad)


class Sub(Function):
    """a - b."""

    def forward(self, a: Any, b: Any) -> Any:
        """Return the elementwise difference."""
        return a - b

    def backward(self, grad: Any) -> Grads:
        """Pass the gradient to a, its negative to b."""
        return _fitted(self, grad, -grad)


class Mul(Function):
    """a * b."""

    def forward(self, a: Any, b: Any) -> Any:
        """Return the elementwise product."""
        return a * b

    def backward(self, grad: Any) -> Grads:
        """Scale the gradient by the other factor."""
        a, b = self.inputs
        return _fitted(self, grad * b.data, grad * a.data)


class Div(Function):
    """a / b."""

    def forward(self, a: Any, b: Any) -> Any:
        """Return the elementwise quotient."""
        return a / b

    def backward(self, grad: Any) -> Grads:
        """Return g / b and -g a / b²."""
        a, b = (tensor.data for tensor in self.inputs)
        by_a = grad / b
        return _fitted(self, by_a, -by_a * (a / b))


class MatMul(Function):
    """a @ b of (..., m, k) and (..., k, n); a 1-D a is one row, a 1-D b one column."""

    def forward(self, a: Any, b: Any) -> Any:
        """Return the product (..., m, n)."""
        return np.matmul(a, b)

    def backward(self, grad: Any) -> Grads:
        """Return g @ Bᵀ and Aᵀ @ g, None where no gradient is required."""
        a, b = (tensor.data for tensor in self.inputs)
        left = np.expand_dims(a, 0) if a.ndim == 1 else a  # (..., m, k)
        right = np.expand_dims(b, 1) if b.ndim == 1 else b  # (..., k, n)
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
        grad = np.reshape(grad, (*batch, left.shape[-2], right.shape[-1]))
        by_a = by_b = None
        if self.inputs[0].requires_grad:
            product = np.matmul(grad, np.swapaxes(right, -1, -2))
            by_a = unbroadcast(product, left.shape).reshape(a.shape)
        if self.inputs[1].requires_grad:
            product = np.matmul(np.swapaxes(left, -1, -2), grad)
            by_b = unbroadcast(product, right.shape).reshape(b.shape)
        return by_a, by_b


class Slice(Function):
    """a[key]."""

    key: Any = ...

    def forward(self, a: Any) -> Any:
        """Return the elements that the key selects."""
        return a[self.key]

    def backward(self, grad: Any) -> Grads:
        """Put the gradient where the elements came from, 0 elsewhere."""
        whole = np.zeros_like(self.inputs[0].data)
        keys = self.key if isinstance(self.key, tuple) else (self.key,)
        if all(isinstance(key, BASIC_KEYS) for key in keys):
            whole[self.key] = grad
        else:  # an index array may select an element twice
            np.add.at(whole, self.key, grad)
        return (whole,)


class Reshape(Function):
    """The same elements in another shape."""

    shape: tuple[int, ...] = (-1,)

    def forward(self, a: Any) -> Any:
        """Return the elements in `shape`."""
        return a.reshape(self.shape)

    def backward(self, grad: Any) -> Grads:
        """Give the gradient the input's shape."""
        return (grad.reshape(self.inputs[0].data.shape),)


class Permute(Function):
    """Axes in another order: axis i is the input's axis `axes[i]`."""

    axes: tuple[int, ...] = ()

    def forward(self, a: Any) -> Any:
        """Return the axes in the order `axes`."""
        return np.transpose(a, self.axes)

    def backward(self, grad: Any) -> Grads:
        """Put the axes back."""
        return (np.transpose(grad, tuple(np.argsort(self.axes).tolist())),)


class Copy(Function):
    """The same elements, in C order."""

    def forward(self, a: Any) -> Any:
        """Return a copy."""
        return a.copy()

    def backward(self, grad: Any) -> Grads:
        """Pass the gradient on."""
        return (grad,)


class MaskedFill(Function):
    """One value wherever a mask holds."""

    mask: Any = False
    value: float = 0.0

    def forward(self, a: Any) -> Any:
        """Return `value` where `mask` holds, a elsewhere."""
        return np.where(self.mask, self.value, a)

    def backward(self, grad: Any) -> Grads:
        """Return 0 where `mask` holds: nothing there depends on a."""
        return (np.where(self.mask, 0.0, grad),)


class Sum(Function):
    """Sum along axes."""

    axis: Axis = None
    keepdims = False

    def forward(self, a: Any) -> Any:
        """Return the sum."""
        return np.sum(a, axis=self.axis, keepdims=self.keepdims)

    def backward(self, grad: Any) -> Grads:
        """Give every summand the gradient of its sum."""
        return (_spread(self, grad).copy(),)


class Mean(Function):
    """Mean along axes."""

    axis: Axis = None
    keepdims = False

    def forward(self, a: Any) -> Any:
        """Return the mean."""
        return np.mean(a, axis=self.axis, keepdims=self.keepdims)

    def backward(self, grad: Any) -> Grads:
        """Give every element an equal share of the gradient."""
        count = self.inputs[0].data.size / max(1, np.size(grad))
        return (_spread(self, grad) / count,)


class Max(Function):
    """Maximum along axes."""

    axis: Axis = None
    keepdims = False

    def forward(self, a: Any) -> Any:
        """Return the maximum."""
        return np.max(a, axis=self.axis, keepdims=self.keepdims)

    def backward(self, grad: Any) -> Grads:
        """Give the gradient to the largest; equal ones share it."""
        largest = _spread(self, self.output.data)
        winners = (self.inputs[0].data == largest).astype(np.float32)
        ties = np.sum(winners, axis=self.axis, keepdims=True)
        return (_spread(self, grad) * winners / ties,)


def _fitted(node: Any, *grads: Any) -> Grads:
    """Sum each gradient over the axes along which its input was repeated."""
    pairs = zip(grads, node.inputs, strict=True)
    return tuple(unbroadcast(grad, tensor.data.shape) for grad, tensor in pairs)


def _spread(node: Any, reduced: Any) -> Any:
    """Repeat each reduced value where its elements are: the input's shape."""
    if node.axis is not None and not node.keepdims:
        reduced = np.expand_dims(reduced, node.axis)
    return np.broadcast_to(reduced, node.inputs[0].data.shape)
