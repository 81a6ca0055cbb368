"""Layers on the device: `.to(device)`, and constants made where the operands are.

`.to` moves in place and keeps each parameter the same object, as PyTorch's does, so an
optimizer that was built before goes on with it. What is no parameter moves too: arrays
of floats that a layer keeps (running means), and Tensors such as a position table.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.integration.home import at_home
from tinytorch_gpu.integration.moving import moved, named_device
from tinytorch_gpu.integration.owned import claim
from tinytorch_gpu.integration.patches import wrapped
from tinytorch_gpu.integration.staying import staying
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.patches import Patches
    from tinytorch_gpu.runtime import Device

__all__ = ["move_model", "patch_layers"]

Slot = tuple[Any, Any, Any]  # a dict or list, the key in it, the array there


def patch_layers(patches: Patches, found: TinyTorch) -> None:
    """Give layers `.to(device)`, and every `forward` a home (see `home`).

    Args:
        patches: where originals are kept.
        found: the TinyTorch to change.
    """
    base = found.function_class or ()
    for owner in found.classes():
        own = vars(owner)
        if issubclass(owner, base):
            continue
        if "parameters" in own:
            patches.set(owner, "to", move_model)
        if "forward" in own:
            name = f"{owner.__name__}.forward"
            made = wrapped(own["forward"], partial(at_home, name=name))
            if made is not None:
                patches.set(owner, "forward", made)
        patches.wrap(owner, "__call__", staying)


def move_model(model: Any, device: str = "") -> Any:
    """Move a model's parameters, their gradients and buffers; return the model.

    It is `Layer.to`, as a function for models that are no `Layer`.

    Args:
        model: anything with `parameters()`.
        device: `"simgpu"`, `"simgpu:1"`, `"cpu"`.

    Raises:
        UnsupportedError: it has no `parameters()`.
        UnknownDeviceError: there is no such device, or none was named.
        OutOfMemoryError: it does not fit; then nothing has moved.
    """
    if not _is_layer(model):
        raise UnsupportedError(
            f"a {type(model).__name__} as a model",
            where="move_model(model, device)",
            why="a model has parameters(), which tells what to move",
            fix="move a Tensor by x.to(device), and each layer of a list by itself",
        )
    target = named_device(device, "model.to")
    slots = list(_slots(model))
    # All copies first: when memory runs out, every array is where it was.
    arrays = [_on(array, target) for _, _, array in slots]
    for (holder, key, _), array in zip(slots, arrays, strict=True):
        holder[key] = array
        if isinstance(array, DeviceArray):
            claim(array)
    return model


def _on(array: Any, target: Device | None) -> Any:
    """Copy to the device; float64 becomes float32 there, the dtype of every Tensor."""
    if target is not None and isinstance(array, np.ndarray):
        array = array.astype(np.float32, copy=False)
    return moved(array, target)


def _slots(layer: Any) -> Iterator[Slot]:
    """Find the arrays of a layer and of the layers in it, each once."""
    seen: set[int] = set()
    waiting: list[Any] = [layer, *layer.parameters()]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        holder: Any = thing if isinstance(thing, (list, dict)) else _state(thing)
        keys = range(len(holder)) if isinstance(holder, list) else list(holder)
        for key in keys:
            value = holder[key]
            if _is_movable(value):
                yield holder, key, value
            elif (
                isinstance(value, (list, dict)) or _is_tensor(value) or _is_layer(value)
            ):
                waiting.append(value)
            elif isinstance(value, tuple):
                waiting.extend(v for v in value if _is_layer(v))


def _state(thing: Any) -> dict[str, Any]:
    """Return what an object keeps in its attributes, without its graph."""
    state: dict[str, Any] = getattr(thing, "__dict__", {})
    return state


def _is_movable(value: Any) -> bool:
    """Tell whether a value is an array that goes with its layer."""
    if isinstance(value, DeviceArray):
        return True
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _is_tensor(value: Any) -> bool:
    state = getattr(value, "__dict__", {})
    return not isinstance(value, type) and "data" in state and "shape" in state


def _is_layer(value: Any) -> bool:
    is_class = isinstance(value, type)
    return not is_class and hasattr(value, "parameters") and hasattr(value, "__dict__")
