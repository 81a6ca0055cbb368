"""Devices: simulated GPUs, each with its memory, its clock and its launch counts.

`current_device()` is where launches and copies go; `using_device` makes another one
current. `use_gpus` says which GPUs there are, `use_gpu` changes the model of one.
`find_device` reads a device as PyTorch does: `"cpu"`, `"simgpu"`, `"simgpu:1"`, 1.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import GpuCountRules
from tinytorch_gpu.errors import OutOfMemoryError, UnknownDeviceError
from tinytorch_gpu.memory import Allocator
from tinytorch_gpu.memory.hooks import hooks
from tinytorch_gpu.runtime.order import WorkOrder
from tinytorch_gpu.runtime.timeline import Timeline
from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost import KernelTime
    from tinytorch_gpu.executor.engine import LaneProgram
    from tinytorch_gpu.trace import LaunchCounts

    Counted = tuple[LaunchCounts, KernelTime]

__all__ = [
    "Device",
    "all_devices",
    "current_device",
    "find_device",
    "set_device",
    "use_gpu",
    "use_gpus",
    "using_device",
]

# The devices of a process share one address space (unified addressing): 1 TiB each.
ADDRESSES_EACH = 2**40
FIRST_ADDRESS = 2 * 2**20


class Device:
    """One simulated GPU.

    Args:
        spec: the GPU that is modelled.
        index: number of the device; its name is `simgpu:<index>`.
    """

    # Simplified: each device keeps its own clock of the host, as if the host worked for
    # it alone. With two devices the modelled time of one does not contain the time that
    # the host spent on the other.

    def __init__(self, spec: GpuSpec, index: int = 0) -> None:
        self.index = index
        self.name = f"simgpu:{index}"
        base = index * ADDRESSES_EACH + FIRST_ADDRESS
        self.allocator = Allocator(spec.memory_bytes, self.name, base)
        self.allocator.on_driver_call = self._driver_call
        self.order = WorkOrder()
        self.timeline = Timeline(spec, self.order)
        self.model(spec)

    def synchronize(self) -> None:
        """Let the host wait until the device has done all its work."""
        hooks.look()
        self.timeline.synchronize()

    def check_room(self, spec: GpuSpec) -> None:
        """Check that the live arrays would fit into that GPU.

        Raises:
            OutOfMemoryError: they do not.
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

    def model(self, spec: GpuSpec) -> None:
        """Model another GPU from now on: new clock, no counts to replay.

        Raises:
            OutOfMemoryError: the live arrays do not fit into that GPU's memory.
        """
        self.check_room(spec)
        self.spec = spec
        self.allocator.set_capacity(spec.memory_bytes)
        listeners = self.timeline.listeners  # profiles go on listening
        self.timeline = Timeline(spec, self.order)
        self.timeline.listeners = listeners
        self.rules = GpuCountRules(spec)
        self.replays: WeakKeyDictionary[LaneProgram, dict[Any, Counted]] = (
            WeakKeyDictionary()
        )

    def _driver_call(self, name: str) -> None:
        """Let a cudaMalloc or cudaFree take its time; cudaFree waits for the device."""
        spec = self.timeline.spec
        if name == "cudaFree":
            self.synchronize()
        cost = spec.free_ns if name == "cudaFree" else spec.malloc_ns
        self.timeline.add_host(cost, name)


class _Machine:
    """The devices of this process, and which one is current."""

    # Simplified: CUDA keeps a current device for each host thread, here all share one.

    def __init__(self) -> None:
        self.devices = [Device(find_gpu("t4"))]
        self.current = self.devices[0]


_machine = _Machine()


def all_devices() -> tuple[Device, ...]:
    """Return the devices by number.

    Example:
        >>> [device.name for device in all_devices()]
        ['simgpu:0']
    """
    return tuple(_machine.devices)


