"""Typed arithmetic over lanes: every operator of a lane program ends here.

A value is a NumPy scalar (the same for all lanes: uniform) or an array broadcastable
to (blocks, threads). Each function finds its result's dtype in `typing_rules` and lets
NumPy compute exactly that; nothing is promoted for convenience.

Limits: `a * b + c` is two roundings, where a GPU's compiler makes one fused operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.typing_rules import (
    BOOL,
    FLOAT32,
    FLOAT64,
    arithmetic_dtype,
    division_dtype,
    floor_dtype,
    power_dtype,
    shift_dtype,
    unified_dtype,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BINARY",
    "COMPARE",
    "UNARY",
    "absolute",
    "and_then",
    "cast",
    "math_function",
    "maximum",
    "minimum",
    "or_else",
    "select",
    "truth",
    "unify",
]

Dtype = np.dtype[Any]
Operator = Any


def _typed(ufunc: Any, rule: Callable[[Dtype, Dtype], Dtype]) -> Operator:
    """Make `op(a, b)` that computes `ufunc` in the dtype that `rule` gives."""
    known: dict[str, Dtype | None] = {}

    def operator(a: Any, b: Any) -> Any:
        try:
            key = a.dtype.char + b.dtype.char
            dtype = known[key]
        except (KeyError, AttributeError):
            dtype = _learn(rule, known, a, b)
        if dtype is None:
            return ufunc(a, b)
        return ufunc(a.astype(dtype, copy=False), b.astype(dtype, copy=False))

    operator.__name__ = ufunc.__name__
    return operator


def _learn(
    rule: Callable[[Dtype, Dtype], Dtype],
    known: dict[str, Dtype | None],
    a: Any,
    b: Any,
) -> Dtype | None:
    """Find the dtype of a pair once; None means that NumPy's own result is right."""
    x, y = _dtype_of(a), _dtype_of(b)
    dtype = rule(x, y)
    known[x.char + y.char] = None if x == y == dtype else dtype
    return known[x.char + y.char]


def _dtype_of(value: Any) -> Dtype:
    """Dtype of a number, or the error that says what stands there instead."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype
    raise KernelTypeError(
        f"a kernel cannot compute with {_kind_name(value)}",
        why="operators take numbers; an array takes part through its elements",
        fix="index it: x[i]",
    )


def _kind_name(value: Any) -> str:
    if value is None:
        return "None"
    return "an array" if hasattr(value, "shape") else f"a {type(value).__name__}"


def _power(a: Any, b: Any) -> Any:
    """Raise to a power; an integer to a negative power gives 0, never an exception."""
    base, exponent = _dtype_of(a), _dtype_of(b)
    dtype = power_dtype(base, exponent)
    if dtype.kind == "f":
        return np.power(a.astype(dtype), b.astype(dtype))
    raised = np.power(a.astype(dtype), np.maximum(b, b.dtype.type(0)).astype(dtype))
    return np.where(b < 0, dtype.type(0), raised)[()]


def _shift(ufunc: Any) -> Operator:
    """Shift at 64 bits; a count of 64 or more gives what PTX gives: 0 or the sign."""

    def operator(a: Any, b: Any) -> Any:
        _integer(arithmetic_dtype(_dtype_of(a), _dtype_of(b)))
        dtype = shift_dtype(a.dtype, b.dtype)
        wide, count = a.astype(dtype), b.astype(np.uint64)
        inside = ufunc(wide, np.minimum(count, np.uint64(63)).astype(dtype))
        is_signed_right = ufunc is np.right_shift and dtype.kind == "i"
        beyond = wide >> dtype.type(63) if is_signed_right else dtype.type(0)
        return np.where(count > np.uint64(63), beyond, inside)[()]

    return operator


def _bitwise(ufunc: Any) -> Operator:
    """Combine bits; two bools stay bool, integers widen."""

    def rule(a: Dtype, b: Dtype) -> Dtype:
        return BOOL if a == b == BOOL else _integer(arithmetic_dtype(a, b))

    return _typed(ufunc, rule)


def _integer(dtype: Dtype) -> Dtype:
    if dtype.kind == "f":
        raise KernelTypeError(
            f"a bit operation on {dtype.name}",
            why="&, |, ^, << and >> take integers",
            fix="convert with int(x) first",
        )
    return dtype


def _compared(a: Dtype, b: Dtype) -> Dtype:
    """Dtype in which two numbers are compared; equal dtypes need no conversion."""
    return a if a == b else arithmetic_dtype(a, b)


BINARY: dict[str, Operator] = {
    "add": _typed(np.add, arithmetic_dtype),
    "sub": _typed(np.subtract, arithmetic_dtype),
    "mul": _typed(np.multiply, arithmetic_dtype),
    "truediv": _typed(np.true_divide, division_dtype),
    "floordiv": _typed(np.floor_divide, floor_dtype),
    "mod": _typed(np.remainder, floor_dtype),
    "pow": _power,
    "and_": _bitwise(np.bitwise_and),
    "or_": _bitwise(np.bitwise_or),
    "xor": _bitwise(np.bitwise_xor),
    "lshift": _shift(np.left_shift),
    "rshift": _shift(np.right_shift),
}

COMPARE: dict[str, Operator] = {
    "lt": _typed(np.less, _compared),
    "le": _typed(np.less_equal, _compared),
    "gt": _typed(np.greater, _compared),
    "ge": _typed(np.greater_equal, _compared),
    "eq": _typed(np.equal, _compared),
    "ne": _typed(np.not_equal, _compared),
}

# Operations that a GPU does in many steps, for the cost model.
SPECIAL_OPERATORS = frozenset({"truediv", "floordiv", "mod", "pow"})


def _negative(a: Any) -> Any:
    dtype = _dtype_of(a)
    return np.negative(a if dtype.kind == "f" else a.astype(_wide(a)))


def _positive(a: Any) -> Any:
    return a if _dtype_of(a).kind == "f" else a.astype(_wide(a))


def _invert(a: Any) -> Any:
    return np.invert(a if _dtype_of(a) == BOOL else a.astype(_integer(_wide(a))))


def _wide(a: Any) -> Dtype:
    return arithmetic_dtype(a.dtype, a.dtype)


def truth(a: Any) -> Any:
    """Return bool lanes: non-zero is true."""
    if isinstance(a, bool):
        return np.bool_(a)
    return a if _dtype_of(a) == BOOL else a != a.dtype.type(0)


def _not(a: Any) -> Any:
    return np.logical_not(truth(a))


UNARY: dict[str, Operator] = {
    "neg": _negative,
    "pos": _positive,
    "invert": _invert,
    "not_": _not,
}


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller; a NaN loses, as in PTX's min."""
    return np.fmin(*unify(a, b))


