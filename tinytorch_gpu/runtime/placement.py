"""Which device an array lies on, and whether that is where it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import DeviceMismatchError
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime.device import Device, current_device, find_device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.trace import KernelSource

__all__ = ["check_is_here", "check_no_host_array", "common_device", "device_of"]


def device_of(array: DeviceArray) -> Device:
    """Return the device whose memory an array lies in.

    Raises:
        UnknownDeviceError: the device was taken away.

    Example:
        >>> from tinytorch_gpu import cuda
        >>> device_of(cuda.device_array(3)) is current_device()
        True
    """
    return find_device(array.device) or current_device()  # it is never the CPU


def check_is_here(kernel: KernelSource, name: str, array: DeviceArray) -> DeviceArray:
    """Return an argument; refuse one on another device than the launch goes to.

    Args:
        kernel: the kernel's name and place.
        name: the parameter.
        array: the argument.

    Raises:
        DeviceMismatchError: it lies on another device.
    """
    here = current_device().name
    if array.device == here:
        return array
    raise DeviceMismatchError(
        f"argument `{name}` of {kernel.name} lies on {array.device}, "
        f"the launch goes to {here}",
        where=str(kernel),
        why="a kernel reads the memory of its own device, and the current one is "
        f"{here}",
        fix=f"launch there: with simgpu.device({array.device[7:]}): ..., or copy it\n"
        f"into an array of {here}: here.copy_to_device({name})",
        devices=(array.device, here),
        argument=name,
    )


def check_no_host_array(
    name: str, there: Sequence[DeviceArray], host: Sequence[tuple[int, ...]]
) -> None:
    """Refuse host arrays as operands of what runs on a device.

    Args:
        name: the op, or whose code it is.
        there: the operands on a device.
        host: the shapes of those in host memory.

    Raises:
        DeviceMismatchError: there are such.

    Example:
        >>> from tinytorch_gpu import cuda
        >>> check_no_host_array("f", [cuda.device_array(3)], [])
    """
    if not host:
        return
    places = (f"{array.device} {array.shape}" for array in there)
    device = there[0].device if there else current_device().name
    said = "on different devices" if there else "in host memory only"
    raise DeviceMismatchError(
        f"`{name}` got operands {said}",
        where=f"{name}: {', '.join((*places, *(f'cpu {shape}' for shape in host)))}",
        why="a kernel reads device memory only; a copy costs time and stays visible",
        fix=f'move the host operand first: y = y.to("{device}")',
        op=name,
        shapes=tuple(host),
    )


def common_device(op: str, operands: tuple[Any, ...]) -> Device:
    """Return the device that an op runs on: where its operands lie.

    Args:
        op: the op's qualified name.
        operands: device arrays, lists and tuples of them, and anything else.

    Raises:
        DeviceMismatchError: they lie on different devices.

    Example:
        >>> common_device("tinytorch::fill", (1, 2)) is current_device()
        True
    """
    arrays = _arrays(operands)
    names = {array.device for array in arrays}
    if len(names) > 1:
        raise DeviceMismatchError(
            f"`{op}` got operands on different devices",
            where=f"{op}: " + ", ".join(f"{a.device} {a.shape}" for a in arrays),
            why="a kernel reads only the memory of its own device",
            fix=f'move them to one device first: y = y.to("{arrays[0].device}")',
            op=op,
            devices=tuple(sorted(names)),
        )
    return device_of(arrays[0]) if arrays else current_device()


def _arrays(values: Any) -> list[DeviceArray]:
    """Return the device arrays among values, and among lists and tuples of them."""
    found: list[DeviceArray] = []
    for value in values:
        if isinstance(value, DeviceArray):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _arrays(value)
    return found
