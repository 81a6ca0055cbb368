"""Arrays on the device and in pinned host memory, by numba.cuda's names.

Names and parameters are numba.cuda's. The values of a copy are there when the call
returns; with a stream and pinned memory the modelled host goes on before.

Source: numba.cuda 0.30.4; CUDA Array Interface, version 3.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.errors import HostAccessError, ShapeError
from tinytorch_gpu.memory import DeviceArray, empty
from tinytorch_gpu.runtime import copy
from tinytorch_gpu.runtime.current_stream import stream_handle
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.exchange import array_from_interface, has_interface
from tinytorch_gpu.runtime.pinned import pin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "as_cuda_array",
    "device_array",
    "device_array_like",
    "from_cuda_array_interface",
    "is_cuda_array",
    "pinned",
    "to_device",
]


def to_device(
    obj: Any, stream: Any = 0, copy: bool = True, to: DeviceArray | None = None
) -> DeviceArray:
    """Copy a host array to the device (H2D).

    Args:
        obj: array, nested list or number; a device array is returned as it is.
        stream: where the copy goes; with a pinned `obj` the host does not wait.
        copy: False only allocates; the contents are undefined (here: poison).
        to: device array to fill instead of a new one.

    Returns:
        The device array; same shape and dtype.

    Raises:
        DtypeError: device memory, or `to`, does not hold the dtype.
        KernelTypeError: the stream is none.
        OutOfMemoryError: it does not fit.
        ShapeError: the host array has gaps, or `to` has another shape.

    Example:
        >>> to_device(np.ones(4, np.float32)).nbytes
        16
    """
    stream_handle(stream)  # refused before anything is allocated
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream=stream)
        return to
    if is_cuda_array(obj):
        return obj if isinstance(obj, DeviceArray) else as_cuda_array(obj)
    host = np.asarray(obj)
    _check_no_gaps(host)
    return _copied(host, stream) if copy else device_array_like(host)


def device_array(
    shape: Any,
    dtype: npt.DTypeLike = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
) -> DeviceArray:
    """Return a new device array with undefined contents (here: poison).

    Args:
        shape: an int or a tuple.
        dtype: element type; float64 unless given, as in numba.
        strides: bytes between elements along each axis, or None for `order`.
        order: "C" or "F".
        stream: accepted for numba's sake.

    Raises:
        DtypeError: device memory does not hold the dtype.
        OutOfMemoryError: it does not fit.
        ShapeError: the shape is none, or the strides do not go with it.

    Example:
        >>> device_array((2, 3), np.float32).strides
        (12, 4)
    """
    del stream
    return empty(current_device().allocator, shape, dtype, order, strides)


def device_array_like(ary: Any, stream: Any = 0) -> DeviceArray:
    """Return a new device array with the shape, dtype and axis order of another.

    Args:
        ary: device or host array.
        stream: accepted for numba's sake.

    Example:
        >>> device_array_like(np.ones((2, 3), np.float32).T).strides
        (4, 12)
    """
    strides = packed_strides(ary)
    return device_array(ary.shape, ary.dtype, strides, stream=stream)


def packed_strides(ary: Any) -> tuple[int, ...]:
    """Return strides without gaps that keep the order of an array's axes.

    Args:
        ary: device or host array.

    Returns:
        Bytes, one for each axis.

    Example:
        >>> packed_strides(np.ones((2, 3, 4), np.int8).transpose(1, 0, 2)[:, :, ::2])
        (2, 6, 1)
    """
    if ary.flags["C_CONTIGUOUS"]:  # axes of length 1 have any stride
        outer_first = list(range(ary.ndim))
    else:
        outer_first = sorted(range(ary.ndim), key=lambda axis: -ary.strides[axis])
    strides, step = [0] * ary.ndim, ary.dtype.itemsize
    for axis in reversed(outer_first):
        strides[axis] = step
        step *= ary.shape[axis]
    return tuple(strides)


@contextmanager
def pinned(*arylist: npt.NDArray[Any]) -> Iterator[None]:
    """Pin host arrays in the `with` block: copies of them are modelled as faster.

    Args:
        *arylist: host arrays.

    Yields:
        Nothing.

    Example:
        >>> host = np.ones(4)
        >>> with pinned(host):
        ...     array = to_device(host)
    """
    with pin(*arylist):
        yield


def is_cuda_array(obj: object) -> bool:
    """Tell whether an object offers the CUDA Array Interface.

    Example:
        >>> is_cuda_array(device_array(3)), is_cuda_array(np.ones(3))
        (True, False)
    """
    return has_interface(obj)


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceArray:
    """Return a device array over the memory of any object with the interface.

    Args:
        obj: the object; nothing is copied.
        sync: accepted for numba's sake.

    Raises:
        HostAccessError: the object offers no CUDA Array Interface.
        UnsupportedError: its memory is not the simulated device's.

    Example:
        >>> x = to_device(np.zeros(3))
        >>> as_cuda_array(x)[1:2] = 5
        >>> x.copy_to_host().tolist()
        [0.0, 5.0, 0.0]
    """
    if not is_cuda_array(obj):
        raise HostAccessError(
            f"a {type(obj).__name__} is no array in device memory",
            where="cuda.as_cuda_array(obj)",
            why="it offers no `__cuda_array_interface__`",
            fix="copy a host array with cuda.to_device(obj)",
        )
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)


def from_cuda_array_interface(
    desc: Mapping[str, Any], owner: object = None, sync: bool = True
) -> DeviceArray:
    """Return a device array over the memory that a description names.

    Args:
        desc: what `__cuda_array_interface__` gives.
        owner: accepted for numba's sake; the array keeps its memory alive by itself.
        sync: accepted for numba's sake.

    Raises:
        DtypeError: device memory does not hold the dtype.
        UnsupportedError: the memory is not the simulated device's, or is masked.
    """
    del owner, sync
    return array_from_interface(desc)


def _copied(host: npt.NDArray[Any], stream: Any) -> DeviceArray:
    return copy.to_device(host, "cuda.to_device", stream=stream)


def _check_no_gaps(host: npt.NDArray[Any]) -> None:
    """Refuse an array whose bytes do not lie together; repeated axes count once."""
    once = host[tuple(slice(1) if s == 0 else slice(None) for s in host.strides)]
    if once.flags.c_contiguous or once.flags.f_contiguous:
        return
    raise ShapeError(
        f"a {host.dtype} {host.shape} host array with strides {host.strides}",
        where="cuda.to_device(array)",
        why="the elements have gaps between them, and a copy moves one run of bytes",
        fix="cuda.to_device(np.ascontiguousarray(array))",
        shape=host.shape,
    )
