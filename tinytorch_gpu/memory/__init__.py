"""Device memory: allocations, arrays on them, and the hooks to higher floors."""

from tinytorch_gpu.memory.allocator import Allocator
from tinytorch_gpu.memory.array import DeviceArray
from tinytorch_gpu.memory.buffer import DeviceBuffer
from tinytorch_gpu.memory.creation import empty
from tinytorch_gpu.memory.hooks import hooks
from tinytorch_gpu.memory.layout import elements_of
from tinytorch_gpu.memory.segments import ALIGNMENT

__all__ = [
    "ALIGNMENT",
    "Allocator",
    "DeviceArray",
    "DeviceBuffer",
    "elements_of",
    "empty",
    "hooks",
]
