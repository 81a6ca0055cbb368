"""`x ** n`: an integer exponent multiplies, a float exponent calls the pow function.

Source: numba's integer powers square and multiply in the result's dtype, for constant
and for computed exponents alike; beyond 65,536 they call the pow function. An integer
to a negative power is 0 unless the base is 1 or -1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.executor.conversion import cast, dtype_of
from tinytorch_gpu.executor.typing_rules import result_dtype

__all__ = ["power"]

LARGEST_MULTIPLIED = 0x10000


def power(a: Any, b: Any) -> Any:
    """Return `a ** b` for lanes of numbers.

    Args:
        a: base.
        b: exponent.

    Returns:
        Lanes of the dtype that the row `power` of the typing table gives.

    Raises:
        KernelTypeError: an operand is no number.

    Example:
        >>> power(np.int32(3), np.int64(4)), power(np.int64(2), np.int64(-1))
        (np.int64(81), np.int64(0))
        >>> power(np.float32(2), np.int64(-1))
        np.float32(0.5)
    """
    dtype = result_dtype("power", dtype_of(a), dtype_of(b))
    base = a.astype(dtype, copy=False)
    if b.dtype.kind == "f":
        return np.power(base, b.astype(dtype, copy=False))
    exponent = b.astype(np.int64, copy=False)
    size = np.abs(exponent)
    result = _multiplied(base, np.minimum(size, LARGEST_MULTIPLIED))
    if np.any(exponent < 0):
        result = np.where(exponent < 0, _inverse(result), result)[()]
    if np.any(size > LARGEST_MULTIPLIED):
        called = cast(np.power(a.astype(np.float64), b.astype(np.float64)), dtype)
        result = np.where(size > LARGEST_MULTIPLIED, called, result)[()]
    return result


def _multiplied(base: Any, exponent: Any) -> Any:
    """Square and multiply, for exponents from 0 on."""
    one = base.dtype.type(1)
    result = one
    while True:
        is_odd = (exponent & 1) != 0
        if np.all(is_odd):
            result = result * base
        elif np.any(is_odd):
            result = result * np.where(is_odd, base, one)[()]
        exponent = exponent >> 1
        if not np.any(exponent):
            return result
        base = base * base


def _inverse(value: Any) -> Any:
    """Return 1 / value; of integers only 1 and -1 have one, of others it is 0."""
    one = value.dtype.type(1)
    if value.dtype.kind == "f":
        return one / value
    return np.where((value == 1) | (value == -1), value, value.dtype.type(0))
