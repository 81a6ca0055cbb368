"""Fused multiply-add over lanes: `a * b + c` with a single rounding.

float32: the product is exact in float64; its sum with c is rounded to odd, which makes
the last rounding to float32 the only one (Boldo and Melquiond, "Emulation of FMA and
correctly rounded sums", IEEE Transactions on Computers 57, 2008). float64: lane by lane
in exact fractions, about 5 µs each.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from tinytorch_gpu.executor.conversion import dtype_of
from tinytorch_gpu.executor.typing_rules import result_dtype

__all__ = ["fused_multiply_add", "fused_to"]

FLOAT32 = np.dtype("float32")


def fused_multiply_add(a: Any, b: Any, c: Any) -> Any:
    """Return `a * b + c` rounded once.

    Args:
        a: factor.
        b: factor.
        c: summand; small integers count as float32, other numbers as float64.

    Returns:
        float32 lanes if all three are float32, else float64.

    Raises:
        KernelTypeError: an operand is no number.

    Example:
        >>> x = np.float32(1 + 2**-12)
        >>> print(fused_multiply_add(x, x, np.float32(-1)))   # 2**-11 + 2**-24
        0.00048834085
        >>> print(x * x - np.float32(1))
        0.00048828125
    """
    dtypes = [result_dtype("small_math", dtype_of(value)) for value in (a, b, c)]
    if all(dtype == FLOAT32 for dtype in dtypes):
        return fused_to(FLOAT32, a, b, c)
    wide = (value.astype(np.float64) for value in (a, b, c))
    return np.asarray(_FUSED_DOUBLE(*wide), np.float64)[()]


def fused_to(dtype: np.dtype[Any], a: Any, b: Any, c: Any) -> Any:
    """Return `a * b + c` rounded once to float32 or float16, of values of that type."""
    a, b, c = (value.astype(np.float64) for value in (a, b, c))
    product = a * b
    total = product + c
    part = total - product
    error = (product - (total - part)) + (c - part)  # exact: total + error
    is_even = (np.asarray(total).view(np.int64) & 1) == 0
    to_odd = np.isfinite(error) & (error != 0) & is_even
    odd = np.where(to_odd, np.nextafter(total, np.copysign(np.inf, error)), total)
    return odd.astype(dtype)[()]


def _fused_double(a: float, b: float, c: float) -> float:
    plain = a * b + c
    if not all(map(math.isfinite, (a, b, c))):
        return plain
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact) if exact else plain  # a zero keeps its sign
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


_FUSED_DOUBLE = np.frompyfunc(_fused_double, 3, 1)
