"""Host arrays that library code makes for itself meet device arrays: copied, visibly.

`np.random.rand(...)` for a dropout mask, `np.arange`, `np.full`: NumPy makes them on
the host. Where library code at work on a device (see `home`) computes with them, they
are copied to it, and the copy's record says whose code made them. What a script makes
is refused, as in PyTorch, and so is an array of a layer that was not moved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from tinytorch_gpu.integration.home import current_home, is_host, is_library
from tinytorch_gpu.integration.moving import moved
from tinytorch_gpu.memory import hooks

if TYPE_CHECKING:
    from tinytorch_gpu.integration.home import Home
    from tinytorch_gpu.integration.patches import Patches

__all__ = ["is_kept", "keep", "patch_constants"]

_kept: WeakValueDictionary[int, Any] = WeakValueDictionary()


def patch_constants(patches: Patches) -> None:
    """Let library code compute with host arrays of its own on a device.

    Args:
        patches: where originals are kept.
    """
    if not isinstance(hooks.ops, _Carrying):
        patches.set(hooks, "ops", _Carrying(hooks.ops))


def is_kept(array: Any, owner: Any) -> bool:
    """Tell whether an array is a layer's own, or a view of one, and not a constant.

    Args:
        array: a host array.
        owner: the layer; None for none.
    """
    kept = getattr(owner, "__dict__", {}).values()
    arrays = (
        v if isinstance(v, np.ndarray) else getattr(v, "data", None) for v in kept
    )
    floats = (a for a in arrays if isinstance(a, np.ndarray) and a.dtype.kind == "f")
    root = _root(array)
    return id(root) in _kept or any(_root(a) is root for a in floats)


def keep(array: Any) -> None:
    """Note the copy that a Tensor made of a layer's own array: it is one, too.

    Args:
        array: a host array.
    """
    _kept[id(array)] = array


class _Carrying:
    """The library's answers to `memory.hooks`, with host operands copied first."""

    def __init__(self, ops: Any) -> None:
        self._ops = ops

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ops, name)

    def ufunc(self, ufunc: Any, method: str, inputs: Any, options: Any) -> Any:
        """Answer `__array_ufunc__`."""
        if method != "at":
            inputs = tuple(
                np.asarray(v) if isinstance(v, (list, tuple)) else v for v in inputs
            )
        carried = inputs if method == "at" else _carried(inputs)
        return self._ops.ufunc(ufunc, method, carried, options)

    def function(self, function: Any, args: Any, options: Any) -> Any:
        """Answer `__array_function__`."""
        return self._ops.function(function, _carried(args), options)


def _carried(inputs: Any) -> Any:
    """Copy the host arrays among operands, if library code at work has made them."""
    home = current_home()
    if home is None or not any(map(is_host, inputs)) or not is_library():
        return inputs
    return tuple(_on(value, home) for value in inputs)


def _on(value: Any, home: Home) -> Any:
    if not is_host(value) or is_kept(value, home.owner):
        return value
    is_float = value.dtype.kind == "f"
    made = value.astype(np.float32, copy=False) if is_float else value
    return moved(made, home.device, reason=f"made in {home.name}")


def _root(array: Any) -> Any:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array
