"""Dispatch keys: who may serve an op, in the order they are asked.

TinyTorch's autograd stands before all of these: it records the graph and calls the op.
"""

from __future__ import annotations

from enum import Enum

__all__ = ["DispatchKey", "device_key"]


class DispatchKey(Enum):
    """What serves an op.

    `SIMGPU` is a registered kernel. `DECOMPOSE` is the op's own NumPy code, which
    becomes further ops. `CPU` copies to the host and back; off unless allowed.
    """

    SIMGPU = "SimGPU"
    DECOMPOSE = "Decompose"
    CPU = "CPU"


def device_key(device: str) -> DispatchKey:
    """Return the key that a device type in a registration stands for.

    Raises:
        ValueError: kernels are registered for `"simgpu"` only.

    Example:
        >>> device_key("simgpu")
        <DispatchKey.SIMGPU: 'SimGPU'>
    """
    if device == "simgpu":
        return DispatchKey.SIMGPU
    message = f"kernels are registered for 'simgpu', not for {device!r}"
    raise ValueError(message)
