"""The host's side of `cuda`: arrays on the device, and waiting for it.

Names and parameters are numba.cuda's. Streams are accepted where numba takes them and
must be the default stream for now.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.memory import DeviceArray, empty
from tinytorch_gpu.runtime import copy
from tinytorch_gpu.runtime.device import current_device

__all__ = [
    "device_array",
    "device_array_like",
    "is_available",
    "synchronize",
    "to_device",
]


def to_device(obj: npt.ArrayLike, stream: Any = 0) -> DeviceArray:
    """Copy a host array to the device (H2D).

    Args:
        obj: array or nested list.
        stream: accepted for numba's sake.

    Returns:
        The device array; same shape and dtype.

    Raises:
        DtypeError: device memory does not hold the dtype.
        OutOfMemoryError: it does not fit.

    Example:
        >>> to_device(np.ones(4, np.float32)).nbytes
        16
    """
    del stream
    return copy.to_device(obj, "cuda.to_device")


def device_array(
    shape: Any, dtype: npt.DTypeLike = np.float64, order: str = "C", stream: Any = 0
) -> DeviceArray:
    """Return a new device array with undefined contents (here: poison).

    Args:
        shape: an int or a tuple.
        dtype: element type; float64 unless given, as in numba.
        order: "C" or "F".
        stream: accepted for numba's sake.

    Raises:
        DtypeError: device memory does not hold the dtype.
        OutOfMemoryError: it does not fit.

    Example:
        >>> device_array((2, 3), np.float32).strides
        (12, 4)
    """
    del stream
    return empty(current_device().allocator, shape, dtype, order)


def device_array_like(ary: Any, stream: Any = 0) -> DeviceArray:
    """Return a new device array with the shape and dtype of another.

    Args:
        ary: device or host array.
        stream: accepted for numba's sake.
    """
    return device_array(ary.shape, ary.dtype, stream=stream)


def synchronize() -> None:
    """Wait until the device has done everything; costs modelled host time."""
    current_device().timeline.synchronize()


def is_available() -> bool:
    """Tell whether kernels can be launched: always, since the device is simulated."""
    return True
