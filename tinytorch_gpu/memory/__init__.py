"""Device memory: allocations, arrays on them, and the hooks to higher floors."""

from tinytorch_gpu.memory.allocator import ALIGNMENT, Allocator, DeviceBuffer
from tinytorch_gpu.memory.array import DeviceArray, elements_of
from tinytorch_gpu.memory.creation import empty
from tinytorch_gpu.memory.hooks import hooks

__all__ = [
    "ALIGNMENT",
    "Allocator",
    "DeviceArray",
    "DeviceBuffer",
    "elements_of",
    "empty",
    "hooks",
]
