"""Shared memory: one array for each block and call site, fresh and poisoned.

An array of size 0 is the launch's dynamic shared memory: all such arrays of a block lie
over the same bytes, each as its own dtype.

Limits: contents of a fresh array are NaN or the largest integer; hardware leaves what
the last block wrote there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype, poison_value
from tinytorch_gpu.errors import KernelTypeError, SharedMemoryLimitError
from tinytorch_gpu.executor.global_memory import scatter
from tinytorch_gpu.executor.kernel_array import KernelArray, row_major

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["SharedArray", "shared_array", "shared_bytes"]

WIDEST = 8  # bytes of the largest element
DYNAMIC = "dynamic"  # key of the dynamic bytes among a batch's shared arrays
# Beyond every static array. Bank conflicts depend on differences of addresses alone.
DYNAMIC_ADDRESS = 1 << 20


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

    def cells(self, flat: Any) -> Any:
        """Return where in the storage each block's own elements lie, int64."""
        size = len(self.storage) // self.blocks
        return flat + np.arange(self.blocks, dtype=np.int64)[:, None] * size

    def fetch(self, flat: Any) -> Any:
        """Return each block's own elements at flat indices within the block."""
        by_block = self.storage.reshape(self.blocks, -1)
        if np.ndim(flat) == 0:
            return by_block[:, int(flat), None].copy()  # later stores must not show
        if flat.shape[0] == 1:
            return by_block.take(flat[0], axis=1, mode="clip")
        size = by_block.shape[1]
        inside = np.clip(flat, 0, size - 1)  # inactive lanes stay in their block
        return self.storage.take(self.cells(inside))

    def put(self, batch: Batch, mask: Mask, flat: Any, value: Any) -> None:
        """Write the active lanes' values into their own blocks."""
        del batch
        scatter(self.storage, mask, self.cells(flat), value)


def shared_array(
    batch: Batch, site: Site, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> SharedArray:
    """Return the block's array of this call site, made at the first call.

    Args:
        batch: the blocks.
        site: the call site; with the path of calls that led there it has one array.
        shape: compile-time lengths; (0,) is the dynamic shared memory.
        dtype: element type.

    Raises:
        DtypeError: shared memory does not hold this dtype.
        KernelTypeError: several axes, one of length 0.
    """
    key = (batch.call_path, site)
    if key not in batch.shared:
        kind = check_dtype(dtype, "shared array")
        if 0 in shape:
            batch.shared[key] = _dynamic(batch, shape, kind, site)
        else:
            batch.shared[key] = _static(batch, shape, kind)
    array: SharedArray = batch.shared[key]
    return array


def _static(batch: Batch, shape: tuple[int, ...], dtype: np.dtype[Any]) -> SharedArray:
    blocks, size = batch.shape[0], math.prod(shape)
    storage = np.full(blocks * size, poison_value(dtype), dtype)
    address = _aligned(batch.shared_bytes, dtype)
    batch.shared_bytes = address + size * dtype.itemsize
    layout = (storage, np.int64(0), shape, row_major(shape))
    return SharedArray(blocks, address, *layout)


def _dynamic(
    batch: Batch, shape: tuple[int, ...], dtype: np.dtype[Any], site: Site
) -> SharedArray:
    """Lay an array over the dynamic bytes; poison is that of the first one's dtype.

    Every array begins at the first byte, so none is misaligned.
    """
    if len(shape) > 1:
        raise KernelTypeError(
            f"`{site.expression}` has shape {shape}, and shared memory of size 0 is "
            "the dynamic one",
            where=str(site.line),
            why="dynamic shared memory has one axis; its length comes from the launch",
            fix="write cuda.shared.array(0, dtype), and index [i * width + j]",
        )
    if DYNAMIC not in batch.shared:
        words = -(-batch.dynamic_shared_bytes // WIDEST)
        bytes_of_all = batch.shape[0] * words * WIDEST
        fresh = np.full(bytes_of_all // dtype.itemsize, poison_value(dtype), dtype)
        batch.shared[DYNAMIC] = fresh.view(np.uint8)
    storage = batch.shared[DYNAMIC].view(dtype)
    length = batch.dynamic_shared_bytes // dtype.itemsize
    layout = (storage, np.int64(0), (length,), (1,))
    return SharedArray(batch.shape[0], DYNAMIC_ADDRESS, *layout)


def _aligned(address: int, dtype: np.dtype[Any]) -> int:
    """Return the next address at which an element of the dtype may lie."""
    return -(-address // dtype.itemsize) * dtype.itemsize


def shared_bytes(
    arrays: list[tuple[tuple[int, ...], np.dtype[Any]]], limit: int, dynamic: int = 0
) -> int:
    """Return the shared memory of a block, checked against the GPU's limit.

    Args:
        arrays: shape and dtype of each array; size 0 for dynamic ones.
        limit: bytes that one block may use.
        dynamic: bytes that the launch asks for.

    Raises:
        SharedMemoryLimitError: the block asks for more.

    Example:
        >>> shared_bytes([((16, 16), np.dtype("float32"))] * 2, limit=48 * 1024)
        2048
        >>> shared_bytes([((0,), np.dtype("float32"))], limit=48 * 1024, dynamic=512)
        512
    """
    total = 0
    for shape, dtype in arrays:
        total = _aligned(total, dtype) + math.prod(shape) * dtype.itemsize
    if total + dynamic <= limit:
        return total + dynamic
    parts = f"{total} static and {dynamic} dynamic" if dynamic else f"{total}"
    raise SharedMemoryLimitError(
        f"a block asks for {parts} bytes of shared memory",
        where="cuda.shared.array in the kernel"
        + (", kernel[grid, block, stream, bytes] at the launch" if dynamic else ""),
        why=f"this GPU gives a block {limit} bytes",
        fix="use smaller tiles, or a smaller dtype",
        requested_bytes=total + dynamic,
        limit_bytes=limit,
    )
