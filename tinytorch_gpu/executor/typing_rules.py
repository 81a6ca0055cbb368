"""Which dtype a GPU operation gives: numba.cuda's measured rules, as one table.

Integers widen to 64 bits at every operation; float32 stays float32 only with float32
and small integers; `/` on integers gives float64.

Source: types read from the numba-cuda 0.30.4 compiler (cc 8.0); the table stands in
docs/reference as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.errors import KernelTypeError

__all__ = [
    "arithmetic_dtype",
    "division_dtype",
    "floor_dtype",
    "power_dtype",
    "shift_dtype",
    "unified_dtype",
]

Dtype = np.dtype[Any]
BOOL, INT64, UINT64 = np.dtype("bool"), np.dtype("int64"), np.dtype("uint64")
FLOAT16, FLOAT32 = np.dtype("float16"), np.dtype("float32")
FLOAT64 = np.dtype("float64")

# Where the compiler's conversion differs from NumPy's promotion.
UNSIGNED_WITH_FLOAT: dict[frozenset[Dtype], Dtype] = {
    frozenset({FLOAT32, np.dtype("uint16")}): FLOAT64,
    frozenset({FLOAT16, np.dtype("uint8")}): FLOAT32,
    frozenset({FLOAT16, np.dtype("uint16")}): FLOAT64,
}


def arithmetic_dtype(a: Dtype, b: Dtype) -> Dtype:
    """Dtype of `a + b`, `a - b`, `a * b`.

    Raises:
        KernelTypeError: an operand is no number.

    Example:
        >>> arithmetic_dtype(np.dtype("int32"), np.dtype("int32"))
        dtype('int64')
        >>> arithmetic_dtype(np.dtype("float32"), np.dtype("int64"))
        dtype('float64')
    """
    _check_numbers(a, b)
    if a.kind == "f" or b.kind == "f":
        return UNSIGNED_WITH_FLOAT.get(frozenset({a, b})) or np.promote_types(a, b)
    return UINT64 if a.kind == b.kind == "u" else INT64


def floor_dtype(a: Dtype, b: Dtype) -> Dtype:
    """Dtype of `a // b` and `a % b`: as arithmetic, but float16 gives float32.

    Example:
        >>> floor_dtype(np.dtype("float16"), np.dtype("float16"))
        dtype('float32')
    """
    common = arithmetic_dtype(a, b)
    return FLOAT32 if common == FLOAT16 else common


def shift_dtype(a: Dtype, b: Dtype) -> Dtype:
    """Dtype of `a << b`, `a >> b`: 64 bits, signed as `a` is.

    Example:
        >>> shift_dtype(np.dtype("uint32"), np.dtype("int64"))
        dtype('uint64')
    """
    _check_numbers(a, b)
    return UINT64 if a.kind == "u" else INT64


def division_dtype(a: Dtype, b: Dtype) -> Dtype:
    """Dtype of `a / b`: float64 for integers, else as arithmetic.

    Example:
        >>> division_dtype(np.dtype("int32"), np.dtype("int32"))
        dtype('float64')
    """
    common = arithmetic_dtype(a, b)
    return common if common.kind == "f" else FLOAT64


def power_dtype(a: Dtype, b: Dtype) -> Dtype:
    """Dtype of `a ** b`: a float base keeps its dtype with an integer exponent.

    float16 gives float32.

    Example:
        >>> power_dtype(np.dtype("float32"), np.dtype("int64"))
        dtype('float32')
    """
    keeps_base = a.kind == "f" and b.kind in "biu"
    common = a if keeps_base else arithmetic_dtype(a, b)
    return FLOAT32 if common == FLOAT16 else common


def unified_dtype(a: Dtype, b: Dtype) -> Dtype:
    """Dtype of a variable that is assigned both (`x if c else y`, two branches).

    Example:
        >>> unified_dtype(np.dtype("int32"), np.dtype("float32"))
        dtype('float64')
    """
    if a == b:
        return a
    _check_numbers(a, b)
    return np.promote_types(a, b)


def _check_numbers(a: Dtype, b: Dtype) -> None:
    for dtype in (a, b):
        if dtype.kind not in "biuf":
            raise KernelTypeError(
                f"a kernel cannot compute with {dtype}",
                why="kernels compute with bool, integers and floats",
                fix="convert the array before the launch",
            )
