"""The runtime: devices, the timeline, copies and launches."""

from tinytorch_gpu.runtime.copy import to_device, to_host
from tinytorch_gpu.runtime.device import Device, current_device, find_device, use_gpu
from tinytorch_gpu.runtime.launch import launch
from tinytorch_gpu.runtime.timeline import Timeline

__all__ = [
    "Device",
    "Timeline",
    "current_device",
    "find_device",
    "launch",
    "to_device",
    "to_host",
    "use_gpu",
]
