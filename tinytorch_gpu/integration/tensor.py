"""What `Tensor` and layers get: `.to`, `.cpu`, `.device`, `.data` as a property, ...

A tensor's device is where its `.data` is. Rebinding `.data` of a device tensor with a
host array copies it to the device, visibly; shape, size and dtype follow.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tinytorch_gpu.errors import HostAccessError
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime import current_device, find_device, to_device, to_host
from tinytorch_gpu.trace import OpRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.patches import Patches

__all__ = ["patch_layers", "patch_tensor"]


def patch_tensor(patches: Patches, found: TinyTorch) -> None:
    """Give `Tensor` its device methods.

    Args:
        patches: where originals are kept.
        found: the TinyTorch to change.
    """
    tensor_class = found.tensor_class
    move = _move_function(found.function_class)

    def to(self: Any, device: str, non_blocking: bool = False) -> Any:
        """Return the tensor on a device: itself if it is there, else a copy."""
        del non_blocking
        target = find_device(device)
        if (target is not None) == isinstance(self.data, DeviceArray):
            return self
        return move.apply(self, device=device)

    methods = {
        "data": property(_get_data, _set_data),
        "to": to,
        "cpu": lambda self: self.to("cpu"),
        "device": property(_device),
        "is_simgpu": property(lambda self: isinstance(self.data, DeviceArray)),
        "item": _item,
        "__array__": _array,
        "numpy": _numpy(patches.original(tensor_class, "numpy")),
    }
    for name, value in methods.items():
        patches.set(tensor_class, name, value)


def patch_layers(patches: Patches, found: TinyTorch) -> None:
    """Give every class with `parameters()` a `.to(device)` that moves them in place."""
    for module in found.modules.values():
        for thing in list(vars(module).values()):
            is_own = isinstance(thing, type) and thing.__module__ == module.__name__
            if is_own and "parameters" in vars(thing):
                patches.set(thing, "to", _layer_to)


def _layer_to(self: Any, device: str) -> Any:
    """Move the parameters (and their gradients) to a device; return the layer."""
    move = _download if find_device(device) is None else _upload
    parameters = list(self.parameters())
    # All copies first: when memory runs out, every parameter is where it was.
    data = [move(parameter.data) for parameter in parameters]
    grads = [None if p.grad is None else move(p.grad) for p in parameters]
    for parameter, values, grad in zip(parameters, data, grads, strict=True):
        parameter.__dict__["data"] = values
        parameter.grad = grad
    return self


def _upload(array: Any) -> Any:
    if isinstance(array, DeviceArray):
        return array
    return _copied("to", array, lambda: to_device(array, "to('simgpu')"))


def _download(array: Any) -> Any:
    if not isinstance(array, DeviceArray):
        return array
    return _copied("to", array, lambda: to_host(array, "to('cpu')"))


def _copied(name: str, array: Any, copy: Callable[[], Any]) -> Any:
    """Make a copy under an op's name, so that reports can tell whose it is."""
    timeline = current_device().timeline
    op, parent = f"tinytorch::{name}", timeline.current_op
    with timeline.op_scope(op):
        result = copy()
    timeline.add_op(OpRecord(op, parent, "Copy", None, (array.shape,)))
    return result


def _move_function(function_class: Any) -> Any:
    """Make the op `to`: a copy whose gradient is copied the other way."""

    class ToFunction(function_class):  # type: ignore[misc]
        """Copy between host and device."""

        device = "cpu"

        def forward(self, array: Any) -> Any:
            """Copy the array to the device asked for."""
            move = _download if self.device == "cpu" else _upload
            return move(array)

        def backward(self, grad_output: Any) -> tuple[Any, ...]:
            """Copy the gradient back to where the input is."""
            move = _upload if self.device == "cpu" else _download
            return (move(grad_output),)

    return ToFunction


def _get_data(self: Any) -> Any:
    return self.__dict__["data"]


def _set_data(self: Any, value: Any) -> None:
    """Rebind the data; a device tensor stays on its device."""
    state = self.__dict__
    if isinstance(value, np.ndarray) and isinstance(state.get("data"), DeviceArray):
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
    return float(_copied("item", data, data.item))


def _refuse(self: Any, what: str) -> NoReturn:
    raise HostAccessError(
        f"{what} of a tensor of shape {self.shape} on {self.device}",
        where=what,
        why="its elements are in device memory, which the host cannot read",
        fix=f"copy it first: tensor.cpu(){'.numpy()' if 'numpy' in what else ''}",
        shape=self.shape,
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
