"""Copies between host and device: the only doors, and each leaves a record.

Values move at once. What the host waits for is a matter of the modelled clock and of
the order that the sanitizer sees.

Source: CUDA Runtime API, "API synchronization behavior"; numba.cuda 0.30.4 (a copy that
names a stream is asynchronous); PyTorch 2.x (`non_blocking`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.arch import check_dtype
from tinytorch_gpu.errors import DtypeError, ShapeError
from tinytorch_gpu.memory import DeviceArray, elements_of, empty, hooks
from tinytorch_gpu.memory.origin import user_line
from tinytorch_gpu.runtime.current_stream import in_stream, stream_handle
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.pinned import is_pinned
from tinytorch_gpu.runtime.placement import device_of

__all__ = ["empty_like", "extent_to_host", "to_device", "to_host"]


def to_device(
    host: npt.ArrayLike | DeviceArray,
    reason: str = "to_device",
    out: DeviceArray | None = None,
    stream: Any = 0,
    is_async: bool | None = None,
) -> DeviceArray:
    """Copy a host array to the device (H2D).

    Args:
        host: any array or nested list of a dtype that devices hold; an array of
            another device comes by way of the host.
        reason: why, for the record.
        out: device array of the same shape to fill, on its device; a new one, on the
            current device, if None.
        stream: the stream; 0 is the current one.
        is_async: let the host go on if the array is pinned; None: if a stream is named.

    Returns:
        The device array, with the host array's shape, dtype and memory order.

    Raises:
        DtypeError: device memory, or `out`, does not hold the dtype.
        OutOfMemoryError: it does not fit.
        ShapeError: `out` has another shape.
        KernelTypeError: the stream is none.
    """
    # Simplified: from device to device are two copies, as CUDA does it without peer
    # access; with it (NVLink, one PCIe switch) one copy takes half the time or less.
    handle = stream_handle(stream)  # refused before anything has an effect
    if isinstance(host, DeviceArray):
        host = to_host(host, f"{reason}, from {host.device}")
    source = np.asarray(host)
    check_dtype(source.dtype, f"host array of shape {source.shape}")
    if out is None:
        out = empty_like(source)
    else:
        _check_fits(source, out, reason)
    elements_of(out)[...] = source
    for watch in hooks.watches:
        watch.written(out, elements_of(out))
    _record("h2d", out, source, reason, handle, _lets_go(stream, is_async))
    return out


def _check_fits(source: npt.NDArray[Any], out: DeviceArray, reason: str) -> None:
    """Refuse a copy into an array of another shape or an unfit dtype."""
    if out.shape != source.shape:
        raise ShapeError(
            f"a host array of shape {source.shape} does not fit {out.shape}",
            where=reason,
            why="a copy moves element by element: both shapes are equal",
            fix="reshape the host array first",
        )
    if not np.can_cast(source.dtype, out.dtype, "same_kind"):
        raise DtypeError(
            f"a {source.dtype} host array copied into a {out.dtype} device array",
            where=reason,
            why=f"{source.dtype} values may not fit {out.dtype}",
            fix=f'convert it first: host.astype("{out.dtype}")',
        )


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
    stream: Any = 0,
    is_async: bool | None = None,
) -> npt.NDArray[Any]:
    """Copy a device array to the host (D2H).

    One copy moves bytes that lie side by side. An array with gaps is packed first, by
    the op `copy`, as PyTorch does; see `extent_to_host` for numba's way.

    Args:
        array: the device array.
        reason: why, for the record.
        out: host array of the same shape to fill; a new one, not pinned, if None.
        stream: the stream; 0 is the current one.
        is_async: let the host go on if `out` is pinned; None: if a stream is named.

    Returns:
        The host array.

    Raises:
        KernelTypeError: the stream is none.
    """
    host = np.empty_like(elements_of(array)) if out is None else out
    if not _is_one_piece(elements_of(array), host):
        with in_stream(stream):  # refused here, before anything has an effect
            array = array.copy()
    return extent_to_host(array, reason, host, stream, is_async)


def extent_to_host(
    array: DeviceArray,
    reason: str = "copy_to_host",
    out: npt.NDArray[Any] | None = None,
    stream: Any = 0,
    is_async: bool | None = None,
) -> npt.NDArray[Any]:
    """Copy a device array to the host, with whatever lies between its elements.

    It is what `array.copy_to_host()` does: one copy from the first byte to the last,
    and no launch.

    Args:
        array: the device array.
        reason: why, for the record.
        out: host array of the same shape to fill; a new one, not pinned, if None.
        stream: the stream; 0 is the current one.
        is_async: let the host go on if `out` is pinned; None: if a stream is named.

    Returns:
        The host array.

    Raises:
        KernelTypeError: the stream is none.

    Source: numba.cuda, `DeviceNDArray.copy_to_host` copies `alloc_size` bytes.
    """
    handle = stream_handle(stream)  # refused before anything has an effect
    host = np.empty_like(elements_of(array)) if out is None else out
    host[...] = elements_of(array)
    lets_go = _lets_go(stream, is_async)
    _record("d2h", array, host, reason, handle, lets_go, _extent(elements_of(array)))
    return host


def _extent(elements: npt.NDArray[Any]) -> int:
    """Return the bytes from an array's first to its last."""
    pairs = zip(elements.shape, elements.strides, strict=True)
    steps = sum((length - 1) * abs(stride) for length, stride in pairs)
    return steps + elements.itemsize if elements.size else 0


def _is_one_piece(elements: npt.NDArray[Any], host: npt.NDArray[Any]) -> bool:
    """Tell whether the elements lie without gaps, and in the order of the host's."""
    axes = zip(elements.shape, elements.strides, host.strides, strict=True)
    is_same = all(a == b > 0 for length, a, b in axes if length > 1)
    return not elements.size or (is_same and _extent(elements) == elements.nbytes)


def _lets_go(stream: Any, is_async: bool | None) -> bool:
    """Tell whether the host may go on: as asked, else if a stream is named."""
    return bool(stream) if is_async is None else is_async


def _record(
    direction: str,
    array: DeviceArray,
    host: npt.NDArray[Any],
    reason: str,
    handle: int,
    is_async: bool,
    nbytes: int | None = None,
) -> None:
    """Put a copy on the timeline of the array's device; of all its bytes if None."""
    device_of(array).timeline.add_copy(
        direction=direction,
        nbytes=array.nbytes if nbytes is None else nbytes,
        reason=reason,
        is_pinned=is_pinned(host),
        stream=handle,
        is_async=is_async,
        origin=user_line(),
        address=array.address,
    )


class _Copies:
    """The runtime's answer to `memory.hooks`."""

    to_host = staticmethod(extent_to_host)
    to_device = staticmethod(to_device)
    in_stream = staticmethod(in_stream)


hooks.copies = _Copies()
