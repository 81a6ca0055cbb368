"""Constant memory: host arrays whose values a kernel took over when it was compiled.

`cuda.const.array_like` and host arrays that a kernel finds outside its body lie here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.arch import check_dtype
from tinytorch_gpu.executor.kernel_array import KernelArray, row_major

__all__ = ["ConstantArray", "freeze"]


class ConstantArray(KernelArray):
    """A read-only array inside a kernel, the same for all blocks and launches."""

    space = "constant"
    is_read_only = True

    def fetch(self, flat: Any) -> Any:
        """Return the elements at flat indices; inactive lanes' are clipped."""
        if np.ndim(flat) == 0:
            return self.storage[flat]
        return self.storage.take(flat, mode="clip")


def freeze(array: npt.NDArray[Any]) -> ConstantArray:
    """Return a read-only copy of a host array; later changes of it do not show.

    Args:
        array: any shape and order.

    Raises:
        DtypeError: device memory does not hold its dtype.

    Example:
        >>> host = np.arange(3.0)
        >>> constant = freeze(host)
        >>> host[0] = 7
        >>> constant.fetch(np.int64(0))
        np.float64(0.0)
    """
    dtype = check_dtype(array.dtype, "constant array")
    copied = np.array(array, dtype, order="C").reshape(-1)
    return ConstantArray(copied, np.int64(0), array.shape, row_major(array.shape))
