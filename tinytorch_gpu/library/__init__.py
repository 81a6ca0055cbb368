"""Dispatch: ops by name, kernels by op and key, and NumPy's way in."""

from tinytorch_gpu.library.check import check
from tinytorch_gpu.library.check_report import CheckReport
from tinytorch_gpu.library.dispatcher import call
from tinytorch_gpu.library.fakes import FakeArray, register_fake
from tinytorch_gpu.library.fragments import Library
from tinytorch_gpu.library.keys import DispatchKey
from tinytorch_gpu.library.log import OpLog, explain, log
from tinytorch_gpu.library.log_entry import LogEntry
from tinytorch_gpu.library.numpy_protocol import UFUNC_OPS
from tinytorch_gpu.library.registration import fallthrough_kernel
from tinytorch_gpu.library.registry import (
    has_kernel,
    impl,
    override,
    register_kernel,
    registered,
)
from tinytorch_gpu.library.routes import allow_cpu_fallback
from tinytorch_gpu.library.schema import define, schema_of

__all__ = [
    "UFUNC_OPS",
    "CheckReport",
    "DispatchKey",
    "FakeArray",
    "Library",
    "LogEntry",
    "OpLog",
    "allow_cpu_fallback",
    "call",
    "check",
    "define",
    "explain",
    "fallthrough_kernel",
    "has_kernel",
    "impl",
    "log",
    "override",
    "register_fake",
    "register_kernel",
    "registered",
    "schema_of",
]
