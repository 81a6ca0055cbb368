"""Arrays as a kernel sees them: indices of many lanes to elements, bounds checked.

`KernelArray` is the base of global and shared arrays: flat storage, an offset, shape
and strides in elements. An index is checked axis by axis, for active lanes only; a
negative one counts from the end once, as compiled numba does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.arithmetic import cast
from tinytorch_gpu.executor.faults import out_of_bounds
from tinytorch_gpu.executor.lanes import require_defined

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["KernelArray", "get_attribute", "load", "store", "unpack"]

ATTRIBUTES = frozenset({"shape", "size", "ndim", "strides", "dtype", "itemsize"})


class KernelArray:
    """An array inside a kernel.

    Args:
        storage: all elements of the memory the array lies in, (n,).
        offset: element index of the array's element 0; a scalar, or one for each lane.
        shape: length of each axis.
        steps: elements from one index to the next along each axis.
    """

    space = "global"
    address = 0

    def __init__(
        self,
        storage: npt.NDArray[Any],
        offset: Any,
        shape: tuple[int, ...],
        steps: tuple[int, ...],
    ) -> None:
        self.storage = storage
        self.offset = offset
        self.lengths = shape
        self.steps = steps

    @property
    def element_dtype(self) -> np.dtype[Any]:
        """Element type; not `dtype`: no operator takes an array for a number."""
        return self.storage.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.storage.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the elements that indices can reach."""
        return int(np.prod(self.lengths, dtype=np.int64)) * self.itemsize

    @property
    def shape(self) -> tuple[Any, ...]:
        """Length of each axis as a kernel reads it, int64."""
        return tuple(map(np.int64, self.lengths))

    @property
    def size(self) -> Any:
        """Number of elements, int64."""
        return np.int64(np.prod(self.lengths, dtype=np.int64))

    @property
    def ndim(self) -> Any:
        """Number of axes, int64."""
        return np.int64(len(self.lengths))

    @property
    def strides(self) -> tuple[Any, ...]:
        """Bytes between neighbours along each axis, int64."""
        return tuple(np.int64(step * self.itemsize) for step in self.steps)

    def row(self, offset: Any, axes: int) -> KernelArray:
        """Return the view that is left after the first `axes` axes are indexed."""
        raise NotImplementedError

    def fetch(self, flat: Any) -> Any:
        """Return the elements at flat indices; inactive lanes' indices are clipped."""
        raise NotImplementedError

    def put(self, batch: Batch, mask: Mask, flat: Any, value: Any) -> None:
        """Write the active lanes' values; of lanes that collide the highest wins."""
        raise NotImplementedError


def load(batch: Batch, mask: Mask, array: Any, index: Any, site: Site) -> Any:
    """Return `array[index]` for the active lanes.

    Args:
        batch: the lanes.
        mask: the active ones.
        array: a KernelArray, or a tuple (`x.shape[0]`).
        index: one index or a tuple of them.
        site: where it stands.

    Raises:
        OutOfBoundsError: an active lane's index is outside.
        KernelTypeError: the index is no integer, or has too many parts.
    """
    if isinstance(array, tuple):
        return array[_constant(index, len(array), site)]
    flat, axes = _flat_index(batch, mask, array, index, site, "load from")
    if axes < len(array.lengths):
        return array.row(flat, axes)
    if batch.recorder is not None:
        batch.recorder.access(site, mask, "load", array, flat)
    return array.fetch(flat)


def store(
    batch: Batch, mask: Mask, array: Any, index: Any, value: Any, site: Site
) -> None:
    """Write `array[index] = value` for the active lanes.

    Raises:
        OutOfBoundsError: an active lane's index is outside.
        KernelTypeError: the target is no array, or the index does not fit it.
    """
    flat, axes = _flat_index(batch, mask, array, index, site, "store to")
    if axes < len(array.lengths):
        raise _wrong_index(array, f"{axes} of {len(array.lengths)} indices", site)
    if batch.recorder is not None:
        batch.recorder.access(site, mask, "store", array, flat)
    array.put(batch, mask, flat, cast(value, array.element_dtype))


