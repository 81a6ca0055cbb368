"""Checkpoints that load anywhere: arrays go into the file from host memory.

TinyTorch's Trainer pickles arrays. A file with device arrays could be read only where
tinytorch-gpu is installed; so `pickle`, as the Trainer's module sees it, writes each
device array as the NumPy array that it is copied to. Loaded into a model on a device,
parameters go there by `tensor.data = ...`, and an optimizer's buffers go to where their
parameters are, as PyTorch's `load_state_dict` does.
"""

from __future__ import annotations

import functools
import io
import pickle
from types import FunctionType, ModuleType
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
    for owner in found.classes():
        original = vars(owner).get("set_momentum_state")
        if isinstance(original, FunctionType):
            patches.set(owner, "set_momentum_state", _placed(original))


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


def _placed(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `set_momentum_state`: buffers go to where their parameters are."""

    @functools.wraps(original)
    def set_state(self: Any, *args: Any, **options: Any) -> Any:
        result = original(self, *args, **options)
        buffers = getattr(self, "momentum_buffers", [])
        for i, (buffer, parameter) in enumerate(
            zip(buffers, self.params, strict=False)
        ):
            if isinstance(buffer, (np.ndarray, DeviceArray)):
                where = place(parameter.data)
                buffers[i] = moved(buffer, where, reason="optimizer state")
        return result

    return set_state
