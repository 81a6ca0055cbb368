"""The operands on which a learner's code is tried: small, odd and large ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.integration.cases import Array, Case, array_of, values

__all__ = [
    "ABOVE", "ALONG", "BLANK", "DEEP", "EQUAL", "HOLES", "IMAGE", "LARGE", "LARGE_Y",
    "LOGITS", "MANY", "REDUCED", "ROW", "SIGNS", "X", "Y", "of_layer", "with_holes",
]  # fmt: skip

X, Y, ROW = values(3, 7), values(3, 7, seed=1), values(7, seed=2)
DEEP = values(2, 3, 5, seed=6)
# Beyond what a loop in tiles or a shortcut for small inputs may have right.
LARGE, LARGE_Y = values(33, 41, seed=7), values(33, 41, seed=8)
SIGNS = array_of(
    [[-1000.0, -100.0, -20.0, -2.0, -0.5, 0.0, 0.2], [0.3, 1, 2.5, 5, 20, 100, 1000]]
)
ABOVE = np.abs(X) + np.float32(0.1)
IMAGE = values(2, 2, 4, 6, seed=3)
MANY = values(18, 2, 2, 3, seed=9)  # images
HOLES = np.where(IMAGE > 1.5, np.nan, IMAGE)
EQUAL = array_of(np.indices((1, 1, 4, 6)).sum(0) // 2)  # with equal largest ones
BLANK = array_of([[-np.inf, -np.inf], [0.0, 1.0]])
REDUCED = (
    *(
        Case((X,), {"axis": axis, "keepdims": keepdims})
        for axis, keepdims in ((None, False), (0, False), (1, True))
    ),
    Case((ROW,), {"axis": 0, "keepdims": False}, is_needed=False),
    Case((DEEP,), {"axis": 1, "keepdims": False}, is_needed=False),
    Case((DEEP,), {"axis": (0, 2), "keepdims": True}, is_needed=False),
    Case((LARGE,), {"axis": 1, "keepdims": False}),
)
LOGITS = tuple(
    (about, array_of(x))
    for about, x in (
        ("", X),
        ("for large inputs", X * 20),
        ("for large inputs", X * 1000),
        ("for large inputs", X + 90),
        ("for large negative inputs", X - 1000),
    )
)
ALONG = (
    *(Case((x,), {"dim": -1}, about=about) for about, x in LOGITS),
    Case((X,), {"dim": 0}),
    Case((ROW,), {"dim": -1}, is_needed=False),
    Case((DEEP,), {"dim": -1}, is_needed=False),
    Case((DEEP,), {"dim": 1}, is_needed=False),
    Case((LARGE,), {"dim": -1}),
)


def of_layer(
    *arguments: Any,
    x: Array = IMAGE,
    needed: bool = True,
    read: tuple[str, ...] = (),
    about: str = "",
    **options: Any,
) -> Case:
    """Return the case of a layer.

    Args:
        arguments: of its constructor.
        x: its input.
        needed: an error of the learner's code counts as a difference.
        read: what the op takes by name of the layer.
        about: what is special there, for the summary.
        options: of its constructor, by name.
    """
    layer = (arguments, options)
    return Case((x,), layer=layer, is_needed=needed, read=read, about=about)


def with_holes(*arguments: Any, **options: Any) -> tuple[Case, ...]:
    """Return the case of a layer whose input has NaN in places.

    Args:
        arguments: of its constructor.
        options: as in `of_layer`.
    """
    return (of_layer(*arguments, about="at NaN", **options),)