def maximum(a: Any, b: Any) -> Any:
    """Return the larger; a NaN loses, as in PTX's max."""
    return np.fmax(*unify(a, b))


def absolute(a: Any) -> Any:
    """Return the absolute value in the operand's dtype."""
    _dtype_of(a)
    return np.abs(a)


def select(condition: Any, a: Any, b: Any) -> Any:
    """Return `a` where the condition is true, else `b`, in their unified dtype."""
    return np.where(truth(condition), *unify(a, b))[()]


def and_then(a: Any, b: Any) -> Any:
    """Return `a and b` of values that are both known: an operand, not its truth."""
    is_bool = _dtype_of(a) == BOOL and _dtype_of(b) == BOOL
    return np.logical_and(a, b) if is_bool else select(a, b, a)


def or_else(a: Any, b: Any) -> Any:
    """Return `a or b` of values that are both known."""
    is_bool = _dtype_of(a) == BOOL and _dtype_of(b) == BOOL
    return np.logical_or(a, b) if is_bool else select(a, a, b)


def unify(a: Any, b: Any) -> tuple[Any, Any]:
    """Return both values in the dtype of a variable that may hold either."""
    dtype = unified_dtype(_dtype_of(a), _dtype_of(b))
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)


def math_function(ufunc: Any) -> Operator:
    """Make a math function: float32 in, float32 out; integers become float64."""

    def function(*args: Any) -> Any:
        dtypes = [_dtype_of(a) for a in args]
        is_single = all(d in (FLOAT32, np.float16) for d in dtypes)
        dtype = np.result_type(*dtypes) if is_single else FLOAT64
        return ufunc(*(a.astype(dtype, copy=False) for a in args))

    return function


def cast(value: Any, dtype: Dtype) -> Any:
    """Convert as the GPU does: floats truncate and saturate, integers wrap.

    Example:
        >>> cast(np.float32([2.9, -2.9, 1e10, np.nan]), np.dtype("int32")).tolist()
        [2, -2, 2147483647, 0]
        >>> cast(np.int64(300), np.dtype("uint8"))
        np.uint8(44)
    """
    source = _dtype_of(value)
    if source == dtype:
        return value
    if source.kind == "f" and dtype.kind in "iu":
        return _saturate(value, dtype)
    return value.astype(dtype)


def _saturate(value: Any, dtype: Dtype) -> Any:
    """Convert floats to integers: truncate, clamp to the range, NaN becomes 0."""
    limits = np.iinfo(dtype)
    wide = np.trunc(value.astype(FLOAT64))
    low, high = float(limits.min), float(limits.max)
    safe = np.where((wide > low) & (wide < high), wide, 0.0)
    result = safe.astype(dtype)
    result = np.where(wide >= high, dtype.type(limits.max), result)
    return np.where(wide <= low, dtype.type(limits.min), result)[()]
