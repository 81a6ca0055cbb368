"""`numpy` as TinyTorch's modules see it: the same, but device arrays stay on theirs.

`np.array`, `np.asarray` and `np.ascontiguousarray` never ask a foreign array for its
opinion; they would pull a device array to the host (and so raise). TinyTorch calls them
in `Tensor.__init__` and for the seed of `backward`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from tinytorch_gpu.memory import DeviceArray

__all__ = ["numpy_proxy"]


def numpy_proxy() -> ModuleType:
    """Return a module with NumPy's names in which those three keep device arrays.

    Example:
        >>> proxy = numpy_proxy()
        >>> proxy.exp is np.exp, proxy.array([1, 2]).tolist()
        (True, [1, 2])
    """
    proxy = _NumpyProxy("numpy")
    vars(proxy).update({n: v for n, v in vars(np).items() if n != "__getattr__"})
    for name in ("array", "asarray", "ascontiguousarray"):
        setattr(proxy, name, _keeping(getattr(np, name)))
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

    convert.__name__ = function.__name__
    convert.__doc__ = function.__doc__
    return convert
