"""The ops cumsum and flatnonzero: running sums, and the places of what is not zero.

A running sum takes ⌈log₂ n⌉ launches: each adds to every element the one 1, 2, 4, …
places before it (Hillis and Steele, "Data parallel algorithms", 1986). Between the
launches everybody has finished, so no barrier is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.kernels.compare import ne
from tinytorch_gpu.kernels.copying import copy
from tinytorch_gpu.kernels.indexing_kernels import compact_kernel, scan_step_kernel
from tinytorch_gpu.kernels.layout import configuration
from tinytorch_gpu.kernels.operands import INT64
from tinytorch_gpu.kernels.reduce import normalized_axes
from tinytorch_gpu.kernels.rows import around

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["cumsum", "flatnonzero"]


@library.impl("tinytorch::cumsum", "simgpu")
def cumsum(x: DeviceArray, dim: int = 0) -> DeviceArray:
    """Return the running sum along an axis; integers and bools give int64.

    Args:
        x: device array.
        dim: the axis.

    Raises:
        ShapeError: there is no such axis.

    Example:
        >>> import numpy as np
        >>> cumsum(cuda.to_device(np.float32([1, 2, 3]))).copy_to_host().tolist()
        [1.0, 3.0, 6.0]
    """
    (axis,) = normalized_axes("cumsum", x, dim)
    dtype = x.dtype if x.dtype.kind == "f" else INT64
    sums = copy(x, dtype)
    if not x.size:
        return sums
    now, other = around(sums, axis), around(cuda.device_array_like(sums), axis)
    offset = 1
    while offset < x.shape[axis]:
        scan_step_kernel[configuration(x.size)](now, offset, other)
        now, other, offset = other, now, 2 * offset
    return now.reshape(x.shape)


@library.impl("tinytorch::flatnonzero", "simgpu")
def flatnonzero(x: DeviceArray) -> DeviceArray:
    """Return the places of all elements that are not zero, counted row by row.

    The host must know how many there are to allocate the result: it waits, and copies
    8 bytes.

    Args:
        x: device array.

    Returns:
        Device array (count,) of int64, ascending.

    Example:
        >>> import numpy as np
        >>> flatnonzero(cuda.to_device(np.float32([0, 5, 0, 7]))).copy_to_host()
        array([1, 3])
    """
    flags = ne(x, 0).reshape(-1)
    if not x.size:
        return cuda.device_array(0, INT64)
    counts = cumsum(flags)
    out = cuda.device_array(int(counts[-1]), INT64)
    if out.size:
        compact_kernel[configuration(x.size)](flags, counts, out)
    return out
