"""Objects of an installed numba that a kernel may name: its types and its functions.

`from numba import float32` gives a type of numba's where numba is installed; kernels
use it as ours. The objects are known by their class's module, so numba is not imported.

Source: numba 0.68.1: `types.Number.name`, `types.Array` (`dtype`, `ndim`, `layout`),
`typing.templates.Signature` (`args`, `return_type`), `Dispatcher.py_func`.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

from tinytorch_gpu.cuda.types import ArrayType, ScalarType, Signature, Type

__all__ = ["CPUFunction", "from_numba", "python_function"]


class CPUFunction:
    """What `njit` makes where numba is not installed: the Python function, as it is.

    Args:
        function: the function; kernels may call it as a device function.

    Example:
        >>> def double(x):
        ...     return x + x
        >>> CPUFunction(double)(2)
        4
    """

    def __init__(self, function: FunctionType) -> None:
        self.py_func = function
        functools.update_wrapper(self, function)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run the Python function."""
        return self.py_func(*arguments, **named)


def from_numba(value: Any) -> Any:
    """Return our type or signature in place of numba's.

    Args:
        value: any object.

    Returns:
        Ours for a type or signature of numba that kernels know, a tuple of ours for a
        tuple of numba's; else the value itself.

    Example:
        >>> from_numba(7), from_numba((Type.named("int8"), 7))
        (7, (int8, 7))
    """
    if type(value) is tuple:
        return tuple(from_numba(part) for part in value)
    if not _is_numbas(value):
        return value
    if hasattr(value, "return_type") and hasattr(value, "args"):
        return _signature(value)
    if hasattr(value, "layout") and hasattr(value, "ndim"):
        element = from_numba(value.dtype)
        is_known = isinstance(element, ScalarType)
        return ArrayType(element, value.ndim, value.layout) if is_known else value
    found = Type.named(str(getattr(value, "name", None)))
    return value if found is None else found


def python_function(value: Any) -> FunctionType | None:
    """Return the Python function behind one that numba compiles for the CPU.

    Args:
        value: any object; `@numba.njit` makes dispatchers, which numba's kernels may
            call as device functions.

    Returns:
        The function, or None when the value is no such dispatcher.

    Example:
        >>> python_function(len) is None
        True
    """
    is_compiled = isinstance(value, CPUFunction) or _is_numbas(value)
    function = getattr(value, "py_func", None) if is_compiled else None
    return function if isinstance(function, FunctionType) else None


def _signature(value: Any) -> Any:
    parts = [from_numba(part) for part in (value.return_type, *value.args)]
    if not all(isinstance(part, Type) for part in parts):
        return value
    return Signature(tuple(parts[1:]), parts[0])


def _is_numbas(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in {"numba", "numba_cuda"}
