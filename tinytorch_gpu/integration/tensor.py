"""What `Tensor` gets: `.to`, `.cpu`, `.device`, `.data` as a property, ...

A tensor's device is where its `.data` is. Rebinding `.data` of a device tensor with a
host array copies it to the device, visibly; shape, size and dtype follow.
"""

from __future__ import annotations

import functools
import inspect
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tinytorch_gpu.cuda.host_memory import pinned_array_like
from tinytorch_gpu.errors import HostAccessError
from tinytorch_gpu.integration.constants import is_kept, keep
from tinytorch_gpu.integration.home import current_home
from tinytorch_gpu.integration.moving import (
    copied,
    move_of,
    moved,
    named_device,
    place,
)
from tinytorch_gpu.integration.owned import claim, let_go
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime import to_device
from tinytorch_gpu.runtime.device import using_device
from tinytorch_gpu.runtime.pinned import is_pinned
from tinytorch_gpu.runtime.placement import device_of

if TYPE_CHECKING:
    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.patches import Patches

__all__ = ["patch_tensor"]

# With one of these a Tensor class has said what NumPy shall do with it.
ITS_OWN_WAY = {"__array__", "__array_ufunc__", "__array_priority__"}


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
        "device": property(_device, _device_set_by(found)),
        "pin_memory": _pin_memory,
        "is_pinned": lambda self: place(self.data) is None and is_pinned(self.data),
        "is_simgpu": property(lambda self: isinstance(self.data, DeviceArray)),
        "item": _item,
        "__array__": property(_array_of(tensor_class)),
        "numpy": _numpy(inspect.getattr_static(tensor_class, "numpy", _get_data)),
        "__init__": _init(tensor_class.__init__, found),
    }
    own_backward = vars(tensor_class).get("backward")
    if isinstance(own_backward, FunctionType):
        methods["backward"] = _backward(own_backward)
    if not ITS_OWN_WAY & _names(tensor_class):
        methods["__array_ufunc__"] = _as_objects
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
        caller = sys._getframe(1)  # noqa: SLF001  (documented, and far cheaper)
        maker = caller.f_globals.get("__name__", "")
        for given in (*args, *options.values()):
            if isinstance(given, DeviceArray) and maker not in own:
                is_ours = maker.partition(".")[0] == "tinytorch_gpu"
                (let_go if is_ours else claim)(given)
        original(self, *args, **options)
        home, data = current_home(), vars(self).get("data")
        if home is None or not isinstance(data, np.ndarray) or not data.ndim:
            return  # a half-written constructor may have made no array
        if any(_is_kept(given, home.owner) for given in args):
            keep(data)
        elif maker in own:
            self.__dict__["data"] = moved(
                data, home.device, reason=f"made in {home.name}"
            )

    return init


def _is_kept(given: Any, owner: Any) -> bool:
    """Tell whether a Tensor is made of an array that a layer has on the host."""
    return isinstance(given, np.ndarray) and is_kept(given, owner)


def _backward(original: Any) -> Any:
    """Wrap `Tensor.backward`: a copy passes on every gradient that comes to it.

    Generation A2 lets go of a node once it has passed one on. Where a program on the
    CPU has one Tensor, the device has two: both uses of the second reach the first.
    """

    @functools.wraps(original)
    def backward(self: Any, *args: Any, **options: Any) -> Any:
        node = self.__dict__.get("_grad_fn")
        result = original(self, *args, **options)
        if getattr(node, "is_copy", False):
            self._grad_fn = node
        return result

    return backward


def _get_data(self: Any) -> Any:
    if "data" not in self.__dict__:
        raise AttributeError(f"this {type(self).__name__} has no data yet")
    return self.__dict__["data"]


def _set_data(self: Any, value: Any) -> None:
    """Rebind the data; a device tensor stays on its device."""
    state = self.__dict__
    if isinstance(value, (list, tuple)) and isinstance(state.get("data"), DeviceArray):
        value = np.asarray(value, np.float32)
    if isinstance(value, np.ndarray) and isinstance(state.get("data"), DeviceArray):
        with using_device(device_of(state["data"])):
            value = to_device(value.astype(np.float32), "tensor.data = host array")
    if isinstance(value, DeviceArray):
        claim(value)
    state["data"] = value
    for name in ("shape", "size", "dtype"):
        if name in state:
            state[name] = getattr(value, name)


def _device(self: Any) -> str:
    data = self.data
    return data.device if isinstance(data, DeviceArray) else "cpu"


def _device_set_by(found: TinyTorch) -> Any:
    """Return a setter: library code may set `device`, which follows the data."""

    def set_device(self: Any, value: Any) -> None:
        caller = sys._getframe(1).f_globals.get("__name__")  # noqa: SLF001
        if caller not in found.module_names and value != self.device:
            raise AttributeError(
                f"a Tensor's device is where its data is: .to({value!r})"
            )

    return set_device


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


def _array_of(tensor_class: Any) -> Any:
    """Return what `tensor.__array__` is: a refusal on the device, else as it was.

    NumPy looks it up on the object. A host Tensor without one is an object to NumPy, as
    before: then `np.float64(2) * tensor` is the Tensor's business.
    """
    own = inspect.getattr_static(tensor_class, "__array__", None)

    def array(self: Any) -> Any:
        if isinstance(self.data, DeviceArray):
            return lambda *_, **__: _refuse(self, "np.asarray(tensor)")
        if own is None:
            raise AttributeError("__array__")
        return own.__get__(self)

    return array


def _as_objects(
    self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any
) -> Any:
    """Let NumPy take Tensors as objects, on the device as on the host."""
    del self
    objects = (_object(v) if hasattr(v, "is_simgpu") else v for v in inputs)
    return getattr(ufunc, method)(*objects, **options)


def _object(tensor: Any) -> Any:
    if not tensor.is_simgpu:
        return np.asarray(tensor)  # a sequence to NumPy, if it has a length
    made = np.empty((), object)
    made[()] = tensor
    return made


def _names(owner: Any) -> set[str]:
    return {name for one in owner.__mro__[:-1] for name in vars(one)}


def _numpy(original: Any) -> Any:
    """Wrap `Tensor.numpy`: refuse on the device."""

    @functools.wraps(original)
    def numpy(self: Any) -> Any:
        if isinstance(self.data, DeviceArray):
            _refuse(self, "tensor.numpy()")
        return original(self)

    return numpy
