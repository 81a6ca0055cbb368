"""The `math` functions over lanes, with numba.cuda's types.

float32 in gives float32, integers give float64; float16 stays float16 where the GPU
has such a function and becomes float32 elsewhere. What raises on the host (a root of
-1, the gamma function at a pole) gives NaN or infinity, as on a GPU.

Limits: results are NumPy's or the C library's, within a unit or two in the last place;
a GPU's own functions differ from both by as much.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.executor.arithmetic import typed, typed_unary
from tinytorch_gpu.executor.conversion import cast, dtype_of
from tinytorch_gpu.executor.typing_rules import result_dtype

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BINARY_MATH", "UNARY_MATH", "round_half_even", "round_to"]

INT32, INT64, FLOAT64 = np.dtype("int32"), np.dtype("int64"), np.dtype("float64")
PLAIN_DIGITS = 22  # the largest power of ten that is exact in float64
POWERS_OF_TEN = np.array([10.0**n for n in range(309)])


def _by_element(function: Callable[..., float], count: int) -> Callable[..., Any]:
    """Make a function of lanes from one of Python floats."""
    of_objects = np.frompyfunc(function, count, 1)

    def of_lanes(*values: Any) -> Any:
        found = of_objects(*(value.astype(FLOAT64) for value in values))
        return np.asarray(found, FLOAT64).astype(values[0].dtype)[()]

    return of_lanes


def _gamma(x: float) -> float:
    """Gamma function: infinite at zero, NaN at the negative whole numbers."""
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.copysign(math.inf, x) if x == 0 else math.nan


def _lgamma(x: float) -> float:
    """Logarithm of |gamma|: infinite at the poles."""
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):
        return math.inf


def _remainder(x: float, y: float) -> float:
    """IEEE remainder, which rounds the quotient to even; NaN where there is none."""
    try:
        return math.remainder(x, y)
    except ValueError:
        return math.nan


def _degrees(x: Any) -> Any:
    return x * x.dtype.type(180 / math.pi)


def _radians(x: Any) -> Any:
    return x * x.dtype.type(math.pi / 180)


def _ldexp(x: Any, exponent: Any) -> Any:
    """Return x × 2**exponent in the float type of x."""
    dtype = result_dtype("small_math", dtype_of(x))
    dtype_of(exponent)
    return np.ldexp(x.astype(dtype), cast(exponent, INT32))


def _test(ufunc: Any) -> Callable[[Any], Any]:
    """Make a question about a float, which every other number answers as well."""

    def function(x: Any) -> Any:
        dtype_of(x)
        return ufunc(x)

    return function


_HALF: dict[str, Any] = {
    "cos": np.cos,
    "sin": np.sin,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "fabs": np.fabs,
    "ceil": np.ceil,
    "floor": np.floor,
    "trunc": np.trunc,
}
_SINGLE: dict[str, Any] = {
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "acosh": np.arccosh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "tan": np.tan,
    "cosh": np.cosh,
    "sinh": np.sinh,
    "tanh": np.tanh,
    "erf": _by_element(math.erf, 1),
    "erfc": _by_element(math.erfc, 1),
    "expm1": np.expm1,
    "gamma": _by_element(_gamma, 1),
    "lgamma": _by_element(_lgamma, 1),
    "log1p": np.log1p,
    "degrees": _degrees,
    "radians": _radians,
}
UNARY_MATH: dict[str, Callable[[Any], Any]] = {
    **{name: typed_unary(ufunc, "half_math") for name, ufunc in _HALF.items()},
    **{name: typed_unary(ufunc, "math") for name, ufunc in _SINGLE.items()},
    "frexp": typed_unary(np.frexp, "small_math"),
    "modf": typed_unary(np.modf, "modf"),
    "isnan": _test(np.isnan),
    "isinf": _test(np.isinf),
    "isfinite": _test(np.isfinite),
}
BINARY_MATH: dict[str, Callable[[Any, Any], Any]] = {
    "atan2": typed(np.arctan2, "angle"),
    "hypot": typed(np.hypot, "angle"),
    "fmod": typed(np.fmod, "remainder"),
    "remainder": typed(_by_element(_remainder, 2), "remainder"),
    "copysign": typed(np.copysign, "remainder"),
    "nextafter": typed(np.nextafter, "remainder"),
    "pow": typed(np.power, "math_pow"),
    "ldexp": _ldexp,
}


def round_half_even(x: Any) -> Any:
    """Return `round(x)`: int64, halves to even.

    Example:
        >>> round_half_even(np.float32(2.5))
        np.int64(2)
    """
    dtype_of(x)
    return cast(np.rint(x.astype(FLOAT64)), INT64)


def round_to(x: Any, digits: Any) -> Any:
    """Return `round(x, digits)`: a decimal rounding in float64, stored in x's type.

    Args:
        x: lanes of numbers.
        digits: decimals; negative ones round to tens, hundreds and so on.

    Returns:
        Lanes; what does not fit int64 when scaled saturates, as on the GPU.

    Example:
        >>> round_to(np.float32(2.25), np.int64(1))
        np.float32(2.2)
        >>> round_to(np.int32(1250), np.int64(-2))
        np.float64(1200.0)
    """
    dtype = result_dtype("small_math", dtype_of(x))
    count = cast(digits, INT64)
    wide = x.astype(FLOAT64)
    scale = POWERS_OF_TEN[np.clip(np.abs(count), 0, PLAIN_DIGITS)]
    rest = POWERS_OF_TEN[np.clip(count - PLAIN_DIGITS, 0, len(POWERS_OF_TEN) - 1)]
    scaled = np.where(count >= 0, wide * scale * rest, wide / scale)
    whole = round_half_even(scaled).astype(FLOAT64)
    rounded = np.where(count >= 0, whole / rest / scale, whole * scale)
    return np.where(np.isfinite(scaled), rounded, wide).astype(dtype)[()]
