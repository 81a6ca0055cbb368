"""Packages that share TinyTorch's name and are something else; told why.

Several libraries are called tinytorch. What the device needs is a `core.tensor` module
whose `Tensor` keeps a NumPy array in `.data`.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import UnsupportedError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["check_is_tinytorch", "check_keeps_data", "check_takes_device_arrays"]


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
    check_keeps_data(core, tensor_class)
    try:
        data = tensor_class([1.0, 2.0]).data
    except Exception:  # noqa: BLE001  (an unfinished constructor: told elsewhere)
        return
    if not hasattr(data, "__array__") and data is not None:
        kind = type(data).__name__
        raise _other(core, f"Tensor.data is a {kind}, not a NumPy array")


def check_keeps_data(package: str, tensor_class: Any) -> None:
    """Refuse a Tensor that has its array elsewhere than in its attribute `data`.

    Args:
        package: whose it is.
        tensor_class: the class; one whose constructor makes no array yet is let by.

    Raises:
        UnsupportedError: `data` is a property or a slot, or has another name.
    """
    try:
        made = tensor_class([1.0, 2.0])
        state, data = getattr(made, "__dict__", {}), getattr(made, "data", None)
    except Exception:  # noqa: BLE001  (unfinished: told elsewhere)
        return
    if "data" in state:
        return
    elsewhere = [n for n, v in state.items() if isinstance(v, np.ndarray)]
    if elsewhere or isinstance(data, np.ndarray):
        places = ", ".join(elsewhere) or "a slot"
        raise UnsupportedError(
            f"the Tensor of {package!r} keeps its array in `{places}`",
            where=f"{tensor_class.__module__}.Tensor, made of two numbers",
            why="the device puts its arrays into the attribute `data`, as TinyTorch's\n"
            "own modules do; nothing has been changed",
            fix="keep the array in `self.data`, a plain attribute without __slots__",
            package=package,
        )


def check_takes_device_arrays(package: str, tensor_class: Any, array: Any) -> None:
    """Refuse a Tensor that cannot be made of a device array, though of a host one.

    Args:
        package: whose it is.
        tensor_class: the class, as it is once its modules know the device.
        array: a device array.

    Raises:
        UnsupportedError: its constructor refuses the array.
    """
    try:
        tensor_class(np.zeros(1, np.float32))
    except Exception:  # noqa: BLE001  (unfinished: told elsewhere)
        return
    try:
        tensor_class(array)
    except Exception as error:
        told = str(error).split("\n")[0]
        raise UnsupportedError(
            f"the Tensor of {package!r} cannot be made of a device array",
            where=f"Tensor(array): {type(error).__name__}: {told}",
            why="what an op gives on the device is no NumPy array, and the\n"
            "constructor takes none; all has been put back",
            fix="make it with np.array(data, dtype=np.float32), without a check of its "
            "type",
            package=package,
        ) from error


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit):  # noqa: BLE001  (somebody else's package)
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
