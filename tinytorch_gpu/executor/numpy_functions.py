"""The NumPy functions that numba.cuda compiles for single numbers, with its types.

They are few: trigonometry and logarithms, hypot and division, minima and maxima,
comparisons, logic and bits. Of the others (`np.exp`, `np.sqrt`, `np.add` ...) the
compiler knows the types and has no code; kernels use `math` and the operators.

Source: each ufunc compiled for float32 and int32 by numba-cuda 0.30.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.executor.arithmetic import COMPARE, truth, typed, typed_unary
from tinytorch_gpu.executor.math_functions import UNARY_MATH

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NUMPY_FUNCTIONS", "SPECIAL_NUMPY"]

_MATH = (
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan,
    np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh,
    np.log, np.log2, np.log10, np.degrees, np.radians, np.rad2deg, np.deg2rad,
)  # fmt: skip
_FLOAT_PAIRS = (np.arctan2, np.hypot, np.true_divide)
_CHOICES = (np.minimum, np.maximum, np.fmin, np.fmax)
_BITS = (
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift
)  # fmt: skip
_COMPARED = {
    np.less: "lt",
    np.less_equal: "le",
    np.greater: "gt",
    np.greater_equal: "ge",
    np.equal: "eq",
    np.not_equal: "ne",
}
_LOGIC = (np.logical_and, np.logical_or, np.logical_xor, np.logical_not)


def _of_truths(ufunc: Any) -> Callable[..., Any]:
    return lambda *values: ufunc(*map(truth, values))


# np.arccos and np.acos are one object, as are np.divide and np.true_divide.
NUMPY_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{ufunc: typed_unary(ufunc, "numpy") for ufunc in _MATH},
    **{ufunc: typed(ufunc, "numpy_float") for ufunc in _FLOAT_PAIRS},
    **{ufunc: typed(ufunc, "numpy_choice") for ufunc in _CHOICES},
    **{ufunc: typed(ufunc, "numpy_bits") for ufunc in _BITS},
    **{ufunc: COMPARE[name] for ufunc, name in _COMPARED.items()},
    **{ufunc: _of_truths(ufunc) for ufunc in _LOGIC},
    np.isnan: UNARY_MATH["isnan"],
    np.invert: typed_unary(np.invert, "numpy_invert"),
}
SPECIAL_NUMPY = frozenset({*_MATH, *_FLOAT_PAIRS})
