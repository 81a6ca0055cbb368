"""NumPy functions that move elements: joining, cutting, padding, repeating.

What strides express is a view. The rest is a new array and one launch of `copy` for
each part.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import ShapeError, UnsupportedError
from tinytorch_gpu.library.dispatcher import call
from tinytorch_gpu.memory import DeviceArray, empty
from tinytorch_gpu.runtime.placement import check_no_host_array, device_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["JOINING"]

Pads = tuple[tuple[int, int], ...]


def _concatenate(arrays: Sequence[Any], axis: int | None = 0) -> DeviceArray:
    """Write arrays one after another: one copy each."""
    parts = _on_device("concatenate", arrays)
    if axis is None:
        parts, axis = [a.reshape(-1) for a in parts], 0
    axis = _normalized("concatenate", axis, parts[0].ndim)
    shape = list(parts[0].shape)
    if any(_without(p.shape, axis) != _without(shape, axis) for p in parts):
        raise _does_not_fit("concatenate", [p.shape for p in parts], axis)
    shape[axis] = sum(p.shape[axis] for p in parts)
    dtype = np.result_type(*(p.dtype for p in parts))
    out = empty(device_of(parts[0]).allocator, tuple(shape), dtype)
    first = 0
    for part in parts:
        last = first + part.shape[axis]
        place = (slice(None),) * axis + (slice(first, last),)
        call("copy", part, out=out.part(place))
        first = last
    return out


def _stack(arrays: Sequence[Any], axis: int = 0) -> DeviceArray:
    parts = _on_device("stack", arrays)
    if any(p.shape != parts[0].shape for p in parts):
        raise _does_not_fit("stack", [p.shape for p in parts], axis)
    axis = _normalized("stack", axis, parts[0].ndim + 1)
    place = (slice(None),) * axis + (None,)
    return _concatenate([p.part(place) for p in parts], axis)


def _array_split(ary: Any, sections: Any, axis: int = 0) -> list[DeviceArray]:
    """Cut into views: at given places, or into parts of which the first are longer."""
    axis = _normalized("split", axis, ary.ndim)
    length = ary.shape[axis]
    if np.ndim(sections):
        cuts = [0, *(int(s) for s in sections), length]
    else:
        each, longer = divmod(length, int(sections))
        sizes = [each + (i < longer) for i in range(int(sections))]
        cuts = [0, *(int(n) for n in np.cumsum(sizes))]
    before = (slice(None),) * axis
    return [ary.part((*before, slice(a, b))) for a, b in pairwise(cuts)]


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[DeviceArray]:
    length = ary.shape[_normalized("split", axis, ary.ndim)]
    if not np.ndim(indices_or_sections) and length % int(indices_or_sections):
        raise ShapeError(
            f"np.split of {length} elements into {indices_or_sections} equal parts",
            where=f"np.split, operand {ary.dtype.name} {ary.shape}, axis {axis}",
            why="the parts of np.split are equally long",
            fix="np.array_split, whose first parts may be longer",
            shape=ary.shape,
        )
    return _array_split(ary, indices_or_sections, axis)


def _pad(
    array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0
) -> DeviceArray:
    """Fill a larger array with a number, and copy x into its middle."""
    if mode != "constant" or np.ndim(constant_values):
        raise UnsupportedError(
            f"np.pad with mode={mode!r} and constant_values={constant_values!r}",
            where=f"np.pad, operand {array.dtype.name} {array.shape}",
            why="device arrays are padded with one number",
            fix='mode="constant" with one number, or pad on the host: .cpu()',
        )
    pads: Pads = tuple(
        (int(a), int(b)) for a, b in np.broadcast_to(pad_width, (array.ndim, 2))
    )
    shape = tuple(n + a + b for n, (a, b) in zip(array.shape, pads, strict=True))
    out = empty(device_of(array).allocator, shape, array.dtype)
    call("fill", out, constant_values)
    middle = (slice(a, a + n) for n, (a, _) in zip(array.shape, pads, strict=True))
    call("copy", array, out=out.part(tuple(middle)))
    return out


def _repeat(a: Any, repeats: Any, axis: int | None = None) -> DeviceArray:
    """Copy from a view in which each element stands `repeats` times."""
    if np.ndim(repeats):
        raise UnsupportedError(
            "np.repeat with a number for each element",
            where=f"np.repeat, operand {a.dtype.name} {a.shape}",
            why="a view repeats every element equally often",
            fix="one number, or np.take with the indices",
        )
    if axis is None:
        a, axis = a.reshape(-1), 0
    axis = _normalized("repeat", axis, a.ndim)
    before, after = a.shape[: axis + 1], a.shape[axis + 1 :]
    view = a.reshape(*before, 1, *after).broadcast_to((*before, int(repeats), *after))
    longer = (*before[:-1], before[-1] * int(repeats), *after)
    repeated: DeviceArray = call("copy", view)
    return repeated.reshape(longer)


def _tile(A: Any, reps: Any) -> DeviceArray:  # noqa: N803  (NumPy's name)
    """Copy from a view in which the whole array stands several times."""
    times = tuple(reps) if np.ndim(reps) else (int(reps),)
    ndim = max(len(times), A.ndim)
    times = (1,) * (ndim - len(times)) + times
    shape = (1,) * (ndim - A.ndim) + A.shape
    split = tuple(n for length in shape for n in (1, length))
    wide = tuple(n for pair in zip(times, shape, strict=True) for n in pair)
    tiled: DeviceArray = call("copy", A.reshape(split).broadcast_to(wide))
    return tiled.reshape(tuple(t * n for t, n in zip(times, shape, strict=True)))


def _flip(m: Any, axis: Any = None) -> DeviceArray:
    """View the array from the other end."""
    given = range(m.ndim) if axis is None else np.atleast_1d(axis)
    axes = {_normalized("flip", int(i), m.ndim) for i in given}
    turned = slice(None, None, -1)
    key = tuple(turned if i in axes else slice(None) for i in range(m.ndim))
    view: DeviceArray = m.part(key)
    return view


def _moveaxis(a: Any, source: int, destination: int) -> DeviceArray:
    axes = list(range(a.ndim))
    axes.insert(destination % a.ndim, axes.pop(source % a.ndim))
    view: DeviceArray = a.transpose(tuple(axes))
    return view


def _on_device(name: str, arrays: Sequence[Any]) -> Sequence[DeviceArray]:
    there = [array for array in arrays if isinstance(array, DeviceArray)]
    host = [np.shape(array) for array in arrays if not isinstance(array, DeviceArray)]
    check_no_host_array(f"np.{name}", there, host)
    return there


def _normalized(name: str, axis: int, ndim: int) -> int:
    if -ndim <= axis < ndim:
        return int(axis) % ndim
    raise ShapeError(
        f"np.{name}: axis {axis} where there are {ndim} axes",
        where=f"np.{name}",
        why="an axis is one of the array's",
        fix=f"use an axis from {-ndim} to {ndim - 1}",
    )


def _without(shape: Sequence[int], axis: int) -> list[int]:
    return [n for i, n in enumerate(shape) if i != axis]


def _does_not_fit(name: str, shapes: list[tuple[int, ...]], axis: int) -> ShapeError:
    return ShapeError(
        f"np.{name}: shapes {' and '.join(map(str, shapes))} along axis {axis}",
        where=f"np.{name}",
        why="joined arrays have equal lengths, but for the axis they are joined along",
        fix="reshape or cut the operands to fit",
        shapes=tuple(shapes),
    )


JOINING: dict[Any, Callable[..., Any]] = {
    np.concatenate: _concatenate,
    np.stack: _stack,
    np.vstack: lambda tup: _concatenate([_at_least_rows(a) for a in tup]),
    np.hstack: lambda tup: _concatenate(tup, 0 if np.ndim(tup[0]) < 2 else 1),
    np.split: _split,
    np.array_split: _array_split,
    np.pad: _pad,
    np.repeat: _repeat,
    np.tile: _tile,
    np.flip: _flip,
    np.moveaxis: _moveaxis,
}


def _at_least_rows(a: Any) -> Any:
    return a.reshape(1, -1) if np.ndim(a) == 1 else a
