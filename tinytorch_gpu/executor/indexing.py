"""Indices of many lanes to elements, bounds checked; slices to views.

An index is checked axis by axis, for active lanes only; a negative one counts from the
end once, as compiled numba does. Slices and missing axes give views.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.arithmetic import cast
from tinytorch_gpu.executor.bounds import in_bounds, read_only, wrong_index
from tinytorch_gpu.executor.consecutive import window
from tinytorch_gpu.executor.kernel_array import ChosenArray, KernelArray
from tinytorch_gpu.executor.lanes import require_defined, together
from tinytorch_gpu.executor.places import flat_index, split_index
from tinytorch_gpu.executor.slices import cut, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["KernelArray", "get_attribute", "load", "store", "unpack"]

ATTRIBUTES: dict[str, Callable[[KernelArray], Any]] = {
    "T": lambda a: a.view(a.offset, a.lengths[::-1], a.steps[::-1]),
    "dtype": lambda a: a.element_dtype,
    "itemsize": lambda a: np.int64(a.itemsize),
    "nbytes": lambda a: a.size * np.int64(a.itemsize),
    "ndim": lambda a: a.ndim,
    "shape": lambda a: a.shape,
    "size": lambda a: a.size,
    "strides": lambda a: a.strides,
}
MAKES_VIEW = frozenset({slice, type(...), type(None)})


def load(batch: Batch, mask: Mask, array: Any, index: Any, site: Site) -> Any:
    """Return `array[index]` for the active lanes: elements, or a view.

    Args:
        batch: the lanes.
        mask: the active ones.
        array: a KernelArray, or a tuple (`x.shape[0]`).
        index: one part for each axis, a tuple if several: a lane value, a slice of
            lane values, `...` or None (a new axis). Missing parts are full slices.
        site: where it stands.

    Returns:
        The elements; a KernelArray over the same storage if axes are left.

    Raises:
        OutOfBoundsError: an active lane's index is outside.
        KernelTypeError: the index is no integer, or has too many parts.
    """
    if isinstance(array, tuple):
        return _picked(batch, mask, array, index, site)
    if isinstance(array, ChosenArray):
        return array.each(mask, lambda m, a: load(batch, m, a, index, site))
    parts = _parts(array, index, site)
    if not MAKES_VIEW.isdisjoint(map(type, parts)):
        return _view(batch, mask, array, parts, site)
    stretch = window(batch, array, parts)
    if stretch is not None:
        return stretch.copy()  # later stores must not show
    uniform, lanes = split_index(batch, mask, array, parts, site, "load from")
    axes = len(parts)
    if axes < len(array.lengths):
        flat = uniform + lanes
        return array.view(flat, array.lengths[axes:], array.steps[axes:])
    value = array.fetch_at(uniform, lanes)
    if batch.recorder is not None:
        batch.recorder.access(batch, site, mask, "load", array, lanes, uniform, value)
    return value


def store(
    batch: Batch, mask: Mask, array: Any, index: Any, value: Any, site: Site
) -> None:
    """Write `array[index] = value` for the active lanes.

    Args:
        batch: the lanes.
        mask: the active ones.
        array: a KernelArray.
        index: as for `load`; where axes are left, all elements of the view are written.
        value: a lane value; or an array, broadcast to the view.
        site: where it stands.

    Raises:
        OutOfBoundsError: an active lane's index is outside.
        KernelTypeError: the target is no array or read-only, or something does not
            fit it.
    """
    if isinstance(array, ChosenArray):
        for _, side, one in array.sides(mask):
            store(batch, side, one, index, value, site)
        return
    if isinstance(value, ChosenArray):
        for _, side, one in value.sides(mask):
            store(batch, side, array, index, one, site)
        return
    parts = _parts(array, index, site)
    if array.is_read_only:
        raise read_only(array, site)
    if len(parts) < len(array.lengths) or not MAKES_VIEW.isdisjoint(map(type, parts)):
        _fill(batch, mask, _view(batch, mask, array, parts, site), value, site)
        return
    batch.changes += 1
    given, value = value, cast(value, array.element_dtype)
    stretch = window(batch, array, parts)
    if stretch is not None:
        array.fill(batch, mask, stretch, value)
        return
    flat = flat_index(batch, mask, array, parts, site, "store to")
    if batch.recorder is not None:
        batch.recorder.access(batch, site, mask, "store", array, flat, 0, value, given)
    array.put(batch, mask, flat, value)


def _view(
    batch: Batch, mask: Mask, array: KernelArray, parts: Any, site: Site
) -> KernelArray:
    """Return the view that slices, `...`, new axes and missing axes leave."""
    offset, axis = array.offset, 0
    lengths: tuple[Any, ...] = ()
    steps: tuple[int, ...] = ()
    for part in spread(parts, len(array.lengths)):
        if part is None:
            lengths, steps = (*lengths, 1), (*steps, 0)
            continue
        step = array.steps[axis]
        if isinstance(part, slice):
            first, count, stride = cut(part, array.lengths[axis], site)
            lengths, steps = (*lengths, count), (*steps, stride * step)
        else:
            first = in_bounds(batch, mask, array, axis, part, site, "load from")
        offset = offset + first * np.int64(step)
        axis += 1
    lengths, steps = lengths + array.lengths[axis:], steps + array.steps[axis:]
    return array.view(offset, lengths, steps)


def _fill(batch: Batch, mask: Mask, view: Any, value: Any, site: Site) -> None:
    """Let each active lane write all elements of its view, one after another.

    An array is read to its end first, so that overlapping views copy as in NumPy.
    """
    is_array = isinstance(value, KernelArray)
    source = _stretched(value, view, site) if is_array else value
    longest = tuple(int(np.max(length)) for length in view.lengths)
    writes = []
    for place in np.ndindex(*longest):
        lanes, index = mask, tuple(map(np.int64, place))
        for position, length in zip(place, view.lengths, strict=True):
            lanes, _ = lanes.split(np.less(position, length))
        if lanes.count:
            element = load(batch, lanes, source, index, site) if is_array else value
            writes.append((lanes, index, element))
    for lanes, index, element in writes:
        store(batch, lanes, view, index, element, site)


def _stretched(value: KernelArray, view: KernelArray, site: Site) -> KernelArray:
    """Broadcast an array to a view's axes, as NumPy does."""
    missing = len(view.lengths) - len(value.lengths)
    lengths = (1,) * missing + value.lengths
    steps = (0,) * missing + value.steps
    pairs = list(zip(lengths, view.lengths, strict=missing >= 0))
    if missing < 0 or any(_differ(own, wanted) for own, wanted in pairs):
        raise KernelTypeError(
            f"an array of shape {value.lengths} stored to {view.lengths} elements of "
            f"`{site.expression}`",
            where=str(site.line),
            why="each axis must have the target's length, or 1",
            fix="store a slice of the same shape",
        )
    is_one = [isinstance(own, int) and own == 1 for own in lengths]
    steps = tuple(0 if one else s for one, s in zip(is_one, steps, strict=True))
    wide = (w if one else own for one, (own, w) in zip(is_one, pairs, strict=True))
    return value.view(value.offset, tuple(wide), steps)


