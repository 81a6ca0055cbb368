"""What `Tensor` gets: `.to`, `.cpu`, `.device`, `.data` as a property, ...

A tensor's device is where its `.data` is. Rebinding `.data` of a device tensor with a
host array copies it to the device, visibly; shape, size and dtype follow.
"""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tinytorch_gpu.cuda.host_memory import pinned_array_like
from tinytorch_gpu.errors import HostAccessError
from tinytorch_gpu.integration.home import current_home
from tinytorch_gpu.integration.moving import (
    copied,
    move_of,
    moved,
    named_device,
    place,
)
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime import to_device
from tinytorch_gpu.runtime.device import using_device
from tinytorch_gpu.runtime.pinned import is_pinned
from tinytorch_gpu.runtime.placement import device_of

if TYPE_CHECKING:
    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.patches import Patches

__all__ = ["patch_tensor"]


def patch_tensor(patches: Patches, found: TinyTorch) -> None:
    """Give `Tensor` its device methods.

    Args:
        patches: where originals are kept.
        found: the TinyTorch to change.
    """
    tensor_class = found.tensor_class
    move = move_of(found)

    def to(self: Any, device: str = "", non_blocking: bool = False) -> Any:
        """Return the tensor on a device: itself if it is there, else a copy.

        With `non_blocking`, a copy of pinned memory is asynchronous.
        """
        target = named_device(device, "tensor.to")
        if target is place(self.data):
            return self
        return move(self, target, non_blocking)

    methods = {
        "data": property(_get_data, _set_data),
        "to": to,
        "cpu": lambda self: self.to("cpu"),
        "device": property(_device),
        "pin_memory": _pin_memory,
        "is_pinned": lambda self: place(self.data) is None and is_pinned(self.data),
        "is_simgpu": property(lambda self: isinstance(self.data, DeviceArray)),
        "item": _item,
        "__array__": _array,
        "numpy": _numpy(inspect.getattr_static(tensor_class, "numpy", _get_data)),
        "__init__": _init(tensor_class.__init__, found),
    }
    for name, value in methods.items():
        patches.set(tensor_class, name, value)


def _pin_memory(self: Any) -> Any:
    """Return a host tensor in pinned memory: itself if it is, else a copy of the data.

    The copy has no part in the graph.
    """
    if self.is_pinned():
        return self
    if isinstance(self.data, DeviceArray):
        _refuse(self, "tensor.pin_memory()")
    pinned = pinned_array_like(self.data)
    pinned[...] = self.data
    out = type(self)(pinned)
    out.__dict__["data"] = pinned  # the constructor may have copied it
    return out


def _init(original: Any, found: TinyTorch) -> Any:
    """Wrap the constructor: what library code makes goes to the device it works on."""
    own = found.module_names

    @functools.wraps(original)
    def init(self: Any, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        home, data = current_home(), vars(self).get("data")
        if home is None or not isinstance(data, np.ndarray) or not data.ndim:
            return  # a half-written constructor may have made no array
        caller = sys._getframe(1)  # noqa: SLF001  (documented, and far cheaper)
        if caller.f_globals.get("__name__") in own:
            self.__dict__["data"] = moved(data, home[0], reason=f"made in {home[1]}")

    return init


def _get_data(self: Any) -> Any:
    if "data" not in self.__dict__:
        raise AttributeError(f"this {type(self).__name__} has no data yet")
    return self.__dict__["data"]


def _set_data(self: Any, value: Any) -> None:
    """Rebind the data; a device tensor stays on its device."""
    state = self.__dict__
    if isinstance(value, np.ndarray) and isinstance(state.get("data"), DeviceArray):
        with using_device(device_of(state["data"])):
            value = to_device(value.astype(np.float32), "tensor.data = host array")
    state["data"] = value
    for name in ("shape", "size", "dtype"):
        if name in state:
            state[name] = getattr(value, name)


def _device(self: Any) -> str:
    data = self.data
    return data.device if isinstance(data, DeviceArray) else "cpu"


def _item(self: Any) -> float:
    """Return the single element as a float; from the device, a copy that waits."""
    data = self.data
    if not isinstance(data, DeviceArray):
        return float(data.item())
    return float(copied("item", data, data.item))


def _refuse(self: Any, what: str) -> NoReturn:
    raise HostAccessError(
        f"{what} of a tensor of shape {self.data.shape} on {self.device}",
        where=what,
        why="its elements are in device memory, which the host cannot read",
        fix=f"copy it first: tensor.cpu(){'.numpy()' if 'numpy' in what else ''}",
        shape=self.data.shape,
        device=self.device,
    )


def _array(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """Return the data for NumPy; refuse on the device."""
    if isinstance(self.data, DeviceArray):
        _refuse(self, "np.asarray(tensor)")
    del copy
    return self.data if dtype is None else self.data.astype(dtype)


def _numpy(original: Any) -> Any:
    """Wrap `Tensor.numpy`: refuse on the device."""

    @functools.wraps(original)
    def numpy(self: Any) -> Any:
        if isinstance(self.data, DeviceArray):
            _refuse(self, "tensor.numpy()")
        return original(self)

    return numpy
