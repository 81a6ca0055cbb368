"""Bounds of one axis: each lane's index, negative ones wrapped once, or a fault.

Compiled numba adds the axis length once to a negative index of a signed type; beyond
that it checks nothing. Here active lanes are checked, always.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.faults import of_first_lane, out_of_bounds
from tinytorch_gpu.executor.kernel_array import KernelArray
from tinytorch_gpu.executor.lanes import require_defined
from tinytorch_gpu.executor.negative import warn_of_negative

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["in_bounds", "read_only", "wrong_index"]


def in_bounds(
    batch: Batch,
    mask: Mask,
    array: KernelArray,
    axis: int,
    index: Any,
    site: Site,
    action: str,
) -> Any:
    """Return the index as int64, negative ones wrapped once; fault when outside.

    Args:
        batch: the lanes.
        mask: the active ones; others may be outside.
        array: what is indexed.
        axis: which axis the index is for.
        index: a lane value of an integer type.
        site: where it stands.
        action: "load from" or the like, for the error.

    Returns:
        int64 scalar or lanes.

    Raises:
        OutOfBoundsError: an active lane's index is outside.
        KernelTypeError: the index is no integer.
    """
    length = array.lengths[axis]
    require_defined(index)
    if not isinstance(index, (np.ndarray, np.generic)) or index.dtype.kind not in "iub":
        raise wrong_index(array, f"an index of type {np.result_type(index)}", site)
    is_plain = not isinstance(length, np.ndarray)
    if is_plain and index.ndim == 0:
        position = _uniform(index, length)
        if position is not None:
            if position != index:
                warn_of_negative(batch, mask, array, axis, index, site, action)
            return position
    wide: Any = np.atleast_2d(index.astype(np.int64, copy=False))
    if is_plain and (not wide.size or int(wide.view(np.uint64).max()) < length):
        return wide
    is_signed = index.dtype.kind == "i"
    wrapped = np.where(wide < 0, wide + length, wide) if is_signed else wide
    faulty = _outside(mask, wrapped, length)
    if faulty is not None:
        at_fault = of_first_lane(batch, array, faulty)
        raise out_of_bounds(batch, at_fault, axis, wide, faulty, site, action)
    if wrapped is not wide:
        warn_of_negative(batch, mask, array, axis, wide, site, action)
    return wrapped


def _uniform(index: Any, length: int) -> Any:
    """Return an index that is the same for all lanes, or None when it is outside."""
    position = int(index)
    if position < 0 and index.dtype.kind == "i":
        position += length
    return np.int64(position) if 0 <= position < length else None


def _outside(mask: Mask, index: Any, length: Any) -> Any:
    """Return the active lanes whose index is outside, or None when there are none."""
    outside = (index < 0) | (index >= length)
    if mask.lanes is not None:
        outside = outside & mask.lanes
    return outside & mask.full() if outside.any() else None


def wrong_index(array: Any, given: str, site: Site) -> KernelTypeError:
    """Make the error of an index that an array does not take.

    Args:
        array: what is indexed; need not be an array.
        given: what it was given, in words.
        site: where it stands.
    """
    shape = array.lengths if isinstance(array, KernelArray) else None
    return KernelTypeError(
        f"`{site.expression}` cannot be indexed with {given}",
        where=str(site.line),
        why=f"`{site.expression}` has shape {shape}" if shape else "it is no array",
        fix="give one integer for each axis",
    )


def read_only(array: KernelArray, site: Site) -> KernelTypeError:
    """Make the error of a store to an array that kernels cannot write.

    Args:
        array: the target.
        site: where it stands.
    """
    if array.space == "constant":
        return KernelTypeError(
            f"`{site.expression}` is constant memory, which a kernel cannot write",
            where=str(site.line),
            why="its values were taken over when the kernel was compiled",
            fix="pass the array as an argument of the kernel",
        )
    return KernelTypeError(
        f"`{site.expression}` is read-only, and a kernel writes to it",
        where=str(site.line),
        why="the host array that was passed has flags.writeable == False",
        fix="pass a writable array: x.copy()",
    )