def _differ(own: Any, wanted: Any) -> bool:
    """Tell whether two lengths do not fit; those that differ by lane come later."""
    are_known = isinstance(own, int) and isinstance(wanted, int)
    return are_known and own not in (1, wanted)


def get_attribute(value: Any, name: str, site: Site) -> Any:
    """Return `array.shape` and the like.

    Raises:
        KernelTypeError: the value has no such attribute inside a kernel.
    """
    if isinstance(value, ChosenArray):
        return value.gathered(lambda array: get_attribute(array, name, site))
    if isinstance(value, KernelArray) and name in ATTRIBUTES:
        return ATTRIBUTES[name](value)
    if name in getattr(value, "_fields", ()):
        return getattr(value, name)
    raise KernelTypeError(
        f"{site.expression} is not known inside a kernel",
        where=str(site.line),
        why="arrays have " + ", ".join(sorted(ATTRIBUTES)),
        fix="use one of these, or pass the value as an argument",
    )


def _parts(array: Any, index: Any, site: Site) -> tuple[Any, ...]:
    """Return what stands between the brackets, one part each."""
    if not isinstance(array, KernelArray):
        require_defined(array)
        raise wrong_index(array, f"a {type(array).__name__}", site)
    parts = index if isinstance(index, tuple) else (index,)
    if len(parts) > len(array.lengths):
        given = sum(part is not None and part is not ... for part in parts)
        if given > len(array.lengths):
            raise wrong_index(array, f"{given} indices", site)
    return parts


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


def _picked(
    batch: Batch, mask: Mask, values: tuple[Any, ...], index: Any, site: Site
) -> Any:
    """Return a tuple's element; lanes with indices of their own get their own."""
    require_defined(index)
    if np.result_type(index).kind not in "iub":
        raise wrong_index(values, f"an index of type {np.result_type(index)}", site)
    count = len(values)
    outside = (index < -count) | (index >= count)
    if np.any(outside & mask.full()):
        lanes = np.broadcast_to(index, batch.shape)[outside & mask.full()]
        raise KernelTypeError(
            f"index {int(lanes[0])} into a tuple of {count}",
            where=str(site.line),
            why=f"its elements are 0 to {count - 1}",
            fix="use an index within the tuple",
        )
    wrapped = np.where(index < 0, index + count, index)[()]
    if np.ndim(wrapped) == 0:
        return values[int(wrapped)]
    result = values[0]
    for position, value in enumerate(values[1:], start=1):
        result = together(wrapped == position, value, result)
    return result
