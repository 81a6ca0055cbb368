"""`numba` where it is not installed: what CUDA code imports from it, and no more.

Nothing is compiled: what `njit` and `jit` make runs the Python function, and
`config.DISABLE_JIT` says so; `prange` is `range`.
Source of the names: numba 0.68.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.as_numba.tables import ERRORS
from tinytorch_gpu.cuda import types
from tinytorch_gpu.cuda.numba_types import CPUFunction
from tinytorch_gpu.cuda.types import ScalarType
from tinytorch_gpu.errors import KernelTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

__all__ = ["NUMBA_MODULES", "from_dtype", "jit", "vectorize"]

VERSION = "0.68.1"  # the numba whose names these are; programs compare it


def jit(signature_or_function: Any = None, **_options: Any) -> Any:
    """Make a function that runs as Python: `@jit`, `@jit(...)`; options change nothing.

    Args:
        signature_or_function: the function, or a signature that is not used.

    Returns:
        The `CPUFunction`, which kernels may call too, or the decorator that makes it.

    Example:
        >>> @jit(nopython=True)
        ... def double(x):
        ...     return x + x
        >>> double(2)
        4
    """
    is_python = _is_python(signature_or_function)
    return CPUFunction(signature_or_function) if is_python else CPUFunction


def vectorize(function_or_types: Any = None, **_options: Any) -> Any:
    """Make a function of arrays from one of scalars, element by element in Python.

    Args:
        function_or_types: the function, or types that are not used.

    Returns:
        The function of arrays, or the decorator that makes it.

    Example:
        >>> vectorize(["float64(float64)"])(lambda x: x * 2)([1.0, 2.0]).tolist()
        [2.0, 4.0]
    """
    is_python = _is_python(function_or_types)
    return np.vectorize(function_or_types) if is_python else np.vectorize


def from_dtype(dtype: Any) -> ScalarType:
    """Return the type of a NumPy dtype.

    Args:
        dtype: anything that NumPy takes for a dtype.

    Raises:
        KernelTypeError: kernels have no such type.

    Example:
        >>> from_dtype("float32")
        float32
    """
    found = types.Type.named(np.dtype(dtype).name)
    if not isinstance(found, ScalarType):
        raise KernelTypeError(
            f"numba.from_dtype({dtype!r})",
            where="numba.from_dtype",
            why="kernels have booleans, integers and floats of up to 64 bits",
            fix="use one of those dtypes",
        )
    return found


def _is_python(value: Any) -> bool:
    is_type = isinstance(value, (types.Type, types.Signature))
    return callable(value) and not is_type


_TYPES = {name: getattr(types, name) for name in types.__all__}
_CONFIG = {
    "CUDA_LOW_OCCUPANCY_WARNINGS": 0,
    "CUDA_WARN_ON_IMPLICIT_COPY": 0,
    "DISABLE_JIT": True,
    "ENABLE_CUDASIM": False,
    "NUMBA_NUM_THREADS": 1,
}
_NUMBA = {
    "__version__": VERSION,
    "from_dtype": from_dtype,
    "jit": jit,
    "njit": jit,
    "prange": range,
    "vectorize": vectorize,
}
NUMBA_MODULES: dict[str, tuple[ModuleType | Mapping[str, Any], ...]] = {
    "numba": (_NUMBA, _TYPES),
    "numba.config": (_CONFIG,),
    "numba.core": ({},),
    "numba.core.config": (_CONFIG,),
    "numba.core.errors": (ERRORS,),
    "numba.core.types": (_TYPES,),
    "numba.types": (_TYPES,),
}
