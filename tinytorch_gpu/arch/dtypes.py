"""Which element types device memory holds, and the poison that fills fresh memory.

Fresh memory on a GPU holds leftovers. Here it holds NaN (floats) or the largest value
(integers), so that a result made from it looks wrong at once.

Source: CUDA C++ Programming Guide, "Device Memory" (cudaMalloc does not clear memory).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu import settings
from tinytorch_gpu.errors import DtypeError

__all__ = ["DEVICE_DTYPES", "check_dtype", "poison_value"]

_NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
)
DEVICE_DTYPES = tuple(map(np.dtype, _NAMES.split(" ")))


def check_dtype(dtype: npt.DTypeLike, what: str = "array") -> np.dtype[Any]:
    """Return the dtype, or say which dtypes device memory holds.

    Args:
        dtype: anything NumPy takes for a dtype.
        what: how the error names the array.

    Returns:
        The NumPy dtype.

    Raises:
        DtypeError: device memory does not hold this dtype.

    Example:
        >>> check_dtype("float32")
        dtype('float32')
    """
    try:
        found: Any = np.dtype(dtype)
    except TypeError:
        found = dtype  # names no dtype at all
    if isinstance(found, np.dtype) and found.isnative and found in DEVICE_DTYPES:
        return found
    raise DtypeError(
        f"{what} of dtype {found!r} cannot live in device memory",
        where="copying to the device",
        why="device memory holds " + ", ".join(d.name for d in DEVICE_DTYPES),
        fix='convert it on the host first: array.astype("float32")',
        dtype=found,
    )


def poison_value(dtype: np.dtype[Any]) -> Any:
    """Return what fresh memory of this dtype holds: NaN, the largest integer or True.

    With `Settings.poison` of `zero` it holds 0.

    Example:
        >>> poison_value(np.dtype("int8"))
        127
    """
    if settings.current().poison == "zero":
        return dtype.type(0)
    if dtype.kind == "f":
        return float("nan")
    return True if dtype.kind == "b" else int(np.iinfo(dtype).max)
