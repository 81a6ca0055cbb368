"""Shared memory: one array for each block and call site, fresh and poisoned.

Limits: contents of a fresh array are NaN or the largest integer; hardware leaves what
the last block wrote there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype, poison_value
from tinytorch_gpu.errors import SharedMemoryLimitError
from tinytorch_gpu.executor.global_memory import scatter
from tinytorch_gpu.executor.indexing import KernelArray

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["SharedArray", "shared_array", "shared_bytes"]


class SharedArray(KernelArray):
    """A shared array inside a kernel; storage holds all blocks, one after another.

    Args:
        blocks: blocks of the batch.
        address: byte address within a block's shared memory.
        storage, offset, shape, steps: as in `KernelArray`, for one block.
    """

    space = "shared"

    def __init__(self, blocks: int, address: int, *layout: Any) -> None:
        super().__init__(*layout)
        self.blocks = blocks
        self.address = address

    @property
    def _block_starts(self) -> Any:
        """Where each block's elements begin, int64 (blocks, 1)."""
        size = len(self.storage) // self.blocks
        return np.arange(self.blocks, dtype=np.int64)[:, None] * size

    def row(self, offset: Any, axes: int) -> SharedArray:
        """Return the view that is left after the first `axes` axes are indexed."""
        layout = (self.storage, offset, self.lengths[axes:], self.steps[axes:])
        return SharedArray(self.blocks, self.address, *layout)

    def fetch(self, flat: Any) -> Any:
        """Return each block's own elements at flat indices within the block."""
        by_block = self.storage.reshape(self.blocks, -1)
        if np.ndim(flat) == 0:
            return by_block[:, int(flat), None].copy()  # later stores must not show
        if flat.shape[0] == 1:
            return by_block.take(flat[0], axis=1, mode="clip")
        size = by_block.shape[1]
        inside = np.clip(flat, 0, size - 1)  # inactive lanes stay in their block
        return self.storage.take(inside + self._block_starts)

    def put(self, batch: Batch, mask: Mask, flat: Any, value: Any) -> None:
        """Write the active lanes' values into their own blocks."""
        del batch
        scatter(self.storage, mask, flat + self._block_starts, value)


def shared_array(
    batch: Batch, site: Site, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> SharedArray:
    """Return the block's array of this call site, made at the first call.

    Args:
        batch: the blocks.
        site: the call site; each has one array.
        shape: compile-time lengths.
        dtype: element type.
    """
    if site not in batch.shared:
        blocks = batch.shape[0]
        size = int(np.prod(shape, dtype=np.int64))
        kind = check_dtype(dtype, "shared array")
        storage = np.full(blocks * size, poison_value(kind), kind)
        steps = tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape)))
        layout = (storage, np.int64(0), shape, steps)
        batch.shared[site] = SharedArray(blocks, batch.shared_bytes, *layout)
        batch.shared_bytes += size * kind.itemsize
    array: SharedArray = batch.shared[site]
    return array


def shared_bytes(
    arrays: list[tuple[tuple[int, ...], np.dtype[Any]]], limit: int
) -> int:
    """Return the static shared memory of a block, checked against the GPU's limit.

    Args:
        arrays: shape and dtype of each array.
        limit: bytes that one block may use.

    Raises:
        SharedMemoryLimitError: the block asks for more.

    Example:
        >>> shared_bytes([((16, 16), np.dtype("float32"))] * 2, limit=48 * 1024)
        2048
    """
    total = sum(int(np.prod(shape)) * dtype.itemsize for shape, dtype in arrays)
    if total <= limit:
        return total
    raise SharedMemoryLimitError(
        f"a block asks for {total} bytes of shared memory",
        where="cuda.shared.array in the kernel",
        why=f"this GPU gives a block {limit} bytes",
        fix="use smaller tiles, or a smaller dtype",
        requested_bytes=total,
        limit_bytes=limit,
    )
