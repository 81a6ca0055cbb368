"""Arguments of a fused function: which arrays, Tensors and numbers are in.

Lists, tuples and dicts are taken apart into leaves with names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.trace import ArrayUse

__all__ = ["Leaf", "leaves", "lies_in"]


@dataclass(frozen=True)
class Leaf:
    """One thing in the arguments or results.

    Args:
        name: for example `x`, or `params_2`.
        value: a device array, a Tensor, a number, or anything else.
    """

    name: str
    value: Any

    @property
    def array(self) -> DeviceArray | None:
        """The device array, of a Tensor its data; None if it is none."""
        if isinstance(self.value, DeviceArray):
            return self.value
        is_tensor = hasattr(self.value, "requires_grad")
        data = getattr(self.value, "data", None) if is_tensor else None
        return data if isinstance(data, DeviceArray) else None


def leaves(value: Any, name: str) -> Iterator[Leaf]:
    """Yield what is in a value, depth first.

    Example:
        >>> [leaf.name for leaf in leaves({"w": [1, 2]}, "p")]
        ['p_w_0', 'p_w_1']
    """
    if isinstance(value, (list, tuple)):
        for number, part in enumerate(value):
            yield from leaves(part, f"{name}_{number}")
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, f"{name}_{key}")
    else:
        yield Leaf(re.sub(r"\W", "_", name), value)


def lies_in(use: ArrayUse, base: DeviceArray) -> bool:
    """Tell whether a recorded array lies in the memory of an array.

    Args:
        use: the recorded array.
        base: the array that it may be a part of.
    """
    low = base.buffer.address
    inside = low <= use.address < low + base.buffer.nbytes
    return inside and use.serial == base.buffer.serial
