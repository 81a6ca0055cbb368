"""Local memory: arrays that each thread has for itself.

Contents are poison when a thread first comes to the array's call site, and stay what
the thread wrote for the rest of the launch. A stack slot behaves so: it is set aside
once for the function, not at each turn of a loop. Poison at every turn would break
kernels that run on hardware; an element that a thread never wrote shows at once.

Source: PTX of numba-cuda 0.30.4 holds one `.local` depot for each function. That
compiler happens to clear it, which its documentation does not promise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype, poison_value
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.global_memory import scatter
from tinytorch_gpu.executor.kernel_array import KernelArray, row_major

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["LocalArray", "local_array"]

# CUDA C++ Programming Guide, table of technical specifications per compute capability.
MOST_BYTES = 512 * 1024


class LocalArray(KernelArray):
    """A local array inside a kernel; storage is (elements, blocks, threads).

    An index that is the same for all lanes is then one row of the storage.
    """

    space = "local"

    def fetch(self, flat: Any) -> Any:
        """Return each thread's own elements."""
        if np.ndim(flat) == 0:
            return self.storage[flat].copy()  # later stores must not show
        inside = np.clip(flat, 0, len(self.storage) - 1)
        return self.storage.take(self.cells(inside))

    def put(self, batch: Batch, mask: Mask, flat: Any, value: Any) -> None:
        """Write the active threads' own elements."""
        del batch
        if np.ndim(flat):
            scatter(self.storage.reshape(-1), mask, self.cells(flat), value)
            return
        lanes: Any = True if mask.lanes is None else mask.lanes
        np.copyto(self.storage[flat], value, where=lanes)

    def cells(self, flat: Any) -> Any:
        """Return where each lane's element lies in the storage, (blocks, threads)."""
        lanes = self.storage[0].size
        return flat * np.int64(lanes) + np.arange(lanes).reshape(self.storage[0].shape)


def local_array(
    batch: Batch, site: Site, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> LocalArray:
    """Return the threads' array of this call site, made at the first call.

    Args:
        batch: the lanes.
        site: the call site; with the path of calls that led there it has one array.
        shape: compile-time lengths, at least 1.
        dtype: element type.

    Raises:
        DtypeError: local memory does not hold this dtype.
        KernelTypeError: the array is empty, or larger than a thread's local memory.
    """
    key = (batch.call_path, site)
    if key not in batch.local:
        kind = check_dtype(dtype, "local array")
        size = math.prod(shape)
        if not 0 < size * kind.itemsize <= MOST_BYTES:
            raise _wrong_size(shape, size * kind.itemsize, site)
        storage = np.full((size, *batch.shape), poison_value(kind), kind)
        batch.local[key] = LocalArray(storage, np.int64(0), shape, row_major(shape))
    array: LocalArray = batch.local[key]
    return array


def _wrong_size(shape: tuple[int, ...], size: int, site: Site) -> KernelTypeError:
    return KernelTypeError(
        f"a local array of shape {shape}, {size} bytes",
        where=str(site.line),
        why=f"a thread's local memory holds 1 to {MOST_BYTES} bytes",
        fix="give each axis a positive length"
        if size <= 0
        else "use a smaller array, or global memory with a row for each thread",
    )
