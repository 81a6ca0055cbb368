"""Which module of numba is which of ours: one table, `CUDA_MODULES`.

A module's value lists where its names come from, first found first. Names that need a
compiler, a linker or a driver are left out; asking for one raises and says so.
Source of the names: numba-cuda 0.30.4, and what public projects import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu import cuda
from tinytorch_gpu.as_numba import testing
from tinytorch_gpu.cuda import fp16, random, types
from tinytorch_gpu.cuda.device_attributes import CudaContext, CudaDevice
from tinytorch_gpu.cuda.jit import Kernel
from tinytorch_gpu.errors import KernelTypeError, SimGPUError, UnsupportedError
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime.event import Event
from tinytorch_gpu.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

__all__ = ["CUDA_MODULES", "ERRORS", "CudaSupportError", "NumbaPerformanceWarning"]


class CudaSupportError(ImportError):
    """numba's error where there is no driver; the simulated GPU never raises it."""


class NumbaWarning(Warning):
    """numba's base class of its warnings; never given here."""


class NumbaPerformanceWarning(NumbaWarning):
    """numba's warning of idle multiprocessors and hidden copies; never given here."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """numba's warning of names that go away; never given here."""


def is_cuda_ndarray(obj: Any) -> bool:
    """Tell whether an object is a device array.

    Example:
        >>> is_cuda_ndarray([1, 2])
        False
    """
    return isinstance(obj, DeviceArray)


ERRORS: dict[str, Any] = {
    "NumbaDeprecationWarning": NumbaDeprecationWarning,
    "NumbaError": SimGPUError,
    "NumbaPerformanceWarning": NumbaPerformanceWarning,
    "NumbaTypeError": KernelTypeError,
    "NumbaWarning": NumbaWarning,
    "TypingError": KernelTypeError,
    "UnsupportedError": UnsupportedError,
}
_ARRAYS: dict[str, Any] = {
    "DeviceNDArray": DeviceArray,
    "DeviceNDArrayBase": DeviceArray,
    "FakeCUDAArray": DeviceArray,  # the class of numba's simulator
    "ManagedNDArray": DeviceArray,
    "MappedNDArray": DeviceArray,
    "is_cuda_ndarray": is_cuda_ndarray,
}
_DRIVER_ERRORS: dict[str, Any] = {
    "CudaAPIError": SimGPUError,  # a driver reports faults and limits with it
    "CudaDriverError": SimGPUError,
    "CudaSupportError": CudaSupportError,
}
_DEVICES: dict[str, Any] = {
    "get_context": cuda.current_context,
    "reset": cuda.close,
}
_DRIVER: dict[str, Any] = {
    "Context": CudaContext,
    "Device": CudaDevice,
    "Event": Event,
    "Stream": Stream,
}
CUDA_MODULES: dict[str, tuple[ModuleType | Mapping[str, Any], ...]] = {
    "numba.cuda": (cuda, {"types": types, "CudaSupportError": CudaSupportError}),
    "numba.cuda.api": (cuda,),
    "numba.cuda.args": (cuda,),
    "numba.cuda.compiler": ({},),
    "numba.cuda.core": ({},),
    "numba.cuda.core.errors": (ERRORS,),
    "numba.cuda.cudadrv": ({},),
    "numba.cuda.cudadrv.devicearray": (_ARRAYS,),
    "numba.cuda.cudadrv.devices": (cuda, _DEVICES),
    "numba.cuda.cudadrv.driver": (cuda, _DRIVER, _DRIVER_ERRORS),
    "numba.cuda.cudadrv.error": (_DRIVER_ERRORS,),
    "numba.cuda.cudadrv.nvvm": ({},),
    "numba.cuda.dispatcher": ({"CUDADispatcher": Kernel},),
    "numba.cuda.errors": (ERRORS,),
    "numba.cuda.fp16": (fp16,),
    "numba.cuda.random": (random,),
    "numba.cuda.simulator": (cuda,),
    "numba.cuda.simulator.cudadrv": ({},),
    "numba.cuda.simulator.cudadrv.devicearray": (_ARRAYS,),
    "numba.cuda.testing": (testing,),
    "numba.cuda.tests": ({},),
    "numba.cuda.tests.support": (testing,),
    "numba.cuda.types": (types,),
}
