"""Python functions that a kernel may call: math, builtins and NumPy's type names.

`FUNCTIONS` maps the function object itself to what the lane program calls and how the
operation is counted. Types and rounding follow `executor.arithmetic`.
"""

from __future__ import annotations

import builtins
import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.executor.arithmetic import (
    BINARY,
    absolute,
    cast,
    math_function,
    maximum,
    minimum,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FUNCTIONS", "Lowered"]


@dataclass(frozen=True)
class Lowered:
    """What a call becomes.

    Args:
        function: called with the lanes' values.
        kind: how it is counted: `arithmetic`, `special` or `convert`.
        fewest: arguments that it needs.
        most: arguments that it takes.
    """

    function: Callable[..., Any]
    kind: str
    fewest: int = 1
    most: int = 1


def _cast_to(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    return lambda value: cast(value, dtype)


def _many(pair: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Make a function of two or more values from one of two."""
    return lambda *values: functools.reduce(pair, values)


def _round(value: Any, digits: Any = None) -> Any:
    """Round half to even: int64, or with digits the value's own dtype, as numba."""
    if digits is None:
        return cast(np.rint(value.astype(np.float64)), np.dtype("int64"))
    return np.round(value, int(digits))


def _int(value: Any) -> Any:
    """Make an integer: what is one keeps its dtype, a float or bool becomes int64."""
    is_integer = np.result_type(value).kind in "iu"
    return value if is_integer else cast(value, np.dtype("int64"))


def _float(value: Any) -> Any:
    """Make a float: what is one keeps its dtype, an integer becomes float64."""
    is_float = np.result_type(value).kind == "f"
    return value if is_float else cast(value, np.dtype("float64"))


def _length(array: Any) -> Any:
    return np.int64(len(array)) if isinstance(array, tuple) else array.shape[0]


_SPECIAL_MATH = {
    "exp": np.exp,
    "expm1": np.expm1,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "hypot": np.hypot,
    "pow": np.power,
    "fmod": np.fmod,
}
_PLAIN_MATH = {
    "fabs": np.fabs,
    "copysign": np.copysign,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
}
_DTYPES = (
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
)


MANY = 255
NO_HALF = frozenset({np.tanh, np.log1p})


def _math(ufunc: Any, kind: str) -> Lowered:
    function = math_function(ufunc)
    if ufunc in NO_HALF:
        function = _at_least_single(function)
    return Lowered(function, kind, ufunc.nin, ufunc.nin)


def _at_least_single(function: Any) -> Callable[..., Any]:
    """Compute float16 in float32, where the compiler has no half form."""

    def compute(value: Any) -> Any:
        is_half = np.result_type(value) == np.float16
        return function(value.astype(np.float32) if is_half else value)

    return compute


def _table() -> dict[Any, Lowered]:
    table: dict[Any, Lowered] = {
        builtins.int: Lowered(_int, "convert"),
        builtins.float: Lowered(_float, "convert"),
        builtins.bool: Lowered(_cast_to(np.dtype("bool")), "convert"),
        builtins.abs: Lowered(absolute, "arithmetic"),
        builtins.min: Lowered(_many(minimum), "arithmetic", 2, MANY),
        builtins.max: Lowered(_many(maximum), "arithmetic", 2, MANY),
        builtins.pow: Lowered(BINARY["pow"], "special", 2, 2),
        builtins.round: Lowered(_round, "convert", 1, 2),
        builtins.len: Lowered(_length, "convert"),
    }
    for name, ufunc in _SPECIAL_MATH.items():
        if hasattr(math, name):  # math.exp2 came with Python 3.11
            table[getattr(math, name)] = _math(ufunc, "special")
    for name, ufunc in _PLAIN_MATH.items():
        table[getattr(math, name)] = _math(ufunc, "arithmetic")
    for name in _DTYPES.split():
        kind = getattr(np, name)
        table[kind] = Lowered(_cast_to(np.dtype(kind)), "convert")
    return table


FUNCTIONS = _table()
