"""Forms of a call: what a kernel depends on, and how far two results lie apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.fusion.arguments import leaves
from tinytorch_gpu.memory import elements_of

if TYPE_CHECKING:
    from tinytorch_gpu.fusion.arguments import Leaf
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["arrays_of", "form_of", "gap_between", "numbers_of", "values_of"]


def form_of(given: tuple[Leaf, ...]) -> Any:
    """Return what a kernel depends on, apart from the values of numbers.

    Args:
        given: the arguments' leaves.
    """
    return tuple(_form(leaf, given) for leaf in given)


def _form(leaf: Leaf, given: tuple[Leaf, ...]) -> Any:
    array = leaf.array
    if array is None:
        kept = type(leaf.value) if leaf.is_number else repr(leaf.value)
        return leaf.name, kept
    shared = tuple(
        other.array.address - array.address
        for other in given
        if other.array is not None and other.array.buffer is array.buffer
    )
    layout = array.shape, array.strides, array.dtype.char, shared
    return leaf.name, leaf.is_tensor, layout, array.device


def numbers_of(given: tuple[Leaf, ...]) -> tuple[Any, ...]:
    """Return the numbers among the arguments.

    Args:
        given: their leaves.
    """
    return tuple(leaf.value for leaf in given if leaf.is_number)


def arrays_of(given: tuple[Leaf, ...]) -> list[DeviceArray]:
    """Return the device arrays among the arguments, those of Tensors too.

    Args:
        given: their leaves.
    """
    return [leaf.array for leaf in given if leaf.array is not None]


def values_of(result: Any) -> list[Any]:
    """Copy what arrays hold, for a comparison that stands beside the program.

    Args:
        result: arrays and Tensors, in lists too.
    """
    found = (leaf.array for leaf in leaves(result, "r"))
    return [elements_of(array).copy() for array in found if array is not None]


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
