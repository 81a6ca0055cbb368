"""Which GPUs there are, by numba.cuda's names: simulated, modelled on real ones.

Source: numba.cuda 0.30.4 (`gpus`, device selection, `detect`).
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cuda.device_attributes import CudaContext, CudaDevice
from tinytorch_gpu.errors import UnknownDeviceError
from tinytorch_gpu.runtime.device import all_devices, current_device, set_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "DeviceList",
    "close",
    "cuda_error",
    "current_context",
    "defer_cleanup",
    "detect",
    "get_current_device",
    "gpus",
    "is_available",
    "is_supported_version",
    "list_devices",
    "profile_start",
    "profile_stop",
    "profiling",
    "require_context",
    "select_device",
]


class DeviceList:
    """All devices; `simgpu.install(gpu=["t4", "a100"])` makes two.

    Example:
        >>> len(gpus), gpus[0].id, gpus.current.id
        (1, 0, 0)
        >>> with gpus[0]:
        ...     pass
    """

    @property
    def lst(self) -> list[CudaDevice]:
        """The devices as a list."""
        return [CudaDevice(device.index) for device in all_devices()]

    @property
    def current(self) -> CudaDevice:
        """The active device."""
        return CudaDevice(current_device().index)

    def __getitem__(self, devnum: Any) -> Any:
        """Return a device by number.

        Raises:
            IndexError: there is none of that number.
        """
        return self.lst[devnum]

    def __iter__(self) -> Iterator[CudaDevice]:
        """Go through the devices."""
        return iter(self.lst)

    def __len__(self) -> int:
        """Return the number of devices."""
        return len(self.lst)

    def __str__(self) -> str:
        """List the devices."""
        return ", ".join(map(str, self.lst))


gpus = DeviceList()


def list_devices() -> DeviceList:
    """Return all devices."""
    return gpus


def get_current_device() -> CudaDevice:
    """Return the active device.

    Example:
        >>> get_current_device().MULTIPROCESSOR_COUNT     # of the T4
        40
    """
    return gpus.current


def current_context(devnum: int | None = None) -> CudaContext:
    """Return the context of a device, the active one unless its number is given.

    Raises:
        UnknownDeviceError: no device has that number.
    """
    device = gpus.current if devnum is None else _numbered(devnum, "current_context")
    return device.get_primary_context()


def select_device(device_id: int) -> CudaDevice:
    """Make a device the active one, and return it.

    Args:
        device_id: its number.

    Raises:
        UnknownDeviceError: no device has that number.

    Example:
        >>> select_device(0).name
        'Tesla T4'
    """
    device = _numbered(device_id, "select_device")
    set_device(device.modelled)
    return device


def _numbered(device_id: int, asked: str) -> CudaDevice:
    for device in gpus:
        if device.id == device_id:
            return device
    raise UnknownDeviceError(
        f"no device has the number {device_id!r}",
        where=f"cuda.{asked}({device_id!r})",
        why=f"devices are simulated with numbers 0 to {len(gpus) - 1}",
        fix='for more of them: simgpu.install(gpu=["t4", "a100"])',
        device=device_id,
    )


def is_available() -> bool:
    """Tell whether kernels can be launched: always, since the device is simulated."""
    return True


def is_supported_version() -> bool:
    """Tell whether the CUDA runtime is supported: there is none to disagree with."""
    return True


def cuda_error() -> None:
    """Return what went wrong at the start of the driver: nothing."""


def detect() -> bool:
    """Print the devices; return whether there is one.

    Example:
        >>> detect()
        Found 1 CUDA devices
        id 0             Tesla T4      [SIMULATED, compute capability 7.5]
        Summary:
            1/1 devices are supported
        True
    """
    lines = [f"Found {len(gpus)} CUDA devices"]
    for device in gpus:
        major, minor = device.compute_capability
        told = f"[SIMULATED, compute capability {major}.{minor}]"
        lines.append(f"id {device.id} {device.name:>20} {told:>40}")
    lines += ["Summary:", f"    {len(gpus)}/{len(gpus)} devices are supported"]
    sys.stdout.write("\n".join([*lines, ""]))
    return True


def close() -> None:
    """Free the memory of all devices, whichever arrays lie in it.

    On hardware it destroys the contexts. Any use of such an array afterwards raises
    `UseAfterFreeError`.
    """
    for device in all_devices():
        device.allocator.free_all("cuda.close()")


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """Keep memory from being freed in the `with` block: freeing never stalls here.

    Yields:
        Nothing.
    """
    yield


def profile_start() -> None:
    """Do nothing: it steers NVIDIA's profilers; see `tinytorch_gpu.profiler`."""


def profile_stop() -> None:
    """Do nothing, as `profile_start`."""


@contextmanager
def profiling() -> Iterator[None]:
    """Steer NVIDIA's profilers, hence do nothing, as `profile_start`.

    Yields:
        Nothing.
    """
    yield


def require_context(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Make sure that a device is active when the function is called: one always is."""
    return fn
