"""NumPy's fancy indexing on device arrays: x[index], x[mask], and assignments to them.

Comes in: a key with at least one array. Slices, ints and None are taken first, as a
view; index arrays then become the op `index` or `index_put`, a mask the op
`masked_fill` or the places where it is true. Index arrays of the host are copied to the
device, visibly.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tinytorch_gpu.errors import DtypeError, ShapeError, UnsupportedError
from tinytorch_gpu.library.dispatcher import call
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.memory.array import is_advanced
from tinytorch_gpu.runtime import to_device
from tinytorch_gpu.runtime.device import using_device
from tinytorch_gpu.runtime.placement import device_of

__all__ = ["add_at", "gather", "scatter", "take"]

INDEX_REASON = "index array"


def gather(x: DeviceArray, key: Any) -> DeviceArray:
    """Return `x[key]`, a new array.

    Args:
        x: device array.
        key: as NumPy's, with at least one index array or mask.

    Raises:
        DtypeError: an index array holds no integers.
        ShapeError: a mask has another shape than x, or there are too many indices.
        UnsupportedError: a mask with several axes stands beside other index arrays.

    Example:
        >>> from tinytorch_gpu import cuda, kernels
        >>> x = cuda.to_device(np.float32([10, 20, 30]))
        >>> gather(x, np.array([2, 0])).copy_to_host().tolist()
        [30.0, 10.0]
    """
    view, indices = _split_key(x, key)
    found: DeviceArray = call("index", view, indices)
    return found


def scatter(x: DeviceArray, key: Any, value: Any) -> None:
    """Do `x[key] = value` in place.

    Args:
        x: device array.
        key: as in `gather`.
        value: scalar, device array, or host array, which is copied.

    Raises:
        DtypeError: an index array holds no integers.
        ShapeError: a mask has another shape than x, or the value does not broadcast.
        UnsupportedError: a mask with several axes stands beside other index arrays.
    """
    if np.ndim(value) == 0 and not isinstance(value, DeviceArray) and _is_mask(key):
        _fill_where(x, key, value)
        return
    view, indices = _split_key(x, key, writes=True)
    call("index_put", view, indices, _on_device(x, value, "x[index] = host array"))


def add_at(x: DeviceArray, key: Any, value: Any) -> None:
    """Do `np.add.at(x, key, value)`: an index that stands twice counts twice.

    Args:
        x: device array, changed.
        key: any key.
        value: scalar, device array, or host array, which is copied.
    """
    if not is_advanced(key):
        view = x.part(key)
        call("add", view, value, out=view)
        return
    view, indices = _split_key(x, key, writes=True)
    added = _on_device(x, value, "np.add.at of a host array")
    call("index_put", view, indices, added, accumulate=True)


def take(a: DeviceArray, indices: Any, axis: int | None = None) -> DeviceArray:
    """Do `np.take`: the slices along an axis, or elements counted row by row."""
    view = a.reshape(-1) if axis is None else a
    index = _as_index(a, indices)
    found: DeviceArray = call("index_select", view, 0 if axis is None else axis, index)
    return found


def _is_mask(key: Any) -> bool:
    return getattr(key, "dtype", None) == np.bool_


def _fill_where(x: DeviceArray, mask: Any, value: Any) -> None:
    """Do x[mask] = number: one launch, no index and no count."""
    _check_mask(x, mask.shape)
    mask = _on_device(x, mask, INDEX_REASON)
    wide = mask.reshape(*mask.shape, *(1,) * (x.ndim - mask.ndim))
    call("masked_fill", x, wide, value, out=x)


def _split_key(
    x: DeviceArray, key: Any, *, writes: bool = False
) -> tuple[DeviceArray, tuple[DeviceArray | None, ...]]:
    """Return a view by the basic parts of a key, and an index array for each axis."""
    several = (list, bool, np.bool_)
    parts = [np.asarray(p) if isinstance(p, several) else p for p in _as_tuple(key)]
    masks = [p for p in parts if _is_mask(p) and p.ndim != 1]
    if masks:
        return _by_mask(x, parts, masks[0], writes=writes)
    parts = _expanded(x, parts)
    is_index = [
        isinstance(p, (int, np.integer, np.ndarray, DeviceArray)) for p in parts
    ]
    first, last = is_index.index(True), len(parts) - is_index[::-1].index(True)
    is_together = all(is_index[first:last])
    basic: list[Any] = []
    found: list[DeviceArray | None] = []
    for part in parts:
        is_number = isinstance(part, (int, np.integer))
        is_array = isinstance(part, (np.ndarray, DeviceArray))
        if is_array or (is_number and not is_together):
            basic.append(slice(None))  # the index comes later, over the whole axis
            found.append(_as_index(x, part))
        else:
            basic.append(part)
            found += [] if is_number else [None]
    return x.part(tuple(basic)), tuple(found)


def _as_tuple(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _expanded(x: DeviceArray, parts: list[Any]) -> list[Any]:
    """Write slices for `...`, and check masks against their axes."""
    taken = sum(p is not None and p is not ... for p in parts)
    if taken > x.ndim:
        raise ShapeError(
            f"{taken} indices for an array with {x.ndim} axes",
            where=f"x[...], x {x.dtype.name} {x.shape}",
            why="there is at most one index for each axis",
            fix=f"give {x.ndim} indices or fewer",
            shape=x.shape,
        )
    if not any(p is ... for p in parts):
        parts = [*parts, ...]
    place = next(i for i, p in enumerate(parts) if p is ...)
    full = [*parts[:place], *[slice(None)] * (x.ndim - taken), *parts[place + 1 :]]
    lengths = iter(x.shape)
    for part in full:
        length = None if part is None else next(lengths)
        if _is_mask(part) and part.shape != (length,):
            _check_mask(x, part.shape, length)
    return full


def _by_mask(
    x: DeviceArray, parts: list[Any], mask: Any, *, writes: bool
) -> tuple[DeviceArray, tuple[DeviceArray | None, ...]]:
    """Join the axes that a mask covers, and index them by where it is true."""
    rest = [p for p in parts if p is not mask and p is not ...]
    if rest or parts[0] is not mask:
        raise UnsupportedError(
            "a mask with several axes beside other indices",
            where=f"x[mask, ...], mask {mask.shape}, x {x.shape}",
            why="the places of such a mask would have to be taken apart by axis",
            fix="index twice: x[mask][...], or np.where(mask, a, b)",
        )
    _check_mask(x, mask.shape)
    covered = math.prod(mask.shape)
    joined = x.reshape((covered, *x.shape[mask.ndim :]))
    if writes and joined.buffer is not x.buffer:
        raise UnsupportedError(
            "a mask on an array whose elements do not follow one another",
            where=f"x[mask], x {x.shape} with strides {x.strides}",
            why="the axes of the mask are joined into one, which takes contiguous rows",
            fix="x = x.copy() first",
        )
    return joined, (_as_index(x, mask),)


def _check_mask(
    x: DeviceArray, shape: tuple[int, ...], length: int | None = None
) -> None:
    expected = x.shape[: len(shape)] if length is None else (length,)
    if shape != expected:
        raise ShapeError(
            f"a mask of shape {shape} on an array of shape {x.shape}",
            where=f"x[mask], x {x.dtype.name} {x.shape}",
            why=f"a mask says yes or no for each place, {expected}",
            fix="make the mask from the array itself, for example x > 0",
            shapes=(x.shape, shape),
        )


def _as_index(x: DeviceArray, part: Any) -> DeviceArray:
    """Return an index array on the device; a mask becomes where it is true."""
    given = part if isinstance(part, DeviceArray) else np.asarray(part)
    if not given.size and not isinstance(given, DeviceArray):
        given = given.astype(np.int64)  # an empty list has float64 elements
    if given.dtype.kind not in "iub":
        raise DtypeError(
            f"an index array of dtype {given.dtype}",
            where=f"x[index], x {x.dtype.name} {x.shape}",
            why="an index is a whole number, a mask holds bools",
            fix="index.astype(int)",
            dtype=given.dtype,
        )
    index = _on_device(x, given, INDEX_REASON)
    if given.dtype != np.bool_:
        return index
    places: DeviceArray = call("flatnonzero", index)
    return places


def _on_device(x: DeviceArray, value: Any, reason: str) -> DeviceArray:
    """Copy a host value to where x lies; the copy is recorded with its reason."""
    if isinstance(value, DeviceArray):
        return value
    host = np.array(value, order="C")  # without gaps: a copy moves one run of bytes
    with using_device(device_of(x)):
        is_index = reason == INDEX_REASON
        made: DeviceArray = to_device(
            host if is_index else host.astype(x.dtype), reason
        )
    return made
