"""New device arrays: shape and dtype checked, memory poisoned."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype, poison_value
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.memory.array import DeviceArray

if TYPE_CHECKING:
    import numpy.typing as npt

    from tinytorch_gpu.memory.allocator import Allocator

__all__ = ["empty"]


def empty(
    allocator: Allocator, shape: Any, dtype: npt.DTypeLike, order: str = "C"
) -> DeviceArray:
    """Return a new array whose elements are poison, as fresh memory is undefined.

    Args:
        allocator: the device's.
        shape: an int or a tuple.
        dtype: one of `arch.DEVICE_DTYPES`.
        order: "C" or "F".

    Raises:
        DtypeError: device memory does not hold the dtype.
        OutOfMemoryError: it does not fit.
        ShapeError: the shape is none.
    """
    kind = check_dtype(dtype)
    lengths = _lengths(shape)
    count = math.prod(lengths)
    buffer = allocator.allocate(count * kind.itemsize)
    elements = buffer.elements(kind)
    elements.fill(poison_value(kind))
    shaped = elements.reshape(lengths, order="F" if order == "F" else "C")
    return DeviceArray(buffer, shaped, allocator.device)


def _lengths(shape: Any) -> tuple[int, ...]:
    """Read a shape: whole numbers, none negative."""
    parts = shape if isinstance(shape, (tuple, list)) else (shape,)
    if all(isinstance(n, (int, np.integer)) and n >= 0 for n in parts):
        return tuple(map(int, parts))
    raise ShapeError(
        f"{shape!r} is no shape",
        where="allocating a device array",
        why="a shape is a whole number or a tuple of them, none negative",
        fix="for example (32, 64); use // instead of /",
        shape=shape,
    )
