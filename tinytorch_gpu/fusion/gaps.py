"""What arrays hold, kept and put back, and how far two results lie apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.memory import elements_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinytorch_gpu.memory import DeviceArray

__all__ = ["gap_between", "put_back", "values_of"]


def values_of(arrays: Iterable[DeviceArray]) -> list[Any]:
    """Copy what arrays hold, for a comparison that stands beside the program.

    Args:
        arrays: device arrays.
    """
    return [elements_of(array).copy() for array in arrays]


def put_back(arrays: Iterable[DeviceArray], values: Iterable[Any]) -> None:
    """Let arrays hold what they held when `values_of` was asked.

    Args:
        arrays: device arrays.
        values: what they are to hold.
    """
    for array, kept in zip(arrays, values, strict=True):
        elements_of(array)[...] = kept


def gap_between(got: list[Any], wanted: list[Any]) -> float:
    """Return the largest difference of values, relative where they are above 1.

    Args:
        got: host arrays.
        wanted: as many, of the same shapes.

    Example:
        >>> gap_between([np.float32([2, 10])], [np.float32([2, 8])])
        0.25
    """
    largest = 0.0
    for a, b in zip(got, wanted, strict=True):
        x, y = a.astype(np.float64), b.astype(np.float64)
        differ = (x != y) & ~(np.isnan(x) & np.isnan(y))
        x, y = x[differ], y[differ]
        with np.errstate(invalid="ignore"):  # infinity beside a number
            gap = np.abs(x - y) / np.maximum(1.0, np.abs(y))
        gap[np.isnan(gap)] = np.inf
        largest = max(largest, float(np.max(gap, initial=0.0)))
    return largest
