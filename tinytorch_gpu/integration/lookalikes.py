"""Packages that share TinyTorch's name and are something else; told why.

Several libraries are called tinytorch. What the device needs is a `core.tensor` module
whose `Tensor` keeps a NumPy array in `.data`.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import UnsupportedError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["check_is_tinytorch"]


def check_is_tinytorch(core: str) -> None:
    """Refuse a package that has no module 01 of TinyTorch but a Tensor elsewhere.

    Args:
        core: the package that TinyTorch's modules would be in.

    Raises:
        UnsupportedError: it is another library; the error says what was seen.

    Example:
        >>> check_is_tinytorch("tinytorch_gpu.tinytorch")
    """
    root = core.removesuffix(".core")
    if _module(f"{core}.tensor") is not None or root == core:
        _check_keeps_numpy(core)
        return
    for place in (f"{root}.tensor", root):
        module = _module(place)
        if isinstance(getattr(module, "Tensor", None), type):
            raise _other(root, f"Tensor is in {place}, there is no {core}.tensor")
    if _module(root) is not None and _module(core) is None:
        raise _other(root, f"there is no package {core}")


def _check_keeps_numpy(core: str) -> None:
    """Refuse a Tensor whose data is no NumPy array."""
    tensor_class: Any = getattr(_module(f"{core}.tensor"), "Tensor", None)
    if not isinstance(tensor_class, type):
        return
    try:
        data = tensor_class([1.0, 2.0]).data
    except Exception:  # noqa: BLE001  (an unfinished constructor: told elsewhere)
        return
    if not hasattr(data, "__array__") and data is not None:
        kind = type(data).__name__
        raise _other(core, f"Tensor.data is a {kind}, not a NumPy array")


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception:  # noqa: BLE001  (somebody else's package may raise anything)
        return None


def _other(package: str, seen: str) -> UnsupportedError:
    return UnsupportedError(
        f"the package {package!r} is not Harvard's TinyTorch",
        where=seen,
        why="the device is added to a core.tensor.Tensor with a NumPy array in `.data`",
        fix="put your exported TinyTorch first on sys.path (PYTHONPATH=...),\n"
        'or take the embedded core: simgpu.install(package="tinytorch_gpu.tinytorch")',
        package=package,
    )
