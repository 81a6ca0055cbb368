"""`numpy` as TinyTorch's modules see it: the same, but device arrays stay on theirs.

`np.array`, `np.asarray` and `np.ascontiguousarray` never ask a foreign array for its
opinion; they would pull a device array to the host (and so raise). In the constructor
of `Tensor`, `np.array` copies what somebody holds (see `owned`), and not each new
result; anywhere else it copies, as NumPy's does.

`np.zeros` and the like have no array to ask: library code at work on a device (see
`home`) gets device memory from them, in float32, the dtype of every Tensor. So it does
from `np.eye`, by a copy. Numbers that library code joins to a device array are copied,
and what `np.random.choice` draws by is copied to the host (see `sampling`).
"""

from __future__ import annotations

import sys
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.integration.home import current_home
from tinytorch_gpu.integration.moving import moved
from tinytorch_gpu.integration.owned import is_owned
from tinytorch_gpu.integration.sampling import on_host
from tinytorch_gpu.library import call
from tinytorch_gpu.memory import DeviceArray, empty
from tinytorch_gpu.runtime.placement import device_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.patches import Patches

__all__ = ["numpy_proxy", "patch_numpy"]


def numpy_proxy(*, is_tensors: bool = False) -> ModuleType:
    """Return a module with NumPy's names in which those above know the device.

    Args:
        is_tensors: it is for the module of the class `Tensor`.

    Example:
        >>> proxy = numpy_proxy()
        >>> proxy.exp is np.exp, proxy.array([1, 2]).tolist()
        (True, [1, 2])
    """
    proxy = _NumpyProxy("numpy")
    vars(proxy).update({n: v for n, v in vars(np).items() if n != "__getattr__"})
    for name in ("array", "asarray", "ascontiguousarray"):
        setattr(proxy, name, _keeping(getattr(np, name), is_tensors))
    for name, value in (("zeros", 0.0), ("ones", 1.0), ("empty", None)):
        setattr(proxy, name, _at_home(getattr(np, name), value))
    for name in ("eye", "identity"):
        setattr(proxy, name, _carried(getattr(np, name)))
    vars(proxy).update(concatenate=_joining(np.concatenate), random=_random())
    return proxy


def patch_numpy(
    patches: Patches, module: ModuleType, *, is_tensors: bool = False
) -> None:
    """Let a module's NumPy know the device, by whatever names it imported it.

    Args:
        patches: where originals are kept.
        module: of TinyTorch.
        is_tensors: it has the class `Tensor`.
    """
    proxy = numpy_proxy(is_tensors=is_tensors)
    for name, value in list(vars(module).items()):
        if value is np:
            patches.set(module, name, proxy)
            continue
        plain = str(getattr(value, "__name__", ""))  # from numpy import array
        ours = getattr(proxy, plain, value) if callable(value) else value
        if ours is not value and getattr(np, plain, None) is value:
            patches.set(module, name, ours)


class _NumpyProxy(ModuleType):
    """NumPy's names; those that NumPy makes on demand are asked of NumPy."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _keeping(function: Any, is_tensors: bool) -> Any:
    """Wrap np.array and the like: what is on the device is converted there.

    A list of device arrays is stacked.
    """

    def convert(a: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        if isinstance(a, (list, tuple)) and a and all(map(_is_there, a)):
            a = np.stack(a)
        if not _is_there(a):
            return function(a, dtype, *args, **options)
        made = a if dtype is None else a.astype(dtype, copy=False)
        is_wanted = function is np.ascontiguousarray and not made.is_c_contiguous()
        if function is np.array and made is a and options.get("copy", True):
            caller = sys._getframe(1).f_code.co_name  # noqa: SLF001  (documented)
            is_wanted = not (is_tensors and caller == "__init__") or is_owned(a)
        missing = max(0, options.get("ndmin", 0) - made.ndim)
        made = made.reshape((1,) * missing + made.shape) if missing else made
        return made.copy() if is_wanted else made

    return _named_as(convert, function)


def _is_there(value: Any) -> bool:
    return isinstance(value, DeviceArray)


def _at_home(function: Any, value: float | None) -> Any:
    """Wrap np.zeros and the like: library code at work on a device gets its memory."""

    def make(shape: Any, dtype: Any = float, *args: Any, **options: Any) -> Any:
        home = current_home()
        if home is None or args or options or np.dtype(dtype).kind != "f":
            return function(shape, dtype, *args, **options)
        made = empty(home.device.allocator, shape, np.dtype(np.float32))
        if value is not None:
            call("fill", made, np.float32(value))
        return made

    return _named_as(make, function)


def _carried(function: Any) -> Any:
    """Wrap np.eye and the like: made on the host, and copied to where code works.

    There an array on the device can index it: `np.eye(classes)[targets]`.
    """

    def make(*args: Any, **options: Any) -> Any:
        made, home = function(*args, **options), current_home()
        if home is None:
            return made
        dtype = np.float32 if made.dtype.kind == "f" else made.dtype
        made = made.astype(dtype, copy=False)
        return moved(made, home.device, reason=f"made in {home.name}")

    return _named_as(make, function)


def _joining(function: Any) -> Any:
    """Wrap np.concatenate: numbers go to the device array that they are joined to."""

    def join(arrays: Any, *args: Any, **options: Any) -> Any:
        there = [a for a in arrays if _is_there(a)]
        if _is_there(arrays) or not there:
            return function(arrays, *args, **options)
        caller = sys._getframe(1).f_code.co_name  # noqa: SLF001  (documented)
        copy = partial(moved, target=device_of(there[0]), reason=f"made in {caller}")
        dtype = there[0].dtype if there[0].dtype.kind == "f" else None
        parts = [a if _is_there(a) else copy(np.asarray(a, dtype)) for a in arrays]
        return function(parts, *args, **options)

    return _named_as(join, function)


def _random() -> ModuleType:
    """Return NumPy's random numbers; `choice` may draw by chances on a device."""
    random = ModuleType(np.random.__name__)
    vars(random).update(vars(np.random), choice=on_host(np.random.choice))
    return random


def _named_as(wrapper: Any, function: Callable[..., Any]) -> Any:
    wrapper.__name__ = function.__name__
    wrapper.__doc__ = function.__doc__
    return wrapper
