"""Conversions between number types as the GPU makes them: casts and stores.

Source: the PTX that numba-cuda 0.30.4 writes for a store (cc 8.0). float32 and float64
become integers by `cvt.rzi` (toward zero), float16 by `cvt.rni` (to nearest even). Both
saturate, and NaN becomes 0. There is no 8-bit form of `rzi`: int8 and uint8 come from a
16-bit conversion of which the low byte is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.errors import KernelTypeError

__all__ = ["cast", "dtype_of"]

Dtype = np.dtype[Any]
FLOAT16, FLOAT64 = np.dtype("float16"), np.dtype("float64")
THROUGH_16_BITS = {
    np.dtype("int8"): np.dtype("int16"),
    np.dtype("uint8"): np.dtype("uint16"),
}


def dtype_of(value: Any) -> Dtype:
    """Return the dtype of a number.

    Raises:
        KernelTypeError: it is none; the message says what stands there instead.
    """
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


def cast(value: Any, dtype: Dtype) -> Any:
    """Convert as the GPU does: floats truncate and saturate, integers wrap.

    Args:
        value: lanes of any number type.
        dtype: what to make of them.

    Raises:
        KernelTypeError: the value is no number.

    Example:
        >>> cast(np.float32([2.9, -2.9, 1e10, np.nan]), np.dtype("int32")).tolist()
        [2, -2, 2147483647, 0]
        >>> cast(np.int64(300), np.dtype("uint8"))
        np.uint8(44)
    """
    source = dtype_of(value)
    if source == dtype:
        return value
    if source.kind == "f" and dtype.kind in "iu":
        return _to_integer(value, dtype)
    return value.astype(dtype)


def _to_integer(value: Any, dtype: Dtype) -> Any:
    if value.dtype == FLOAT16:
        return _saturate(np.rint(value.astype(FLOAT64)), dtype)
    whole = np.trunc(value.astype(FLOAT64))
    wider = THROUGH_16_BITS.get(dtype)
    return (
        _saturate(whole, dtype)
        if wider is None
        else _saturate(whole, wider).astype(dtype)
    )


def _saturate(whole: Any, dtype: Dtype) -> Any:
    """Convert whole float64 numbers: clamp to the range, NaN becomes 0."""
    limits = np.iinfo(dtype)
    low, high = float(limits.min), float(limits.max)
    safe = np.where((whole > low) & (whole < high), whole, 0.0)
    result = np.where(whole >= high, dtype.type(limits.max), safe.astype(dtype))
    return np.where(whole <= low, dtype.type(limits.min), result)[()]
