"""The CUDA Array Interface: a device array over memory that a description names.

Source: CUDA Array Interface, version 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.memory import DeviceArray, empty
from tinytorch_gpu.runtime.device import all_devices, current_device

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

__all__ = ["array_from_interface", "has_interface"]


def has_interface(value: object) -> bool:
    """Tell whether an object offers the interface.

    Example:
        >>> has_interface(np.ones(3))
        False
    """
    return hasattr(value, "__cuda_array_interface__")


def array_from_interface(interface: Mapping[str, Any]) -> DeviceArray:
    """Return a device array over the memory of a description; nothing is copied.

    Args:
        interface: what `__cuda_array_interface__` gives.

    Returns:
        The array; it keeps the memory alive.

    Raises:
        DtypeError: device memory does not hold the dtype.
        UnsupportedError: the memory is not the simulated device's, or is masked.
    """
    shape, (address, _is_read_only) = tuple(interface["shape"]), interface["data"]
    dtype = check_dtype(interface["typestr"])
    if interface.get("mask") is not None:
        raise _not_ours("a masked array", "masks are not modelled")
    if 0 in shape:
        return empty(current_device().allocator, shape, dtype)
    found = ((d.name, d.allocator.find(address)) for d in all_devices())
    device, buffer = next((x for x in found if x[1] is not None), ("", None))
    if buffer is None:
        raise _not_ours(f"address {address}", "no live device array has this address")
    memory = buffer.elements(np.dtype(np.uint8))
    first, strides = address - buffer.address, interface.get("strides")
    elements: npt.NDArray[Any] = np.ndarray(shape, dtype, memory, first, strides)
    return DeviceArray(buffer, elements, device)


def _not_ours(what: str, why: str) -> UnsupportedError:
    return UnsupportedError(
        f"{what} is no memory of the simulated device",
        where="reading `__cuda_array_interface__`",
        why=why,
        fix="copy it by way of the host: cuda.to_device(host_array)",
    )
