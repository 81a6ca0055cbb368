"""Slices of one axis: `lo:hi:step` of lane values to a first index, a length, a step.

The rules are Python's: missing bounds, negative ones, bounds beyond the axis (clipped),
negative steps. Bounds may differ between lanes, and so does the length then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.lanes import require_defined

if TYPE_CHECKING:
    from tinytorch_gpu.trace import Site

__all__ = ["cut", "spread"]


def spread(parts: tuple[Any, ...], axes: int) -> tuple[Any, ...]:
    """Return the parts of an index with `...` written out as full slices.

    Args:
        parts: what stands between the brackets.
        axes: axes of the array.

    Example:
        >>> spread((..., np.int64(1)), 3)
        (slice(None, None, None), slice(None, None, None), np.int64(1))
    """
    place = next((n for n, part in enumerate(parts) if part is ...), None)
    if place is None:
        return parts
    given = sum(part is not None for part in parts) - 1
    full = (slice(None),) * max(0, axes - given)
    return parts[:place] + full + parts[place + 1 :]


def cut(part: slice, length: Any, site: Site) -> tuple[Any, Any, int]:
    """Return the first index, the number of elements and the step of a slice.

    Args:
        part: start, stop and step, each None or a lane value.
        length: of the axis; an int, or int64 lanes.
        site: where it stands.

    Returns:
        First index (int64), number of elements (int, or int64 lanes), step (int).

    Raises:
        KernelTypeError: a bound is no integer, or the step is 0 or differs between
            lanes.

    Example:
        >>> from tinytorch_gpu.trace import Site, SourceLine
        >>> site = Site(SourceLine("k", "lesson.py", 3, "y = x[::-2]"), "x")
        >>> cut(slice(None, None, np.int64(-2)), 6, site)
        (np.int64(5), 3, -2)

    Source: Python's `slice.indices`.
    """
    start, stop = (_bound(b, site) for b in (part.start, part.stop))
    step = _step(part.step, site)
    if all(np.ndim(value) == 0 for value in (start, stop, length)):
        chosen = range(int(length))[slice(_int(start), _int(stop), step)]
        return np.int64(chosen.start), len(chosen), step
    return _cut_by_lane(start, stop, step, length)


def _cut_by_lane(start: Any, stop: Any, step: int, length: Any) -> tuple[Any, Any, int]:
    """Do what `slice.indices` does, for bounds that differ between lanes."""
    lowest, highest = (0, length) if step > 0 else (-1, length - 1)
    ends = (lowest, highest) if step > 0 else (highest, lowest)
    first, beyond = (
        np.int64(end) if given is None else _clip(given, length, lowest, highest)
        for given, end in zip((start, stop), ends, strict=True)
    )
    rounding = step - 1 if step > 0 else step + 1
    count = np.maximum((beyond - first + rounding) // step, 0)
    same = count.flat[0] if count.size else 0
    return first, int(same) if (count == same).all() else count, step


def _clip(bound: Any, length: Any, lowest: Any, highest: Any) -> Any:
    """Count a negative bound from the end, then bring it into the axis."""
    return np.clip(np.where(bound < 0, bound + length, bound), lowest, highest)


def _bound(value: Any, site: Site) -> Any:
    """Return a bound as int64, or None."""
    require_defined(value)
    if value is None:
        return None
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "iub":
        return value.astype(np.int64)
    kind = value.dtype if isinstance(value, np.generic) else type(value).__name__
    raise KernelTypeError(
        f"a slice of `{site.expression}` with a bound of type {kind}",
        where=str(site.line),
        why="bounds and steps of slices are integers",
        fix="convert with int(x), or write // instead of /",
    )


def _step(value: Any, site: Site) -> int:
    step = _bound(value, site)
    if step is None:
        return 1
    if np.ndim(step) == 0 and step:
        return int(step)
    problem = "step 0" if np.ndim(step) == 0 else "a step that differs between lanes"
    raise KernelTypeError(
        f"a slice of `{site.expression}` with {problem}",
        where=str(site.line),
        why="an array has one step along each axis, the same for all lanes, and not 0",
        fix="use a constant step, or index the elements: x[i * step]",
    )


def _int(value: Any) -> int | None:
    return None if value is None else int(value)