def get_attribute(value: Any, name: str, site: Site) -> Any:
    """Return `array.shape` and the like.

    Raises:
        KernelTypeError: the value has no such attribute inside a kernel.
    """
    if isinstance(value, KernelArray) and name in ATTRIBUTES:
        found = value.element_dtype if name == "dtype" else getattr(value, name)
        return np.int64(found) if isinstance(found, int) else found
    raise KernelTypeError(
        f"{site.expression} is not known inside a kernel",
        where=str(site.line),
        why="arrays have " + ", ".join(sorted(ATTRIBUTES)),
        fix="use one of these, or pass the value as an argument",
    )


def _flat_index(
    batch: Batch, mask: Mask, array: Any, index: Any, site: Site, action: str
) -> tuple[Any, int]:
    """Return element indices into the storage, and how many axes were indexed."""
    if not isinstance(array, KernelArray):
        require_defined(array)
        raise _wrong_index(array, f"a {type(array).__name__}", site)
    parts = index if isinstance(index, tuple) else (index,)
    if len(parts) > len(array.lengths):
        raise _wrong_index(array, f"{len(parts)} indices", site)
    flat = array.offset
    for axis, part in enumerate(parts):
        inside = _in_bounds(batch, mask, array, axis, part, site, action)
        step = array.steps[axis]
        if step:
            flat = flat + (inside if step == 1 else inside * np.int64(step))
    return flat, len(parts)


def _in_bounds(
    batch: Batch,
    mask: Mask,
    array: KernelArray,
    axis: int,
    index: Any,
    site: Site,
    action: str,
) -> Any:
    """Return the index as int64, negative ones wrapped once; fault when outside."""
    length = array.lengths[axis]
    require_defined(index)
    if not isinstance(index, (np.ndarray, np.generic)) or index.dtype.kind not in "iub":
        raise _wrong_index(array, f"an index of type {np.result_type(index)}", site)
    if index.ndim == 0:
        position = int(index)
        if 0 <= position < length:
            return np.int64(position)
        index = index.reshape(1, 1)
    wide = index.astype(np.int64, copy=False)
    if not wide.size or int(wide.view(np.uint64).max()) < length:
        return wide
    wrapped = (
        np.where(wide < 0, wide + length, wide) if index.dtype.kind == "i" else wide
    )
    outside = wrapped.view(np.uint64) >= length
    if mask.lanes is not None:
        outside = outside & mask.lanes
    if outside.any():
        faulty = outside & mask.full()
        raise out_of_bounds(batch, array, axis, wide, faulty, site, action)
    return wrapped


def unpack(value: Any, count: int, site: Site) -> tuple[Any, ...]:
    """Return a tuple's elements for `a, b = value`.

    Raises:
        KernelTypeError: the value is no tuple of that length.
    """
    require_defined(value)
    if isinstance(value, tuple) and len(value) == count:
        return value
    given = f"a tuple of {len(value)}" if isinstance(value, tuple) else "no tuple"
    raise KernelTypeError(
        f"{given} unpacked into {count} variables",
        where=str(site.line),
        why=f"the right side needs {count} elements",
        fix="write one variable for each element",
    )


def _constant(index: Any, length: int, site: Site) -> int:
    """Return a tuple's index, which must be the same for all lanes."""
    require_defined(index)
    if np.ndim(index) == 0 and np.result_type(index).kind in "iu":
        if -length <= int(index) < length:
            return int(index)
        raise KernelTypeError(
            f"index {int(index)} into a tuple of {length}",
            where=str(site.line),
            why=f"its elements are 0 to {length - 1}",
            fix="use an index within the tuple",
        )
    raise KernelTypeError(
        "a tuple indexed by a value that differs between lanes",
        where=str(site.line),
        why="a tuple lives in registers, which have no addresses",
        fix="use an array, or an `if` for each case",
    )


def _wrong_index(array: Any, given: str, site: Site) -> KernelTypeError:
    shape = array.lengths if isinstance(array, KernelArray) else None
    return KernelTypeError(
        f"`{site.expression}` cannot be indexed with {given}",
        where=str(site.line),
        why=f"`{site.expression}` has shape {shape}" if shape else "it is no array",
        fix="give one integer for each axis",
    )
