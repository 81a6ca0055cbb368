"""Copies between host and device, as ops that reports can name.

`moved` copies an array. `Moves` copies a Tensor and, where gradients are recorded, adds
the node whose gradient is copied the other way, in the terms of each generation.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cuda.host_memory import pinned_array_like
from tinytorch_gpu.errors import UnknownDeviceError
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime import current_device, find_device, to_device, to_host
from tinytorch_gpu.runtime.device import using_device
from tinytorch_gpu.runtime.placement import device_of
from tinytorch_gpu.trace import OpRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.runtime import Device

__all__ = ["copied", "copies_out", "move_of", "moved", "named_device", "place"]


_copies_out: ContextVar[int] = ContextVar("_copies_out", default=0)


def copies_out() -> int:
    """Return how many copies to the host somebody has asked for in this thread."""
    return _copies_out.get()


def named_device(device: str, method: str) -> Device | None:
    """Return the device that `.to(device)` names; None stands for the CPU.

    Args:
        device: its name, "" if none was given.
        method: for the error, for example `"tensor.to"`.

    Raises:
        UnknownDeviceError: there is no such device, or none was named.
    """
    if device != "":
        return find_device(device)
    raise UnknownDeviceError(
        f"{method}() without a device",
        where=f"{method}()",
        why="a copy goes to a device, and none was named",
        fix=f'name it: {method}("simgpu"), or {method}("cpu")',
        device=device,
    )


def place(array: Any) -> Device | None:
    """Return the device that the array is on; None stands for the CPU."""
    return device_of(array) if isinstance(array, DeviceArray) else None


def moved(
    array: Any, target: Device | None, *, is_async: bool = False, reason: str = ""
) -> Any:
    """Return the array on a device: itself if it is there, else a copy.

    Args:
        array: a host or device array.
        target: the device; None stands for the CPU.
        is_async: let the host go on, where the host memory is pinned.
        reason: what the copy's record says; by default the call of `to`.
    """
    source = place(array)
    if target is source:
        return array
    if target is None:
        _copies_out.set(_copies_out.get() + 1)
        # As PyTorch does: what the host does not wait for arrives in pinned memory.
        out = pinned_array_like(array) if is_async else None
        download = partial(to_host, array, "to('cpu')", out, is_async=is_async)
        return copied("to", array, download)
    name = "simgpu" if source is None else target.name
    with using_device(target):
        why = reason or f"to('{name}')"
        upload = partial(to_device, array, why, is_async=is_async)
        return copied("to", array, upload)


def copied(name: str, array: Any, copy: Callable[[], Any], key: str = "Copy") -> Any:
    """Make a copy under an op's name, so that reports can tell whose it is.

    Args:
        name: the op's.
        array: what is copied.
        copy: makes the copy.
        key: what the record says served it; a view is none of the learner's code.
    """
    timeline = current_device().timeline
    op, parent = f"tinytorch::{name}", timeline.current_op
    with timeline.op_scope(op) as scope:
        result = copy()
    end = timeline.host_ns
    timeline.add_op(OpRecord(op, parent, key, None, (array.shape,), scope, end))
    return result


def move_of(found: TinyTorch) -> Callable[[Any, Device | None, bool], Any]:
    """Return the function that copies a Tensor of this TinyTorch to a device."""
    if found.generation == "B":
        return _move_by_function(found.function_class)
    return _move_by_node(found)


def _move_by_function(function_class: Any) -> Callable[[Any, Device | None, bool], Any]:
    """Generation B: the copy is a Function."""

    class ToFunction(function_class):  # type: ignore[misc]
        """Copy between host and device, or between devices."""

        target: Device | None = None
        source: Device | None = None
        non_blocking = False
        moves = True  # its result is elsewhere

        def forward(self, array: Any) -> Any:
            """Copy the array to the device asked for."""
            self.source = place(array)
            return moved(array, self.target, is_async=self.non_blocking)

        def backward(self, grad_output: Any) -> tuple[Any, ...]:
            """Copy the gradient back to where the input is."""
            return (moved(grad_output, self.source),)

    def move(tensor: Any, target: Device | None, non_blocking: bool) -> Any:
        return ToFunction.apply(tensor, target=target, non_blocking=non_blocking)

    return move


def _move_by_node(found: TinyTorch) -> Callable[[Any, Device | None, bool], Any]:
    """Generation A: the copy is a Tensor, with a node if gradients are recorded."""
    base: Any = found.function_class or object

    class ToBackward(base):  # type: ignore[misc]
        """The gradient rule of a copy: the gradient goes back to the input's place."""

        is_copy = True  # see `tensor._backward`

        def __init__(self, tensor: Any) -> None:
            self.saved_tensors = (tensor,)
            self.next_functions: list[Any] = []
            self.source = place(tensor.data)

        def apply(self, grad_output: Any) -> tuple[Any, ...]:
            """Copy the gradient back to where the input is."""
            return (moved(grad_output, self.source),)

    def move(tensor: Any, target: Device | None, non_blocking: bool) -> Any:
        made = moved(tensor.data, target, is_async=non_blocking)
        out = found.tensor_class(made)
        out.__dict__["data"] = made  # the constructor may have copied it
        if found.is_recorded(tensor):
            out.requires_grad = True
            out._grad_fn = ToBackward(tensor)  # noqa: SLF001  (TinyTorch's name)
        return out

    return move
