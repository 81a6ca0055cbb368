"""Copies between host and device: the only doors, and each leaves a record."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.arch import check_dtype
from tinytorch_gpu.errors import DtypeError, ShapeError
from tinytorch_gpu.memory import DeviceArray, elements_of, empty, hooks
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.pinned import is_pinned

__all__ = ["empty_like", "to_device", "to_host"]


def to_device(
    host: npt.ArrayLike, reason: str = "to_device", out: DeviceArray | None = None
) -> DeviceArray:
    """Copy a host array to the device (H2D).

    Args:
        host: any array or nested list of a dtype that devices hold.
        reason: why, for the record.
        out: device array of the same shape to fill; a new one if None.

    Returns:
        The device array, with the host array's shape, dtype and memory order.

    Raises:
        DtypeError: device memory, or `out`, does not hold the dtype.
        OutOfMemoryError: it does not fit.
        ShapeError: `out` has another shape.
    """
    source = np.asarray(host)
    check_dtype(source.dtype, f"host array of shape {source.shape}")
    device = current_device()
    if out is None:
        out = empty_like(source)
    elif out.shape != source.shape:
        raise ShapeError(
            f"a host array of shape {source.shape} does not fit {out.shape}",
            where=reason,
            why="a copy moves element by element: both shapes are equal",
            fix="reshape the host array first",
        )
    elif not np.can_cast(source.dtype, out.dtype, "same_kind"):
        raise DtypeError(
            f"a {source.dtype} host array copied into a {out.dtype} device array",
            where=reason,
            why=f"{source.dtype} values may not fit {out.dtype}",
            fix=f'convert it first: host.astype("{out.dtype}")',
        )
    elements_of(out)[...] = source
    for watch in hooks.watches:
        watch.written(out, elements_of(out))
    device.order.synchronize()  # the host waits for a copy, and it for all streams
    device.timeline.add_copy(
        direction="h2d", nbytes=out.nbytes, reason=reason, is_pinned=is_pinned(source)
    )
    return out


def empty_like(host: npt.NDArray[Any]) -> DeviceArray:
    """Return an undefined device array of a host array's shape, dtype and order.

    Args:
        host: the host array; one in Fortran order gives a device array in that order.

    Raises:
        DtypeError: device memory does not hold the dtype.
        OutOfMemoryError: it does not fit.

    Example:
        >>> empty_like(np.zeros((3, 2), np.float32, order="F")).strides
        (4, 12)
    """
    is_fortran = host.flags.f_contiguous and not host.flags.c_contiguous
    order = "F" if is_fortran else "C"
    return empty(current_device().allocator, host.shape, host.dtype, order)


def to_host(
    array: DeviceArray,
    reason: str = "copy_to_host",
    out: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any]:
    """Copy a device array to the host (D2H).

    Args:
        array: the device array.
        reason: why, for the record.
        out: host array of the same shape to fill; a new one if None.

    Returns:
        The host array.
    """
    host = np.empty_like(elements_of(array)) if out is None else out
    host[...] = elements_of(array)
    device = current_device()
    device.order.synchronize()
    device.timeline.add_copy(
        direction="d2h", nbytes=array.nbytes, reason=reason, is_pinned=is_pinned(host)
    )
    return host


class _Copies:
    """The runtime's answer to `memory.hooks`."""

    to_host = staticmethod(to_host)
    to_device = staticmethod(to_device)


hooks.copies = _Copies()