def current_device() -> Device:
    """Return the device that launches and copies go to.

    Example:
        >>> current_device().name
        'simgpu:0'
    """
    return _machine.current


def set_device(device: Device) -> None:
    """Make a device the current one."""
    _machine.current = device


@contextmanager
def using_device(device: Device) -> Iterator[Device]:
    """Make a device the current one within the `with` block.

    Args:
        device: the device.

    Yields:
        The device.
    """
    before = current_device()
    set_device(device)
    try:
        yield device
    finally:
        set_device(before if before in _machine.devices else _machine.devices[0])


def use_gpu(gpu: str | GpuSpec) -> Device:
    """Model this GPU on the current device from now on.

    Args:
        gpu: a preset's name or a spec.

    Returns:
        The device.

    Raises:
        GPUNotFoundError: no preset has that name.
        GpuSpecError: a number of the spec is none that a model can compute with.
        OutOfMemoryError: the live arrays do not fit into its memory.
    """
    spec = find_gpu(gpu)
    device = current_device()
    if spec != device.spec:
        device.model(spec)
    return device


def use_gpus(gpus: Sequence[str | GpuSpec]) -> tuple[Device, ...]:
    """Have one device for each of these GPUs; the first is current.

    Devices that were there before keep their arrays, as far as there are as many GPUs;
    memory of the others is freed.

    Args:
        gpus: presets' names or specs, at least one.

    Returns:
        The devices by number.

    Raises:
        GPUNotFoundError: no preset has one of the names.
        GpuSpecError: a number of a spec is none that a model can compute with.
        OutOfMemoryError: the live arrays do not fit into a device's new memory.
        UnknownDeviceError: there is none.

    Example:
        >>> [device.spec.name for device in use_gpus(["t4", "toy"])]
        ['Tesla T4', 'toy GPU']
        >>> device = use_gpus(["t4"])
    """
    # What is no list is no GPU either, and is told as an unknown name.
    named: Any = gpus if isinstance(gpus, (list, tuple)) else [gpus]
    specs = [find_gpu(gpu) for gpu in named]
    if not specs:
        raise _no_gpu()
    kept = _machine.devices[: len(specs)]
    changes = [(d, s) for d, s in zip(kept, specs, strict=False) if d.spec != s]
    for device, spec in changes:
        device.check_room(spec)
    for device, spec in changes:
        device.model(spec)
    for device in _machine.devices[len(specs) :]:
        device.allocator.free_all("choosing fewer GPUs")
    added = [Device(specs[i], i) for i in range(len(kept), len(specs))]
    _machine.devices = kept + added
    set_device(kept[0])
    return all_devices()


def find_device(device: object) -> Device | None:
    """Return the device of that name or number; None stands for the CPU.

    Args:
        device: `"cpu"`, `"simgpu"` (the current device), `"simgpu:0"`, or 0.

    Raises:
        UnknownDeviceError: there is no such device.

    Example:
        >>> find_device("simgpu").name, find_device(0).name, find_device("cpu")
        ('simgpu:0', 'simgpu:0', None)
    """
    if device == "cpu":
        return None
    if device == "simgpu":
        return current_device()
    for one in _machine.devices:
        is_number = isinstance(device, int) and not isinstance(device, bool)
        if device == one.name or (is_number and device == one.index):
            return one
    names = ", ".join(one.name for one in _machine.devices)
    raise UnknownDeviceError(
        f"no device is named {device!r}",
        where=f"device={device!r}",
        why=f"devices: cpu, simgpu (the current one), {names}",
        fix='write .to("simgpu") or .to("cpu"); for more devices\n'
        'simgpu.install(gpu=["t4", "a100"])',
        device=device,
    )


def _no_gpu() -> UnknownDeviceError:
    return UnknownDeviceError(
        "a machine without GPUs",
        where="install(gpu=[])",
        why="there is at least one device: kernels run on it",
        fix='name at least one GPU: install(gpu=["t4"])',
    )
