"""Dummies: values that stand for a type while a kernel's types are found.

A number's dummy is a NumPy scalar 1 of its dtype, an array's is a `KernelArray` with
one element for each axis, a tuple's is a tuple. `key_of` names the type, so that types
can be compared and kernels kept by the types of their arguments.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import poison_value
from tinytorch_gpu.cuda.names import NOT_STATIC
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.kernel_array import KernelArray
from tinytorch_gpu.executor.typing_rules import unified_dtype
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from tinytorch_gpu.trace import Site

__all__ = [
    "SCALARS",
    "array_dummy",
    "dummy_of",
    "index_dummy",
    "join_dummies",
    "key_of",
    "poison_of",
    "typed_constant",
]

SCALARS = (bool, int, float, np.number, np.bool_)


def array_dummy(dtype: Any, ndim: int) -> KernelArray:
    """Return the dummy of an array.

    Example:
        >>> key_of(array_dummy("float32", 2))
        'float32[2]'
    """
    storage = np.ones(1, np.dtype(dtype))
    return KernelArray(storage, np.int64(0), (1,) * ndim, (0,) * ndim)


def typed_constant(value: Any) -> Any:
    """Return a Python number with its GPU type: bool, int64 (uint64), float64.

    Example:
        >>> typed_constant(3), typed_constant(2**63), typed_constant(0.5)
        (np.int64(3), np.uint64(9223372036854775808), np.float64(0.5))
    """
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):  # members of an IntEnum too
        return np.uint64(value) if value >= 2**63 else np.int64(value)
    is_float = isinstance(value, float) and not isinstance(value, np.generic)
    return np.float64(value) if is_float else value


def dummy_of(value: Any) -> Any:
    """Return the dummy of a value, or NOT_STATIC when a kernel cannot hold it.

    Args:
        value: a number, lanes, an array, a tuple of these, None, a dtype or a string.

    Example:
        >>> dummy_of((2.5, np.int32([[7, 8]])))
        (np.float64(1.0), np.int32(1))
    """
    if isinstance(value, tuple):
        return _tuple_dummy(value)
    if isinstance(value, (KernelArray, DeviceArray)):
        dtype = getattr(value, "element_dtype", None) or value.dtype  # type: ignore[union-attr]
        return array_dummy(dtype, len(value.shape))
    if isinstance(value, (np.generic, np.ndarray)):  # lanes
        return value.dtype.type(1)
    if isinstance(value, SCALARS):
        return dummy_of(typed_constant(value))
    is_token = value is None or isinstance(value, (str, np.dtype))
    return value if is_token or hasattr(value, "is_kernel_token") else NOT_STATIC


def _tuple_dummy(value: tuple[Any, ...]) -> Any:
    parts = [dummy_of(part) for part in value]
    if any(part is NOT_STATIC for part in parts):
        return NOT_STATIC
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def key_of(dummy: Any) -> str:
    """Name a dummy's type; equal names are equal types.

    Example:
        >>> key_of((np.float32(1), None)), key_of(array_dummy("int64", 1))
        ('(float32,none)', 'int64[1]')
    """
    if isinstance(dummy, tuple):
        return f"({','.join(map(key_of, dummy))})"
    if isinstance(dummy, KernelArray):
        return f"{_name(dummy.element_dtype)}[{len(dummy.lengths)}]"
    if isinstance(dummy, np.generic):
        return _name(dummy.dtype)
    return "none" if dummy is None else f"{type(dummy).__name__}:{dummy}"


@cache
def _name(dtype: np.dtype[Any]) -> str:
    return dtype.name  # NumPy makes it anew each time, which takes microseconds


def join_dummies(dummies: list[Any]) -> Any:
    """Return the type that a variable has which may hold any of several.

    Raises:
        KernelTypeError: there is none, for example of a number and an array.

    Example:
        >>> join_dummies([np.int32(1), np.float32(1)])
        np.float64(1.0)
    """
    joined = dummies[0]
    for dummy in dummies[1:]:
        joined = _join(joined, dummy)
    return joined


def _join(a: Any, b: Any) -> Any:
    if key_of(a) == key_of(b):
        return a
    if isinstance(a, np.generic) and isinstance(b, np.generic):
        return unified_dtype(a.dtype, b.dtype).type(1)
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(_join, a, b))
    raise KernelTypeError(
        f"a value that is {_told(a)} on one path and {_told(b)} on another",
        why="a variable has one type where paths meet; numbers and tuples of numbers "
        "have a common one",
        fix="use two variables",
    )


def _told(dummy: Any) -> str:
    if isinstance(dummy, KernelArray):
        return f"an array {key_of(dummy)}"
    return "None" if dummy is None else f"{key_of(dummy)}"


def poison_of(dummy: Any) -> Any:
    """Return what a variable of this type holds where no thread has assigned it.

    Example:
        >>> poison_of(np.int16(1))
        np.int16(32767)
    """
    return dummy.dtype.type(poison_value(dummy.dtype))


def index_dummy(base: Any, indices: tuple[Any, ...], site: Site) -> Any:
    """Return the dummy of `base[indices]`: an element or a view.

    Args:
        base: an array's dummy.
        indices: dummies; slices and `...` for views.
        site: where it stands.

    Raises:
        KernelTypeError: it is no array, or has fewer axes.
    """
    if not isinstance(base, KernelArray):
        raise KernelTypeError(
            f"`{site.expression}` cannot be indexed",
            where=str(site.line),
            why=f"it is {_told(base)}, no array",
            fix="index an array or a tuple",
        )
    for part in indices:
        is_float = isinstance(part, np.generic) and part.dtype.kind not in "iub"
        if is_float or isinstance(part, KernelArray):
            raise KernelTypeError(
                f"`{site.expression}` indexed with {_told(part)}",
                where=str(site.line),
                why="an index is an integer, a slice, or a tuple of these",
                fix="convert a float with int(x)",
            )
    kept = sum(isinstance(part, slice) for part in indices)
    given = len(indices) - kept - sum(part is ... for part in indices)
    left = len(base.lengths) - given
    if left < kept:
        raise KernelTypeError(
            f"`{site.expression}` indexed with {len(indices)} indices",
            where=str(site.line),
            why=f"it has {len(base.lengths)} axes",
            fix="give at most one index for each axis",
        )
    return (
        array_dummy(base.element_dtype, left) if left else (base.element_dtype.type(1))
    )
