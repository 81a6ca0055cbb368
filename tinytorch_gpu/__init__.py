"""tinytorch-gpu: a simulated GPU device, `simgpu`, for TinyTorch.

`install()` adds the device to a TinyTorch; `.to("simgpu")` moves tensors and layers.
Kernels are written with `tinytorch_gpu.cuda`, registered with `tinytorch_gpu.library`,
and what everything cost is read with `tinytorch_gpu.profiler`.
"""

from tinytorch_gpu import (
    cuda,
    errors,
    fusion,
    kernels,
    library,
    profiler,
    settings,
)
from tinytorch_gpu.arch import GpuSpec
from tinytorch_gpu.cuda import types
from tinytorch_gpu.cuda.types import (
    bool_,
    boolean,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    void,
)
from tinytorch_gpu.fusion import fuse
from tinytorch_gpu.integration import install, installed, uninstall
from tinytorch_gpu.profiler import breakeven
from tinytorch_gpu.runtime.device_module import (
    current_device,
    device,
    device_count,
    get_device_name,
    get_device_properties,
    gpu_names,
    is_available,
    set_device,
    synchronize,
)
from tinytorch_gpu.runtime.memory_module import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_peak_memory_stats,
)
from tinytorch_gpu.runtime.sanitize import sanitize
from tinytorch_gpu.runtime.stream_module import (
    Event,
    Stream,
    current_stream,
    default_stream,
    stream,
)
from tinytorch_gpu.runtime.tracing import tracing
from tinytorch_gpu.trace import load_trace

__version__ = "0.1.0"

__all__ = [
    "Event",
    "GpuSpec",
    "Stream",
    "bool_",
    "boolean",
    "breakeven",
    "cuda",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "errors",
    "float16",
    "float32",
    "float64",
    "fuse",
    "fusion",
    "get_device_name",
    "get_device_properties",
    "gpu_names",
    "install",
    "installed",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_available",
    "kernels",
    "library",
    "load_trace",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "profiler",
    "reset_peak_memory_stats",
    "sanitize",
    "set_device",
    "settings",
    "stream",
    "synchronize",
    "tracing",
    "types",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uninstall",
    "void",
]
