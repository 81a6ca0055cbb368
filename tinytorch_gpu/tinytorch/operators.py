"""Operators and methods of `Tensor`: each checks its operands and applies a Function."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch import functions as ops
from tinytorch_gpu.tinytorch.tensor import Tensor

__all__ = ["as_tensor"]


def as_tensor(value: Any) -> Tensor:
    """Return the value as a Tensor.

    Example:
        >>> as_tensor(2.0).shape
        ()
    """
    return value if isinstance(value, Tensor) else Tensor(value)


def _operator(function: Any) -> tuple[Any, Any]:
    """Make `a op b` and its reflected form."""

    def forward(self: Tensor, other: Any) -> Tensor:
        result: Tensor = function.apply(self, as_tensor(other))
        return result

    def reflected(self: Tensor, other: Any) -> Tensor:
        result: Tensor = function.apply(as_tensor(other), self)
        return result

    return forward, reflected


def _reduction(function: Any) -> Any:
    def reduce(self: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Reduce over one axis, a tuple of axes, or all."""
        result: Tensor = function.apply(self, axis=axis, keepdims=keepdims)
        return result

    return reduce


def _matmul(self: Tensor, other: Any) -> Tensor:
    """Multiply matrices.

    Raises:
        TypeError: `other` is no Tensor.
        ValueError: an operand has no axes, or the inner lengths differ.
    """
    if not isinstance(other, Tensor):
        message = (
            f"matmul requires Tensor, got {type(other).__name__}: wrap it, Tensor(x)"
        )
        raise TypeError(message)
    if not self.shape or not other.shape:
        message = (
            f"matmul operands must be at least 1D, got {self.shape}, {other.shape}"
        )
        raise ValueError(message)
    inner = other.shape[-2] if other.ndim > 1 else other.shape[0]
    if self.shape[-1] != inner:
        message = (
            f"Inner dimensions don't match: {self.shape} @ {other.shape}, "
            f"{self.shape[-1]} vs {inner}; transpose one of them"
        )
        raise ValueError(message)
    return ops.MatMul.apply(self, other)


def _getitem(self: Tensor, key: Any) -> Tensor:
    """Index or slice."""
    return ops.Slice.apply(self, key=key)


def _reshape(self: Tensor, *shape: Any) -> Tensor:
    """Return the elements in another shape; one length may be −1.

    Raises:
        ValueError: the lengths are not positive, or hold another number of elements.
    """
    lengths = (
        shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    )
    lengths = tuple(int(n) for n in lengths)
    known = int(np.prod([n for n in lengths if n != -1], dtype=np.int64))
    unknown = lengths.count(-1)
    if unknown > 1 or any(n < -1 or (n == 0 and self.size) for n in lengths):
        message = f"reshape to {lengths}: lengths are positive, and one may be -1"
        raise ValueError(message)
    if unknown and known:
        lengths = tuple(int(self.size) // known if n == -1 else n for n in lengths)
    if int(np.prod(lengths, dtype=np.int64)) != self.size:
        message = (
            f"Element count mismatch: {self.shape} has {self.size} elements, "
            f"{lengths} does not"
        )
        raise ValueError(message)
    return ops.Reshape.apply(self, shape=lengths)


def _transpose(self: Tensor, dim0: Any = None, dim1: Any = None) -> Tensor:
    """Exchange two axes; without arguments the last two.

    Raises:
        ValueError: only one axis is named.
    """
    if (dim0 is None) != (dim1 is None):
        message = f"transpose takes both axes or none, got {dim0} and {dim1}"
        raise ValueError(message)
    axes = list(range(self.ndim))
    if self.ndim > 1:
        first, second = (-2, -1) if dim0 is None else (dim0, dim1)
        axes[first], axes[second] = axes[second], axes[first]
    return ops.Permute.apply(self, axes=tuple(axes))


def _contiguous(self: Tensor) -> Tensor:
    """Return a copy in C order."""
    return ops.Copy.apply(self)


def _masked_fill(self: Tensor, mask: Any, value: float) -> Tensor:
    """Return the tensor with `value` where the mask is not zero."""
    array = mask.data if isinstance(mask, Tensor) else mask
    return ops.MaskedFill.apply(self, mask=array != 0, value=value)


def _attach() -> None:
    """Put everything on the class."""
    pairs = {"add": ops.Add, "sub": ops.Sub, "mul": ops.Mul, "truediv": ops.Div}
    methods: dict[str, Any] = {
        "matmul": _matmul,
        "__matmul__": _matmul,
        "__getitem__": _getitem,
        "reshape": _reshape,
        "view": _reshape,
        "transpose": _transpose,
        "contiguous": _contiguous,
        "masked_fill": _masked_fill,
        "sum": _reduction(ops.Sum),
        "mean": _reduction(ops.Mean),
        "max": _reduction(ops.Max),
    }
    for name, function in pairs.items():
        methods[f"__{name}__"], methods[f"__r{name}__"] = _operator(function)
    for name, method in methods.items():
        setattr(Tensor, name, method)


_attach()
