"""Typed arithmetic over lanes: every operator of a lane program ends here.

A value is a NumPy scalar (the same for all lanes: uniform) or an array broadcastable
to (blocks, threads). Each operator finds its result's dtype in `typing_rules` and lets
NumPy compute exactly that; nothing is promoted for convenience. Python's operators are
used, not NumPy's functions: on scalars they are ten times faster, and give the same.

Limits: `a * b + c` is two roundings, where a GPU's compiler makes one fused operation.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.executor.conversion import cast, dtype_of
from tinytorch_gpu.executor.powers import power
from tinytorch_gpu.executor.typing_rules import result_dtype, unified_dtype

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BINARY",
    "COMPARE",
    "SPECIAL_OPERATORS",
    "UNARY",
    "absolute",
    "and_then",
    "cast",
    "dtype_of",
    "maximum",
    "minimum",
    "or_else",
    "select",
    "truth",
    "typed",
    "typed_unary",
    "unify",
]

Dtype = np.dtype[Any]
Operator = Any
Conversions = tuple[Dtype | None, Dtype | None]
BOOL = np.dtype("bool")
SHIFT_LIMIT = np.uint64(63)


def typed(compute: Callable[[Any, Any], Any], operation: str) -> Operator:
    """Make an operator on two numbers that computes in the dtype of their pair.

    Args:
        compute: called with both values in that dtype.
        operation: row of `typing_rules.BINARY_TYPES`, or `compare`.

    Example:
        >>> typed(operator.add, "arithmetic")(np.int32(2**31 - 1), np.int8(1))
        np.int64(2147483648)
    """
    known: dict[Dtype, dict[Dtype, Conversions | None]] = {}

    def typed_operator(a: Any, b: Any) -> Any:
        try:
            conversions = known[a.dtype][b.dtype]
        except (KeyError, AttributeError):
            x, y = dtype_of(a), dtype_of(b)
            conversions = _conversions(operation, x, y)
            known.setdefault(x, {})[y] = conversions
        if conversions is None:
            return compute(a, b)
        left, right = conversions  # to convert a scalar to its own dtype costs as much
        return compute(
            a if left is None else a.astype(left),
            b if right is None else b.astype(right),
        )

    typed_operator.__name__ = operation
    return typed_operator


def _conversions(operation: str, a: Dtype, b: Dtype) -> Conversions | None:
    """Find what a pair has to be converted to; None for what is right as it is."""
    if operation == "compare":
        operation = "arithmetic"
        if a.kind != "f" and b.kind != "f":
            result_dtype(operation, a, b)  # both are numbers
            return None  # integers compare by value, whatever their signs
    dtype = result_dtype(operation, a, b)
    if a == b == dtype:
        return None
    return None if a == dtype else dtype, None if b == dtype else dtype


def typed_unary(compute: Callable[[Any], Any], operation: str) -> Operator:
    """Make an operator on one number that computes in the dtype of its result.

    Args:
        compute: called with the value in that dtype.
        operation: row of `typing_rules.UNARY_TYPES`.

    Example:
        >>> typed_unary(np.sqrt, "math")(np.int32(9))
        np.float64(3.0)
    """
    known: dict[Dtype, Dtype] = {}

    def typed_operator(a: Any) -> Any:
        try:
            dtype = known[a.dtype]
        except (KeyError, AttributeError):
            dtype = result_dtype(operation, dtype_of(a))
            known[a.dtype] = dtype
        return compute(a.astype(dtype, copy=False))

    typed_operator.__name__ = operation
    return typed_operator


def _shift(compute: Callable[[Any, Any], Any]) -> Operator:
    """Shift at 64 bits; a count of 64 or more gives what PTX gives: 0 or the sign."""

    def shift(a: Any, b: Any) -> Any:
        dtype = result_dtype("shift", dtype_of(a), dtype_of(b))
        wide, count = a.astype(dtype, copy=False), b.astype(np.uint64)
        inside = compute(wide, np.minimum(count, SHIFT_LIMIT).astype(dtype))
        if not np.any(count > SHIFT_LIMIT):
            return inside
        is_signed_right = compute is operator.rshift and dtype.kind == "i"
        beyond = wide >> dtype.type(63) if is_signed_right else dtype.type(0)
        return np.where(count > SHIFT_LIMIT, beyond, inside)[()]

    return shift


BINARY: dict[str, Operator] = {
    "add": typed(operator.add, "arithmetic"),
    "sub": typed(operator.sub, "arithmetic"),
    "mul": typed(operator.mul, "arithmetic"),
    "truediv": typed(operator.truediv, "division"),
    "floordiv": typed(operator.floordiv, "floor"),
    "mod": typed(operator.mod, "floor"),
    "pow": power,
    "and_": typed(operator.and_, "bits"),
    "or_": typed(operator.or_, "bits"),
    "xor": typed(operator.xor, "bits"),
    "lshift": _shift(operator.lshift),
    "rshift": _shift(operator.rshift),
}

COMPARE: dict[str, Operator] = {
    name: typed(getattr(operator, name), "compare")
    for name in ("lt", "le", "gt", "ge", "eq", "ne")
}

# Operations that a GPU does in many steps, for the cost model.
SPECIAL_OPERATORS = frozenset({"truediv", "floordiv", "mod", "pow"})


def truth(a: Any) -> Any:
    """Return bool lanes: non-zero is true."""
    if isinstance(a, bool):
        return np.bool_(a)
    return a if dtype_of(a) == BOOL else a != a.dtype.type(0)


def _not(a: Any) -> Any:
    return np.logical_not(truth(a))


UNARY: dict[str, Operator] = {
    "neg": typed_unary(operator.neg, "sign"),
    "pos": typed_unary(operator.pos, "sign"),
    "invert": typed_unary(operator.invert, "invert"),
    "not_": _not,
}
absolute = typed_unary(np.abs, "abs")


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller; a NaN loses, and -0.0 < +0.0, as in PTX's min."""
    x, y = unify(a, b)
    return _signed_zeros(np.fmin(x, y), x, y, np.logical_or)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger; a NaN loses, and +0.0 > -0.0, as in PTX's max."""
    x, y = unify(a, b)
    return _signed_zeros(np.fmax(x, y), x, y, np.logical_and)


def _signed_zeros(result: Any, a: Any, b: Any, is_negative: Any) -> Any:
    """Give zeros the sign that PTX gives them; NumPy's hangs on its code path."""
    if result.dtype.kind != "f" or result.all():
        return result
    negative = is_negative(np.signbit(a), np.signbit(b))
    zero = np.where(negative, result.dtype.type(-0.0), result.dtype.type(0.0))
    return np.where((a == 0) & (b == 0), zero, result)[()]


def select(condition: Any, a: Any, b: Any) -> Any:
    """Return `a` where the condition is true, else `b`, in their unified dtype."""
    return np.where(truth(condition), *unify(a, b))[()]


def and_then(a: Any, b: Any) -> Any:
    """Return `a and b` of values that are both known: an operand, not its truth."""
    is_bool = dtype_of(a) == BOOL and dtype_of(b) == BOOL
    return np.logical_and(a, b) if is_bool else select(a, b, a)


def or_else(a: Any, b: Any) -> Any:
    """Return `a or b` of values that are both known."""
    is_bool = dtype_of(a) == BOOL and dtype_of(b) == BOOL
    return np.logical_or(a, b) if is_bool else select(a, a, b)


def unify(a: Any, b: Any) -> tuple[Any, Any]:
    """Return both values in the dtype of a variable that may hold either."""
    dtype = unified_dtype(dtype_of(a), dtype_of(b))
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)
