"""Dispatch keys: who may serve an op, in the order they are asked.

TinyTorch's autograd stands before all of these: it records the graph and calls the op.
"""

from __future__ import annotations

from enum import Enum

from tinytorch_gpu.errors import UnknownDeviceError

__all__ = ["ORDER", "DispatchKey", "device_key", "device_keys"]


class DispatchKey(Enum):
    """What serves an op, or what it passes.

    `AUTOGRAD` lets a function in before all others. `PROFILER` labels what runs, and
    records the op. `SIMGPU` is a registered kernel. `DECOMPOSE` is code of further
    ops: a registered function, or the op's own NumPy code. `CPU` copies to the host and
    back; off unless allowed.
    """

    AUTOGRAD = "Autograd"
    PROFILER = "Profiler"
    SIMGPU = "SimGPU"
    DECOMPOSE = "Decompose"
    CPU = "CPU"


ORDER = tuple(DispatchKey)

# torch.library takes device types, and for experts the names of keys.
_NAMES = {
    "simgpu": DispatchKey.SIMGPU,
    "cpu": DispatchKey.CPU,
    "default": DispatchKey.DECOMPOSE,
    "CompositeExplicitAutograd": DispatchKey.DECOMPOSE,
    "CompositeImplicitAutograd": DispatchKey.DECOMPOSE,
    **{key.value: key for key in DispatchKey},
}


def device_key(device: str | DispatchKey | None) -> DispatchKey:
    """Return the key that a device type, or a key's name, stands for.

    Args:
        device: `"simgpu"` or `"cpu"`; `"default"` or None for code that runs on any
            device because it calls further ops; or a key, as `"Autograd"`.

    Raises:
        UnknownDeviceError: it names none.

    Example:
        >>> device_key("simgpu"), device_key("CompositeImplicitAutograd")
        (<DispatchKey.SIMGPU: 'SimGPU'>, <DispatchKey.DECOMPOSE: 'Decompose'>)
    """
    if isinstance(device, DispatchKey):
        return device
    name = "default" if device is None else device
    if isinstance(name, str) and name in _NAMES:
        return _NAMES[name]
    raise UnknownDeviceError(
        f"{device!r} is no device type and no dispatch key",
        where="registering a function: library.impl, override, Library, ...",
        why="functions are registered for the device types simgpu, cpu and default,\n"
        f"or at the keys {', '.join(key.value for key in ORDER)}",
        fix='for a kernel: library.impl("mine::op", "simgpu", function)',
        device=device,
    )


def device_keys(types: object) -> list[DispatchKey]:
    """Return the different keys of one device type, or of a list of them.

    Args:
        types: what `device_key` takes, or a tuple or list of it.

    Raises:
        UnknownDeviceError: one of them names none, or there are none.

    Example:
        >>> [key.value for key in device_keys(("simgpu", "cpu", "SimGPU"))]
        ['SimGPU', 'CPU']
    """
    names = types if isinstance(types, (tuple, list)) and types else (types,)
    return list(dict.fromkeys(map(device_key, names)))
