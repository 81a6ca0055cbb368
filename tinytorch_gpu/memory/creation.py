"""New device arrays: shape and dtype checked, memory poisoned."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype, poison_value
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.memory.array import DeviceArray
from tinytorch_gpu.memory.hooks import hooks

if TYPE_CHECKING:
    import numpy.typing as npt

    from tinytorch_gpu.memory.allocator import Allocator

__all__ = ["empty", "extent_bytes", "read_shape", "read_strides"]


def empty(
    allocator: Allocator,
    shape: Any,
    dtype: npt.DTypeLike,
    order: str = "C",
    strides: Any = None,
) -> DeviceArray:
    """Return a new array whose elements are poison, as fresh memory is undefined.

    Args:
        allocator: the device's.
        shape: an int or a tuple.
        dtype: one of `arch.DEVICE_DTYPES`.
        order: "C" or "F"; how the elements lie when there are no strides.
        strides: bytes between elements along each axis, 0 or more; an int or a tuple.

    Raises:
        DtypeError: device memory does not hold the dtype.
        OutOfMemoryError: it does not fit.
        ShapeError: the shape is none, or the strides do not go with it.
    """
    kind = check_dtype(dtype)
    lengths = read_shape(shape)
    steps = () if strides is None else read_strides(strides, lengths, kind)
    buffer = allocator.allocate(extent_bytes(lengths, steps, kind))
    if allocator.is_traced:
        buffer.contents = f"{kind} {lengths}"
    elements = buffer.elements(kind)
    elements.fill(poison_value(kind))
    if steps:
        shaped = np.ndarray(lengths, kind, elements, strides=steps)
    else:
        shaped = elements.reshape(lengths, order="F" if order == "F" else "C")
    array = DeviceArray(buffer, shaped, allocator.device)
    for watch in hooks.watches:
        watch.allocated(array)
    return array


def extent_bytes(
    lengths: tuple[int, ...], steps: tuple[int, ...], kind: np.dtype[Any]
) -> int:
    """Return the bytes from the first element to the end of the last.

    Args:
        lengths: length of each axis.
        steps: stride of each axis in bytes, 0 or more; () for no gaps.
        kind: element type.
    """
    if not steps or 0 in lengths:
        return math.prod(lengths) * kind.itemsize
    last = sum((n - 1) * step for n, step in zip(lengths, steps, strict=True))
    return last + kind.itemsize


def read_strides(
    strides: Any, lengths: tuple[int, ...], kind: np.dtype[Any]
) -> tuple[int, ...]:
    """Read strides: one for each axis, whole elements, none negative.

    Args:
        strides: an int or a tuple.
        lengths: length of each axis.
        kind: element type.

    Raises:
        ShapeError: they do not go with the shape.
    """
    parts = tuple(strides) if isinstance(strides, (tuple, list)) else (strides,)
    if len(parts) == len(lengths) and all(
        isinstance(s, (int, np.integer)) and s >= 0 and s % kind.itemsize == 0
        for s in parts
    ):
        return tuple(map(int, parts))
    raise ShapeError(
        f"strides {strides!r} do not go with {kind} {lengths}",
        where="allocating an array",
        why="each axis has one stride: bytes, a multiple of "
        f"{kind.itemsize}, none negative",
        fix='leave strides out, or say order="F"',
        shape=lengths,
    )


def read_shape(shape: Any) -> tuple[int, ...]:
    """Read a shape: whole numbers, none negative.

    Args:
        shape: an int or a tuple.

    Raises:
        ShapeError: it is none.
    """
    parts = shape if isinstance(shape, (tuple, list)) else (shape,)
    if all(isinstance(n, (int, np.integer)) and n >= 0 for n in parts):
        return tuple(map(int, parts))
    raise ShapeError(
        f"{shape!r} is no shape",
        where="allocating an array",
        why="a shape is a whole number or a tuple of them, none negative",
        fix="for example (32, 64); use // instead of /",
        shape=shape,
    )
