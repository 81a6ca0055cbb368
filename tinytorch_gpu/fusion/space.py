"""Iteration spaces: where the element of an array lies for each place of a shape.

A group has one shape; each array that it touches is placed on it by an address and a
stride in bytes for each axis, 0 where it is broadcast. Two uses with equal places are
the same elements in the same order, so one register can stand for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tinytorch_gpu.fusion.values import item_bytes

if TYPE_CHECKING:
    from tinytorch_gpu.trace import ArrayUse

__all__ = ["Place", "overlap", "placed"]

Shape = tuple[int, ...]


class Place(NamedTuple):
    """An array, placed on a shape.

    Args:
        address: of the first element.
        strides: bytes from an element to the next along each axis of the shape.
        dtype: name of the elements' type.
    """

    address: int
    strides: tuple[int, ...]
    dtype: str

    @property
    def is_row(self) -> bool:
        """Tell whether it has one element for each row."""
        return bool(self.strides) and self.strides[-1] == 0


def placed(use: ArrayUse, space: Shape, result: Shape | None = None) -> Place | None:
    """Place an array on a shape, as NumPy broadcasts it.

    Args:
        use: the array.
        space: the shape.
        result: shape of the op's result, if it is the space without its last axis:
            one element for each row.

    Returns:
        The place; None if the array does not broadcast to the shape.

    Example:
        >>> from tinytorch_gpu.trace import ArrayUse
        >>> bias = ArrayUse(512, (3,), (4,), "float32")
        >>> placed(bias, (2, 3)).strides
        (0, 4)
        >>> placed(bias, (3, 7), result=(3,)).strides
        (4, 0)
    """
    shape, strides = use.shape, use.strides
    if result is not None and len(result) + 1 == len(space):
        missing = len(result) - len(shape)
        shape, strides = (*(1,) * missing, *shape, 1), (*(0,) * missing, *strides, 0)
    missing = len(space) - len(shape)
    if missing < 0:
        return None
    shape, strides = (1,) * missing + shape, (0,) * missing + strides
    if any(n not in (1, m) for n, m in zip(shape, space, strict=True)):
        return None
    kept = (0 if n == 1 else s for n, s in zip(shape, strides, strict=True))
    return Place(use.address, tuple(kept), use.dtype)


def overlap(one: Place, other: Place, space: Shape) -> bool:
    """Tell whether two arrays on a shape may share bytes.

    Example:
        >>> a, b = Place(0, (4,), "float32"), Place(8, (4,), "float32")
        >>> overlap(a, b, (2,)), overlap(a, b, (3,))
        (False, True)
    """
    (low, high), (begin, end) = (_extent(place, space) for place in (one, other))
    return low < end and begin < high


def _extent(place: Place, space: Shape) -> tuple[int, int]:
    spans = [(n - 1) * s for n, s in zip(space, place.strides, strict=True)]
    low = place.address + sum(span for span in spans if span < 0)
    high = place.address + sum(span for span in spans if span > 0)
    return low, high + item_bytes(place.dtype)
