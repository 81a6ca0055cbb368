"""`Part`: an array without its memory, for what may have to be done later."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.memory import DeviceBuffer

__all__ = ["Part", "arrays_in"]


class Part(NamedTuple):
    """An array that does not keep its memory alive.

    Args:
        buffer: the allocation, as long as anybody holds it.
        serial: of the allocation.
        nbytes: of the allocation.
        offset: bytes from its start to the first element.
        shape, strides, dtype, device: of the array.
    """

    buffer: weakref.ReferenceType[DeviceBuffer]
    serial: int
    nbytes: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    device: str

    @classmethod
    def of(cls, array: DeviceArray) -> Part:
        """Return what remains of an array without its memory.

        Args:
            array: the array.
        """
        buffer = array.buffer
        return cls(
            weakref.ref(buffer),
            buffer.serial,
            buffer.nbytes,
            array.address - buffer.address,
            array.shape,
            array.strides,
            array.dtype,
            array.device,
        )

    def in_memory(self, buffer: DeviceBuffer) -> DeviceArray:
        """Return the array in an allocation.

        Args:
            buffer: its own, or one as large.
        """
        raw = buffer.elements(np.dtype(np.uint8))
        found: npt.NDArray[Any] = np.ndarray(
            self.shape, self.dtype, raw, self.offset, self.strides
        )
        return DeviceArray(buffer, found, self.device)

    @property
    def is_alive(self) -> bool:
        """Whether anybody holds the memory."""
        return self.buffer() is not None


def arrays_in(values: Any) -> Iterator[DeviceArray]:
    """Yield the device arrays in lists, tuples and dicts.

    Args:
        values: an array, or what holds some.
    """
    if isinstance(values, DeviceArray):
        yield values
    elif isinstance(values, dict):
        yield from arrays_in(tuple(values.values()))
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from arrays_in(value)
