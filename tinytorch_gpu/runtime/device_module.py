"""The device module: what `torch.cuda` is for CUDA, `tinytorch_gpu` is for simgpu.

Names and units are torch.cuda's; sizes in bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.arch import PRESETS
from tinytorch_gpu.errors import UnknownDeviceError
from tinytorch_gpu.runtime.device import current_device as _current_device
from tinytorch_gpu.runtime.device import find_device
from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = [
    "DeviceProperties",
    "current_device",
    "device_count",
    "get_device_name",
    "get_device_properties",
    "gpu_names",
    "is_available",
    "max_memory_allocated",
    "mem_get_info",
    "memory_allocated",
    "memory_summary",
    "reset_peak_memory_stats",
    "synchronize",
]


@dataclass(frozen=True)
class DeviceProperties:
    """What `get_device_properties` tells, with torch's names.

    Args:
        name: the modelled GPU.
        major, minor: compute capability.
        total_memory: bytes.
        multi_processor_count: SMs.
        spec: everything else.
    """

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    spec: GpuSpec


def is_available() -> bool:
    """Tell whether the device can be used: always, since it is simulated."""
    return True


def device_count() -> int:
    """Return the number of simulated devices.

    Example:
        >>> device_count()
        1
    """
    return 1


def current_device() -> int:
    """Return the index of the device that launches go to."""
    return 0


def get_device_name(device: Any = None) -> str:
    """Return the name of the modelled GPU, for example "Tesla T4"."""
    return get_device_properties(device).name


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Return what the modelled GPU has.

    Args:
        device: None, an index, or a device string.

    Raises:
        UnknownDeviceError: there is no such device.
    """
    name = f"simgpu:{device}" if isinstance(device, int) else device
    found = _current_device() if name is None else find_device(name)
    if found is None:
        raise UnknownDeviceError(
            "the CPU is no device with properties",
            where=f"get_device_properties({device!r})",
            why="it tells of the modelled GPU",
            fix='get_device_properties("simgpu")',
        )
    spec = found.spec
    major, minor = spec.compute_capability
    return DeviceProperties(
        spec.name, major, minor, spec.memory_bytes, spec.num_sms, spec
    )


def gpu_names() -> tuple[str, ...]:
    """Return the names that `install(gpu=...)` knows.

    Example:
        >>> "t4" in gpu_names()
        True
    """
    return tuple(PRESETS)


def synchronize() -> None:
    """Wait until the device has done everything; costs modelled host time."""
    _current_device().synchronize()


def memory_allocated() -> int:
    """Return the bytes of all live device arrays, each rounded up to 512."""
    return _current_device().allocator.allocated_bytes


def max_memory_allocated() -> int:
    """Return the most bytes that were allocated at one time."""
    return _current_device().allocator.peak_bytes


def reset_peak_memory_stats() -> None:
    """Start `max_memory_allocated` anew."""
    allocator = _current_device().allocator
    allocator.peak_bytes = allocator.allocated_bytes


def mem_get_info() -> tuple[int, int]:
    """Return (free, total) bytes of the device."""
    allocator = _current_device().allocator
    free = allocator.capacity_bytes - allocator.allocated_bytes
    return free, allocator.capacity_bytes


def memory_summary() -> str:
    """Return allocated, peak and total memory in one line."""
    allocator = _current_device().allocator
    return (
        f"{allocator.device}: {format_bytes(allocator.allocated_bytes)} allocated, "
        f"{format_bytes(allocator.peak_bytes)} at the peak, "
        f"{format_bytes(allocator.capacity_bytes)} in all"
    )
