"""`numpy` as TinyTorch's modules see it: the same, but device arrays stay on theirs.

`np.array`, `np.asarray` and `np.ascontiguousarray` never ask a foreign array for its
opinion; they would pull a device array to the host (and so raise). TinyTorch calls them
in `Tensor.__init__` and for the seed of `backward`.

`np.zeros` and the like have no array to ask: library code at work on a device (see
`home`) gets device memory from them, in float32, the dtype of every Tensor. So it does
from `np.eye`, by a copy.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.integration.home import current_home
from tinytorch_gpu.integration.moving import moved
from tinytorch_gpu.library import call
from tinytorch_gpu.memory import DeviceArray, empty

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["numpy_proxy"]


def numpy_proxy() -> ModuleType:
    """Return a module with NumPy's names in which those above know the device.

    Example:
        >>> proxy = numpy_proxy()
        >>> proxy.exp is np.exp, proxy.array([1, 2]).tolist()
        (True, [1, 2])
    """
    proxy = _NumpyProxy("numpy")
    vars(proxy).update({n: v for n, v in vars(np).items() if n != "__getattr__"})
    for name in ("array", "asarray", "ascontiguousarray"):
        setattr(proxy, name, _keeping(getattr(np, name)))
    for name, value in (("zeros", 0.0), ("ones", 1.0), ("empty", None)):
        setattr(proxy, name, _at_home(getattr(np, name), value))
    for name in ("eye", "identity"):
        setattr(proxy, name, _carried(getattr(np, name)))
    return proxy


class _NumpyProxy(ModuleType):
    """NumPy's names; those that NumPy makes on demand are asked of NumPy."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _keeping(function: Any) -> Any:
    """Wrap np.array and the like: a device array is converted on the device."""

    def convert(a: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        if not isinstance(a, DeviceArray):
            return function(a, dtype, *args, **options)
        if function is np.ascontiguousarray and not a.is_c_contiguous():
            a = a.copy()
        return a if dtype is None else a.astype(dtype, copy=False)

    return _named_as(convert, function)


def _at_home(function: Any, value: float | None) -> Any:
    """Wrap np.zeros and the like: library code at work on a device gets its memory."""

    def make(shape: Any, dtype: Any = float, *args: Any, **options: Any) -> Any:
        home = current_home()
        if home is None or args or options or np.dtype(dtype).kind != "f":
            return function(shape, dtype, *args, **options)
        made = empty(home[0].allocator, shape, np.dtype(np.float32))
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
        return moved(made, home[0], reason=f"made in {home[1]}")

    return _named_as(make, function)


def _named_as(wrapper: Any, function: Callable[..., Any]) -> Any:
    wrapper.__name__ = function.__name__
    wrapper.__doc__ = function.__doc__
    return wrapper
