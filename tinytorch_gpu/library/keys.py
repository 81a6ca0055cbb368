"""Dispatch keys: who may serve an op, in the order they are asked.

TinyTorch's autograd stands before all of these: it records the graph and calls the op.
"""

from __future__ import annotations

from enum import Enum

__all__ = ["ORDER", "DispatchKey", "device_key"]


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


def device_key(device: str | None) -> DispatchKey:
    """Return the key that a device type, or a key's name, stands for.

    Args:
        device: `"simgpu"` or `"cpu"`; `"default"` or None for code that runs on any
            device because it calls further ops; or a key by name, as `"Autograd"`.

    Raises:
        ValueError: it names none.

    Example:
        >>> device_key("simgpu"), device_key("CompositeImplicitAutograd")
        (<DispatchKey.SIMGPU: 'SimGPU'>, <DispatchKey.DECOMPOSE: 'Decompose'>)
    """
    key = _NAMES.get("default" if device is None else device)
    if key is not None:
        return key
    message = (
        f"kernels are registered for 'simgpu', 'cpu', 'default', or for one of the "
        f"keys {', '.join(k.value for k in ORDER)}; not for {device!r}"
    )
    raise ValueError(message)
