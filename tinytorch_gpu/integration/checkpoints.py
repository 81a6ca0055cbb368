"""Checkpoints that load anywhere: arrays go into the file from host memory.

TinyTorch's Trainer pickles arrays. A file with device arrays could be read only where
tinytorch-gpu is installed; so `pickle`, as the Trainer's module sees it, writes each
device array as the NumPy array that it is copied to. Loaded into a model on a device,
parameters go there by `tensor.data = ...`, and an optimizer's buffers go to where their
parameters are, as PyTorch's `load_state_dict` does. What is handed to an optimizer
directly (`set_momentum_state`) comes by the host as well: TinyTorch checks that it is
NumPy's.
"""

from __future__ import annotations

import functools
import io
import pickle
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.integration.moving import moved, place
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime import to_host

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.patches import Patches

__all__ = ["patch_checkpoints"]


def patch_checkpoints(patches: Patches, found: TinyTorch) -> None:
    """Let checkpoints be written from host memory, and read to where models are.

    Args:
        patches: where originals are kept.
        found: the TinyTorch to change.
    """
    for module in found.modules.values():
        if vars(module).get("pickle") is pickle:
            patches.set(module, "pickle", _proxy())
    wraps = {"set_momentum_state": _taking, "load_checkpoint": _loading}
    for owner in found.classes():
        for name, wrap in wraps.items():
            patches.wrap(owner, name, wrap)


class _HostPickler(pickle.Pickler):
    """Writes a device array as the host array that it is copied to."""

    def reducer_override(self, value: Any) -> Any:
        """Answer for device arrays, leave the rest to pickle."""
        if not isinstance(value, DeviceArray):
            return NotImplemented
        return to_host(value, "checkpoint").__reduce__()


def _dump(value: Any, file: Any, protocol: int | None = None) -> None:
    _HostPickler(file, protocol).dump(value)


def _dumps(value: Any, protocol: int | None = None) -> bytes:
    file = io.BytesIO()
    _dump(value, file, protocol)
    return file.getvalue()


def _proxy() -> ModuleType:
    """Return a module with pickle's names that writes from host memory."""
    proxy = ModuleType("pickle")
    vars(proxy).update(vars(pickle) | {"dump": _dump, "dumps": _dumps})
    return proxy


def _taking(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an optimizer's `set_momentum_state`."""

    @functools.wraps(original)
    def set_state(self: Any, *args: Any, **options: Any) -> Any:
        named = {name: _on_host(value) for name, value in options.items()}
        result = original(self, *map(_on_host, args), **named)
        _place_buffers(self)
        return result

    return set_state


def _loading(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a trainer's `load_checkpoint`, which may set the buffers by itself."""

    @functools.wraps(original)
    def load(self: Any, *args: Any, **options: Any) -> Any:
        result = original(self, *args, **options)
        _place_buffers(getattr(self, "optimizer", None))
        return result

    return load


def _on_host(state: Any) -> Any:
    """Copy the device arrays of a list, and of the lists in it, to the host."""
    if isinstance(state, (list, tuple)):
        return type(state)(map(_on_host, state))
    is_there = isinstance(state, DeviceArray)
    return to_host(state, "optimizer state") if is_there else state


def _place_buffers(optimizer: Any) -> None:
    """Move what an optimizer keeps for each parameter to where the parameter is."""
    parameters = getattr(optimizer, "params", [])
    for buffers in getattr(optimizer, "__dict__", {}).values():
        if not isinstance(buffers, list) or len(buffers) != len(parameters):
            continue
        for i, buffer in enumerate(buffers):
            if isinstance(buffer, (np.ndarray, DeviceArray)):
                where = place(parameters[i].data)
                buffers[i] = moved(buffer, where, reason="optimizer state")
