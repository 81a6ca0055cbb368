"""Global memory: a device array as a kernel sees it.

Lanes gather from and scatter into the allocation's storage by element index. The
journal keeps an allocation's bytes before its first write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.executor.kernel_array import KernelArray
from tinytorch_gpu.memory import elements_of

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.memory import DeviceArray, DeviceBuffer

__all__ = ["GlobalArray", "global_array", "scatter"]


class GlobalArray(KernelArray):
    """A device array inside a kernel.

    Args:
        buffer: the allocation, for its address and the journal.
        storage, offset, shape, steps: as in `KernelArray`.
    """

    space = "global"

    def __init__(self, buffer: DeviceBuffer, *layout: Any) -> None:
        super().__init__(*layout)
        self.buffer = buffer
        self.address = buffer.address

    def fetch(self, flat: Any) -> Any:
        """Return the elements at flat indices."""
        if np.ndim(flat) == 0:
            return self.storage[flat]
        return self.storage.take(flat, mode="clip")

    def fetch_at(self, uniform: Any, lanes: Any) -> Any:
        """Return the elements at `uniform + lanes`, without a sum for each lane."""
        can_shift = 0 <= uniform < len(self.storage) and min(self.steps, default=0) >= 0
        if not can_shift or np.ndim(lanes) == 0:
            return self.fetch(uniform + lanes)
        return self.storage[uniform:].take(lanes, mode="clip")

    def put(self, batch: Batch, mask: Mask, flat: Any, value: Any) -> None:
        """Write the active lanes' values."""
        self.will_change(batch)
        scatter(self.storage, mask, flat, value)

    def fill(self, batch: Batch, mask: Mask, stretch: Any, value: Any) -> None:
        """Write the active lanes' values to a stretch, one element for each lane.

        Args:
            batch: the lanes.
            mask: the active ones.
            stretch: the storage's own elements, (blocks, threads).
            value: broadcastable to that, already of the storage's dtype.
        """
        self.will_change(batch)
        is_whole = mask.count == stretch.size
        np.copyto(stretch, value, where=True if is_whole else mask.full())

    def will_change(self, batch: Batch) -> None:
        """Let the journal keep the allocation's bytes."""
        if batch.journal is not None:
            batch.journal.will_write(self.buffer)


def scatter(storage: Any, mask: Mask, flat: Any, value: Any) -> None:
    """Write values at flat indices for the active lanes, in lane order.

    Args:
        storage: elements, (n,).
        mask: the active lanes.
        flat: int64, broadcastable to (blocks, threads).
        value: broadcastable to (blocks, threads), already of the storage's dtype.
    """
    if np.ndim(flat) == 0:  # every lane writes one element: the highest lane wins
        flat = np.full((1, 1), flat)
    if mask.count == mask.shape[0] * mask.shape[1]:
        _assign(storage, flat, value)
        return
    lanes: Any = mask.full() if mask.lanes is None else mask.lanes
    if len(lanes) == 1:  # the same threads of every block: pick columns
        threads = np.flatnonzero(np.broadcast_to(lanes, (1, mask.shape[1])))
        _assign(storage, _columns(flat, threads), _columns(value, threads))
        return
    shape = np.broadcast_shapes(np.shape(flat), np.shape(value), lanes.shape)
    active = np.broadcast_to(lanes, shape)
    storage[np.broadcast_to(flat, shape)[active]] = np.broadcast_to(value, shape)[
        active
    ]


def _assign(storage: Any, flat: Any, value: Any) -> None:
    """Write values in lane order; nearly always both have one shape already."""
    if np.ndim(value) and value.shape != flat.shape:
        shape = np.broadcast_shapes(flat.shape, value.shape)
        flat, value = np.broadcast_to(flat, shape), np.broadcast_to(value, shape)
    # One axis: of several, NumPy goes through them in an order of its own.
    storage[flat.ravel()] = value.ravel() if np.ndim(value) else value


def _columns(value: Any, threads: Any) -> Any:
    """Pick the threads of a value; what is the same for all threads stays as it is."""
    if np.ndim(value) == 0:
        return np.reshape(value, (1, 1))
    return value if value.shape[1] == 1 else value[:, threads]


def global_array(array: DeviceArray) -> GlobalArray:
    """Return the kernel's view of a device array: storage, offset, strides."""
    elements = elements_of(array)
    storage = array.buffer.elements(array.dtype)
    itemsize = array.itemsize
    offset = array.buffer.offset_of(elements) // itemsize
    steps = tuple(stride // itemsize for stride in elements.strides)
    return GlobalArray(array.buffer, storage, np.int64(offset), array.shape, steps)
