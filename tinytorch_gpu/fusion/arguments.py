"""Arguments and results of a fused function: which arrays, Tensors and numbers are in.

Lists, tuples and dicts are taken apart into leaves with names; a result is put together
again from what the kernel wrote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.memory import DeviceArray, elements_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinytorch_gpu.trace import ArrayUse

__all__ = ["Leaf", "View", "array_of", "leaves", "rebuilt", "snapshot", "view_of"]


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
        return array_of(self.value)

    @property
    def is_tensor(self) -> bool:
        """Tell whether it is a Tensor on a device."""
        return self.array is not None and not isinstance(self.value, DeviceArray)

    @property
    def is_number(self) -> bool:
        """Tell whether it is an int or a float, and no bool."""
        kinds = (int, float, np.floating, np.integer)
        return isinstance(self.value, kinds) and not isinstance(self.value, bool)


def array_of(value: Any) -> DeviceArray | None:
    """Return the device array that something is, or holds as its data."""
    if isinstance(value, DeviceArray):
        return value
    data = getattr(value, "data", None) if hasattr(value, "requires_grad") else None
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


def rebuilt(value: Any, replace: Callable[[Any], Any]) -> Any:
    """Return a value of the same form with every leaf replaced.

    Example:
        >>> rebuilt([1, (2, 3)], lambda n: -n)
        [-1, (-2, -3)]
    """
    if isinstance(value, (list, tuple)):
        parts = [rebuilt(part, replace) for part in value]
        if hasattr(value, "_fields"):  # a named tuple
            return type(value)(*parts)
        return type(value)(parts)
    if isinstance(value, dict):
        return {key: rebuilt(part, replace) for key, part in value.items()}
    return replace(value)


@dataclass(frozen=True)
class View:
    """An array as a part of another one.

    Args:
        offset: bytes from the other's first element to its own.
        shape: its lengths.
        strides: its strides in bytes.
        is_whole: it is the other array itself.
    """

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_whole: bool

    def of(self, base: DeviceArray) -> DeviceArray:
        """Return the view of another array with the same layout.

        Args:
            base: the array.
        """
        if self.is_whole:
            return base
        raw = base.buffer.elements(base.dtype)
        first = (base.address - base.buffer.address + self.offset) // base.itemsize
        part = np.lib.stride_tricks.as_strided(raw[first:], self.shape, self.strides)
        return DeviceArray(base.buffer, part, base.device)


def view_of(use: ArrayUse, base: DeviceArray) -> View | None:
    """Describe a recorded array as a view of an array, or return None.

    Args:
        use: the recorded array.
        base: the array that it may be a part of.
    """
    low = base.buffer.address
    inside = low <= use.address < low + base.buffer.nbytes
    if not inside or use.dtype != base.dtype.name:
        return None
    same = (base.address, base.shape, base.strides)
    is_whole = (use.address, use.shape, use.strides) == same
    return View(use.address - base.address, use.shape, use.strides, is_whole)


def snapshot(arrays: list[DeviceArray]) -> Callable[[], None]:
    """Keep what arrays hold; call the result to put it back.

    Args:
        arrays: device arrays. No copy is recorded: this stands beside the program.
    """
    kept = [(array, elements_of(array).copy()) for array in arrays]

    def restore() -> None:
        for array, values in kept:
            elements_of(array)[...] = values

    return restore
