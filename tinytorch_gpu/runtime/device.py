"""Devices: one simulated GPU with its memory, its clock and its launch counts.

`current_device()` is where launches and copies go. `use_gpu` changes which GPU is
modelled. `find_device` reads a device string as PyTorch does: `"cpu"`, `"simgpu"`,
`"simgpu:0"`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import GpuCountRules
from tinytorch_gpu.errors import OutOfMemoryError, UnknownDeviceError
from tinytorch_gpu.memory import Allocator
from tinytorch_gpu.runtime.order import WorkOrder
from tinytorch_gpu.runtime.timeline import Timeline
from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost import KernelTime
    from tinytorch_gpu.executor.engine import LaneProgram
    from tinytorch_gpu.trace import LaunchCounts

    Counted = tuple[LaunchCounts, KernelTime]

__all__ = ["Device", "current_device", "find_device", "use_gpu"]


class Device:
    """One simulated GPU.

    Args:
        spec: the GPU that is modelled.
        index: number of the device; its name is `simgpu:<index>`.
    """

    def __init__(self, spec: GpuSpec, index: int = 0) -> None:
        self.name = f"simgpu:{index}"
        self.allocator = Allocator(spec.memory_bytes, self.name)
        self.timeline = Timeline(spec)
        self.order = WorkOrder()
        self.model(spec)

    def synchronize(self) -> None:
        """Let the host wait until the device has done all its work."""
        self.timeline.synchronize()
        self.order.synchronize()

    def model(self, spec: GpuSpec) -> None:
        """Model another GPU from now on: new clock, no counts to replay.

        Raises:
            OutOfMemoryError: the live arrays do not fit into that GPU's memory.
        """
        allocated = self.allocator.allocated_bytes
        if allocated > spec.memory_bytes:
            raise OutOfMemoryError(
                f"the live arrays do not fit into a {spec.name}",
                where=f"choosing the GPU of {self.name}",
                why=f"{format_bytes(allocated)} are allocated, it has "
                f"{format_bytes(spec.memory_bytes)}",
                fix="free arrays first (del x), or choose a larger GPU",
                allocated_bytes=allocated,
            )
        self.spec = spec
        self.allocator.capacity_bytes = spec.memory_bytes
        listeners = self.timeline.listeners  # profiles go on listening
        self.timeline = Timeline(spec)
        self.timeline.listeners = listeners
        self.rules = GpuCountRules(spec)
        self.replays: WeakKeyDictionary[LaneProgram, dict[Any, Counted]] = (
            WeakKeyDictionary()
        )


_devices = [Device(find_gpu("t4"))]


def current_device() -> Device:
    """Return the device that launches and copies go to.

    Example:
        >>> current_device().name
        'simgpu:0'
    """
    return _devices[0]


def use_gpu(gpu: str | GpuSpec) -> Device:
    """Model this GPU on the current device from now on.

    Args:
        gpu: a preset's name or a spec.

    Returns:
        The device.

    Raises:
        GPUNotFoundError: no preset has that name.
        OutOfMemoryError: the live arrays do not fit into its memory.
    """
    spec = find_gpu(gpu)
    device = current_device()
    if spec != device.spec:
        device.model(spec)
    return device


def find_device(name: object) -> Device | None:
    """Return the device of that name; None stands for the CPU.

    Args:
        name: `"cpu"`, `"simgpu"` or `"simgpu:0"`.

    Raises:
        UnknownDeviceError: no device has that name.

    Example:
        >>> find_device("simgpu").name, find_device("cpu")
        ('simgpu:0', None)
    """
    by_name = {d.name: d for d in _devices}
    text = "simgpu:0" if name == "simgpu" else name
    if text == "cpu":
        return None
    if isinstance(text, str) and text in by_name:
        return by_name[text]
    raise UnknownDeviceError(
        f"no device is named {name!r}",
        where=f"device={name!r}",
        why="devices: cpu, simgpu (the same as simgpu:0)",
        fix='write .to("simgpu") or .to("cpu")',
        device=name,
    )
