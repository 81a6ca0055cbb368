"""What a record keeps of an op's operands: where an array lies, not the array."""

from __future__ import annotations

from typing import Any

from tinytorch_gpu.library.results import parts_of
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.trace import ArrayUse

__all__ = ["array_uses", "use_of"]


def use_of(value: Any) -> Any:
    """Return the use of an array; what is none stays itself.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu import cuda
        >>> use = use_of(cuda.device_array((2, 3), np.float32))
        >>> use.shape, use.strides, use.dtype
        ((2, 3), (12, 4), 'float32')
    """
    if isinstance(value, (list, tuple)):
        return tuple(use_of(part) for part in value)
    if not isinstance(value, DeviceArray):
        return value
    return ArrayUse(
        value.address,
        value.shape,
        value.strides,
        value.dtype.name,
        value.device,
        value.buffer.serial,
    )


def array_uses(result: Any) -> tuple[ArrayUse, ...]:
    """Return the uses of what an op gave: an array, several, or none."""
    return tuple(use_of(p) for p in parts_of(result) if isinstance(p, DeviceArray))
