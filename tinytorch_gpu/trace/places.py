"""Places in a launch: blocks and threads by number or by coordinates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import SupportsIndex

from tinytorch_gpu.errors import TraceQueryError

__all__ = [
    "WARP",
    "Dim3",
    "Place",
    "coordinates",
    "linear",
    "padded_threads",
    "spelled",
]

WARP = 32  # lanes of a warp, on every GPU so far
Dim3 = tuple[int, int, int]
Place = int | Sequence[int]


def linear(what: str, place: Place, lengths: Dim3, where: str) -> int:
    """Return the linear number of a block or thread, x fastest.

    Args:
        what: `block` or `thread`, for the error.
        place: a linear number, or x, y and z; missing ones are 0.
        lengths: of the grid or block in x, y and z.
        where: the kernel, for the error.

    Raises:
        TraceQueryError: there is no such block or thread.

    Example:
        >>> linear("thread", (1, 2), (16, 16, 1), "add (add.py:3)")
        33
    """
    parts = tuple(place) if isinstance(place, Sequence) else (place,)
    number = -1
    if not all(isinstance(part, SupportsIndex) for part in parts):
        pass
    elif len(parts) == 1:
        number = parts[0]
    elif len(parts) <= 3:
        full = (*parts, 0, 0)[:3]
        if all(0 <= p < length for p, length in zip(full, lengths, strict=True)):
            number = full[0] + lengths[0] * (full[1] + lengths[1] * full[2])
    count = math.prod(lengths)
    if 0 <= number < count:
        return int(number)
    raise TraceQueryError(
        f"the launch has no {what} {place!r}",
        where=where,
        why=f"it has {count:,}: {lengths[0]} x {lengths[1]} x {lengths[2]}",
        fix=f"give a number from 0 to {count - 1}, or (x, y, z)",
        place=place,
    )


def coordinates(number: int, lengths: Dim3) -> Dim3:
    """Return x, y and z of a linear number.

    Example:
        >>> coordinates(33, (16, 16, 1))
        (1, 2, 0)
    """
    x, y, _ = lengths
    return number % x, number // x % y, number // (x * y)


def padded_threads(block: Dim3) -> int:
    """Return the threads of a block's warps, those that only fill up the last too.

    Example:
        >>> padded_threads((5, 7, 1))
        64
    """
    return -(-math.prod(block) // WARP) * WARP


def spelled(name: str, index: Iterable[object]) -> str:
    """Write an element as the learner does.

    Args:
        name: of the array.
        index: one number for each axis.

    Example:
        >>> spelled("out", (1, 2))
        'out[1, 2]'
    """
    return f"{name}[{', '.join(map(str, index))}]"
