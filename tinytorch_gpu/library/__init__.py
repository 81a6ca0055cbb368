"""Dispatch: ops by name, kernels by op and key, and NumPy's way in."""

from tinytorch_gpu.library.dispatcher import allow_cpu_fallback, call
from tinytorch_gpu.library.keys import DispatchKey
from tinytorch_gpu.library.numpy_protocol import UFUNC_OPS
from tinytorch_gpu.library.registry import impl, override, registered
from tinytorch_gpu.library.schema import define, schema_of

__all__ = [
    "UFUNC_OPS",
    "DispatchKey",
    "allow_cpu_fallback",
    "call",
    "define",
    "impl",
    "override",
    "registered",
    "schema_of",
]
