"""The device module: what `torch.cuda` is for CUDA, `tinytorch_gpu` is for simgpu.

Names and units are torch.cuda's. What it says of memory stands in `memory_module.py`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.arch import PRESETS
from tinytorch_gpu.errors import UnknownDeviceError
from tinytorch_gpu.runtime.device import all_devices, find_device, using_device
from tinytorch_gpu.runtime.device import current_device as _current_device
from tinytorch_gpu.runtime.device import set_device as _set_device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.runtime.device import Device

__all__ = [
    "DeviceProperties",
    "current_device",
    "device",
    "device_count",
    "get_device_name",
    "get_device_properties",
    "gpu_names",
    "is_available",
    "read_device",
    "set_device",
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
        warp_size: lanes of a warp.
        max_threads_per_multi_processor: resident threads of an SM.
        regs_per_multiprocessor: 32-bit registers of an SM.
        shared_memory_per_block: bytes that a block may use.
        shared_memory_per_multiprocessor: bytes of an SM.
        L2_cache_size: bytes.
        spec: everything else; ours.
    """

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int
    max_threads_per_multi_processor: int
    regs_per_multiprocessor: int
    shared_memory_per_block: int
    shared_memory_per_multiprocessor: int
    L2_cache_size: int
    spec: GpuSpec = field(repr=False)


def is_available() -> bool:
    """Tell whether the device can be used: always, since it is simulated."""
    return True


def device_count() -> int:
    """Return the number of simulated devices; `install(gpu=[...])` sets it.

    Example:
        >>> device_count()
        1
    """
    return len(all_devices())


def current_device() -> int:
    """Return the index of the device that launches go to."""
    return _current_device().index


def set_device(device: Any) -> None:
    """Make a device the current one, where launches and new arrays go.

    Args:
        device: an index or a device string.

    Raises:
        UnknownDeviceError: there is no such device.
    """
    _set_device(read_device(device))


@contextmanager
def device(device: Any) -> Iterator[None]:
    """Make a device the current one within the `with` block.

    Args:
        device: an index or a device string.

    Yields:
        Nothing.

    Raises:
        UnknownDeviceError: there is no such device.

    Example:
        >>> with device(0):
        ...     current_device()
        0
    """
    with using_device(read_device(device)):
        yield


def get_device_name(device: Any = None) -> str:
    """Return the name of the modelled GPU, for example "Tesla T4".

    Args:
        device: None for the current one, an index, or a device string.

    Raises:
        UnknownDeviceError: there is no such device.
    """
    return get_device_properties(device).name


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Return what the modelled GPU has.

    Args:
        device: None for the current one, an index, or a device string.

    Raises:
        UnknownDeviceError: there is no such device.

    Example:
        >>> found = get_device_properties(0)
        >>> found.name, found.warp_size, found.multi_processor_count
        ('Tesla T4', 32, 40)
    """
    spec = read_device(device).spec
    major, minor = spec.compute_capability
    return DeviceProperties(
        name=spec.name,
        major=major,
        minor=minor,
        total_memory=spec.memory_bytes,
        multi_processor_count=spec.num_sms,
        warp_size=spec.warp_size,
        max_threads_per_multi_processor=spec.max_threads_per_sm,
        regs_per_multiprocessor=spec.registers_per_sm,
        shared_memory_per_block=spec.shared_bytes_per_block,
        shared_memory_per_multiprocessor=spec.shared_bytes_per_sm,
        L2_cache_size=spec.l2_bytes,
        spec=spec,
    )


def gpu_names() -> tuple[str, ...]:
    """Return the names that `install(gpu=...)` knows.

    Example:
        >>> "t4" in gpu_names()
        True
    """
    return tuple(PRESETS)


def synchronize(device: Any = None) -> None:
    """Wait until a device has done everything; costs modelled host time.

    Args:
        device: None for the current one, an index, or a device string.

    Raises:
        UnknownDeviceError: there is no such device.
    """
    read_device(device).synchronize()


def read_device(device: Any = None) -> Device:
    """Return the simulated GPU that an index or a device string names.

    Args:
        device: None for the current one, an index, or a device string.

    Raises:
        UnknownDeviceError: there is no such device, or it is the CPU.
    """
    found = find_device("simgpu" if device is None else device)
    if found is None:
        raise UnknownDeviceError(
            "the CPU is no simulated GPU",
            where=f"device={device!r}",
            why="the device module tells of modelled GPUs only",
            fix='leave device out, or name one: "simgpu:0"',
        )
    return found
