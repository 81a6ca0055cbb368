"""`Tensor`: a float32 array that remembers which ops made it.

Every op is a `Function`: `a + b` is `Add.apply(a, b)`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.autograd import run_backward
from tinytorch_gpu.tinytorch.functions import (
    Add,
    Copy,
    Div,
    Function,
    MaskedFill,
    MatMul,
    Max,
    Mean,
    Mul,
    Permute,
    Reshape,
    Slice,
    Sub,
    Sum,
    placed_like,
)

__all__ = [
    "Add", "Copy", "Div", "Function", "MaskedFill", "MatMul", "Max", "Mean", "Mul",
    "Permute", "Reshape", "Slice", "Sub", "Sum", "Tensor",
]  # fmt: skip


class Tensor:
    """A float32 array with operators, and gradients on request.

    `shape`, `size` and `dtype` are those of the data at construction; `grad` is a bare
    float32 array of that shape, or None. Operands of operators broadcast, or raise
    ValueError; numbers and arrays become Tensors.

    Args:
        data: array, number, nested lists, a Tensor, or a list of Tensors to stack;
            always copied.
        requires_grad: record the ops on this tensor, for `backward`.

    Example:
        >>> x = Tensor([1, 2], requires_grad=True)
        >>> (3 * x * x).sum().backward()
        >>> x.grad  # d(3x²) = 6x
        array([ 6., 12.], dtype=float32)
    """

    __array_priority__ = 1000  # `ndarray + tensor` is left to the Tensor

    def __init__(self, data: Any, requires_grad: bool = False) -> None:
        if isinstance(data, (list, tuple)):
            data = [item.data if isinstance(item, Tensor) else item for item in data]
        bare = data.data if isinstance(data, Tensor) else data
        self.data: Any = np.array(bare, dtype=np.float32)
        self.shape: tuple[int, ...] = self.data.shape
        self.size: int = self.data.size
        self.dtype: Any = self.data.dtype
        self.requires_grad = requires_grad
        self.grad: Any = None
        self._grad_fn: Function | None = None
        self._graph_released = False

    def __repr__(self) -> str:
        """Show data, shape and whether gradients are recorded."""
        suffix = ", requires_grad=True" if self.requires_grad else ""
        return f"Tensor(data={self.data}, shape={self.shape}{suffix})"

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def numel(self) -> int:
        """Return the number of elements."""
        return self.size

    def numpy(self) -> Any:
        """Return the data itself, not a copy."""
        return self.data

    def memory_footprint(self) -> int:
        """Return the bytes of the data; 4 for each element."""
        return int(self.data.nbytes)

    def __add__(self, other: Any) -> Tensor:
        """Return self + other."""
        return Add.apply(*self._pair(other))

    def __sub__(self, other: Any) -> Tensor:
        """Return self - other."""
        return Sub.apply(*self._pair(other))

    def __rsub__(self, other: Any) -> Tensor:
        """Return other - self."""
        return Sub.apply(*reversed(self._pair(other)))

    def __mul__(self, other: Any) -> Tensor:
        """Return self * other."""
        return Mul.apply(*self._pair(other))

    def __truediv__(self, other: Any) -> Tensor:
        """Return self / other."""
        return Div.apply(*self._pair(other))

    def __rtruediv__(self, other: Any) -> Tensor:
        """Return other / self."""
        return Div.apply(*reversed(self._pair(other)))

    def matmul(self, other: Tensor) -> Tensor:
        """Return the matrix product of (..., m, k) or (k,), and (..., k, n) or (k,).

        Raises:
            TypeError: other is no Tensor.
            ValueError: an operand has no axes, or the inner lengths differ.
        """
        self._validate_matmul_shapes(other)
        return MatMul.apply(self, other)

    __radd__, __rmul__, __matmul__ = __add__, __mul__, matmul

    def __getitem__(self, key: Any) -> Tensor:
        """Return the elements that a NumPy index selects."""
        return Slice.apply(self, key=key)

    def reshape(self, *shape: Any) -> Tensor:
        """Return the same elements in another shape.

        Args:
            *shape: lengths, or one tuple of them; one may be -1 and is worked out.

        Raises:
            ValueError: a length is 0 or below -1, or the element counts differ.

        Example:
            >>> Tensor([[1, 2, 3], [4, 5, 6]]).reshape(3, -1).shape
            (3, 2)
        """
        is_packed = len(shape) == 1 and isinstance(shape[0], (tuple, list))
        wanted = tuple(shape[0]) if is_packed else shape
        return Reshape.apply(self, shape=_resolved(wanted, self.data.size))

    view = reshape

    def transpose(self, dim0: int | None = None, dim1: int | None = None) -> Tensor:
        """Return a tensor with two axes exchanged; without arguments, the last two.

        Raises:
            ValueError: only one of the axes is given.
            IndexError: there is no such axis.
        """
        if (dim0 is None) != (dim1 is None):
            raise ValueError(f"transpose({dim0}, {dim1}): name both axes or none")
        if dim0 is None and self.ndim < 2:
            return self.contiguous()
        first, second = (-2, -1) if dim0 is None or dim1 is None else (dim0, dim1)
        axes = list(range(self.ndim))
        axes[first], axes[second] = axes[second], axes[first]
        return Permute.apply(self, axes=tuple(axes))

    def contiguous(self) -> Tensor:
        """Return a copy whose elements lie in C order."""
        return Copy.apply(self)

    def masked_fill(self, mask: Any, value: float) -> Tensor:
        """Return a copy with one value wherever the mask is not 0.

        Args:
            mask: Tensor or array whose shape broadcasts to the tensor's.
            value: the number to write.

        Raises:
            ValueError: the mask does not broadcast to the tensor's shape.
        """
        is_set = np.not_equal(mask.data if isinstance(mask, Tensor) else mask, 0)
        if _broadcast(is_set.shape, self.data.shape) != self.data.shape:
            raise ValueError(
                f"mask shape mismatch: {is_set.shape} is larger than the tensor's "
                f"{self.data.shape}; select or reduce the mask first"
            )
        return MaskedFill.apply(self, mask=placed_like(is_set, self.data), value=value)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the sum over one axis, a tuple of axes, or (None) all."""
        return Sum.apply(self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the mean over one axis, a tuple of axes, or (None) all."""
        return Mean.apply(self, axis=axis, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Return the maximum over one axis, a tuple of axes, or (None) all."""
        return Max.apply(self, axis=axis, keepdims=keepdims)

    def backward(self, gradient: Any = None, retain_graph: bool = False) -> None:
        """Add the gradients of this tensor to `.grad` of all it was made from.

        Args:
            gradient: weight of each element, of the tensor's shape; None means ones.
            retain_graph: keep the graph, so that `backward` can be called again.

        Raises:
            ValueError: the gradient has another shape.
            RuntimeError: the graph was released by an earlier call, or an op gave a
                gradient of a wrong shape.
        """
        weights = gradient.data if isinstance(gradient, Tensor) else gradient
        run_backward(self, weights, retain_graph)

    def zero_grad(self) -> None:
        """Forget the gradient."""
        self.grad = None

    def _pair(self, other: Any) -> tuple[Tensor, Tensor]:
        """Return both operands as Tensors whose shapes broadcast."""
        other = other if isinstance(other, Tensor) else Tensor(other)
        _broadcast(self.data.shape, other.data.shape)
        return self, other

    def _validate_matmul_shapes(self, other: Any) -> None:
        if not isinstance(other, Tensor):
            raise TypeError(
                f"matmul requires Tensor operands, got {type(other).__name__}: write "
                "x.matmul(Tensor(y)), or x * y for a number"
            )
        a, b = self.data.shape, other.data.shape
        if not a or not b:
            raise ValueError(
                f"matmul operands must be at least 1D, got {a} and {b}: write x * y"
            )
        if a[-1] != b[-2:][0]:
            raise ValueError(
                f"Inner dimensions don't match: {a} @ {b} has {a[-1]} vs {b[-2:][0]}; "
                "transpose or reshape one operand"
            )
        _broadcast(a[:-2], b[:-2])


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Return the common shape; refuse shapes that have none."""
    try:
        return a if a == b else np.broadcast_shapes(a, b)
    except ValueError:
        raise ValueError(
            f"shape mismatch: {a} and {b} do not broadcast; counted from the end, "
            "lengths must be equal or 1: reshape or transpose one of them"
        ) from None


def _resolved(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Check a wanted shape and work out its -1."""
    if shape.count(-1) > 1 or any(n == 0 or n < -1 for n in shape):
        raise ValueError(f"reshape to {shape}: lengths are positive, one may be -1")
    known = math.prod(n for n in shape if n != -1)
    if size != known and (-1 not in shape or size % known):
        raise ValueError(
            f"Element count mismatch: the tensor has {size} elements, which do not "
            f"fill {shape}; choose lengths whose product is {size}, or -1 for one"
        )
    return tuple(size // known if n == -1 else n for n in shape)
