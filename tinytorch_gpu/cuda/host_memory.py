"""Host arrays that copy faster, or that kernels take: pinned, mapped, managed.

All are NumPy arrays. A launch that gets one copies it in and back, as any host array.

Source: numba.cuda 0.30.4 (names and parameters).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.arrays import packed_strides
from tinytorch_gpu.memory.creation import extent_bytes, read_shape, read_strides
from tinytorch_gpu.runtime.pinned import pinned_bytes

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "managed_array",
    "mapped_array",
    "mapped_array_like",
    "pinned_array",
    "pinned_array_like",
]

# Simplified: a kernel reaches mapped memory over the host link, access by access, and
# managed memory page by page. Here both are copied whole, in and back: too much for a
# kernel that touches little of a large array, by any factor; right for one that reads
# and writes each element once. What the host writes during a kernel is not seen by it.


def pinned_array(
    shape: Any, dtype: npt.DTypeLike = np.float64, strides: Any = None, order: str = "C"
) -> npt.NDArray[Any]:
    """Return a new page-locked host array; copies of it are modelled as faster.

    Args:
        shape: an int or a tuple.
        dtype: element type.
        strides: bytes between elements along each axis, or None for `order`.
        order: "C" or "F".

    Returns:
        The NumPy array, contents undefined.

    Example:
        >>> pinned_array((2, 3), np.float32, order="F").strides
        (4, 8)
    """
    kind, lengths = np.dtype(dtype), read_shape(shape)
    steps = None if strides is None else read_strides(strides, lengths, kind)
    memory = pinned_bytes(extent_bytes(lengths, steps or (), kind))
    in_order: Any = "F" if order == "F" else "C"
    return np.ndarray(lengths, kind, memory, strides=steps, order=in_order)


def pinned_array_like(ary: Any) -> npt.NDArray[Any]:
    """Return a new page-locked host array with another's shape, dtype and axis order.

    Args:
        ary: host or device array.
    """
    return pinned_array(ary.shape, ary.dtype, packed_strides(ary))


def mapped_array(
    shape: Any,
    dtype: npt.DTypeLike = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    portable: bool = False,
    wc: bool = False,
) -> npt.NDArray[Any]:
    """Return a new page-locked host array that kernels take as an argument.

    Args:
        shape: an int or a tuple.
        dtype: element type.
        strides: bytes between elements along each axis, or None for `order`.
        order: "C" or "F".
        stream: accepted for numba's sake, as are the next two.
        portable: other devices may reach it.
        wc: the host's writes bypass its cache.

    Returns:
        The NumPy array, contents undefined. Launches copy it in and back.
    """
    del stream, portable, wc
    return pinned_array(shape, dtype, strides, order)


def mapped_array_like(
    ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False
) -> npt.NDArray[Any]:
    """Return a mapped array with another's shape, dtype and axis order.

    Args:
        ary: host or device array.
        stream: accepted for numba's sake, as are the next two.
        portable: other devices may reach it.
        wc: the host's writes bypass its cache.
    """
    del stream, portable, wc
    return pinned_array_like(ary)


def managed_array(
    shape: Any,
    dtype: npt.DTypeLike = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    attach_global: bool = True,
) -> npt.NDArray[Any]:
    """Return a new host array that moves to the device and back as it is used.

    Args:
        shape: an int or a tuple.
        dtype: element type.
        strides: bytes between elements along each axis, or None for `order`.
        order: "C" or "F".
        stream: accepted for numba's sake, as is the next.
        attach_global: every stream may use it.

    Returns:
        The NumPy array, contents undefined. Launches copy it in and back.
    """
    del stream, attach_global
    return pinned_array(shape, dtype, strides, order)
