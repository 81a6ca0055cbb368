"""The operands on which a learner's code is tried: small, odd and large ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.integration.cases import Array, Case, array_of, values

__all__ = [
    "ABOVE",
    "ALONG",
    "BLANK",
    "CLASSIFIED",
    "CONVOLVED",
    "DEEP",
    "EQUAL",
    "FAR_BELOW",
    "HOLES",
    "IMAGE",
    "LARGE",
    "LARGE_Y",
    "LOGITS",
    "MANY",
    "MASKED",
    "NORMALIZED",
    "ODD",
    "PAIRS",
    "RANKED",
    "REDUCED",
    "SIGNS",
    "SQUARE",
    "STACKED",
    "STRIDES",
    "X",
    "Y",
    "at_ranks",
    "of_layer",
    "with_holes",
]  # fmt: skip

X, Y = values(3, 7), values(3, 7, seed=1)
DEEP = values(2, 3, 5, seed=6)
# Beyond what a loop in tiles or a shortcut for small inputs may have right.
LARGE, LARGE_Y = values(33, 41, seed=7), values(33, 41, seed=8)
SIGNS = array_of(
    [[-1000.0, -100.0, -20.0, -2.0, -0.5, 0.0, 0.2], [0.3, 1, 2.5, 5, 20, 100, 1000]]
)
ABOVE = np.abs(X) + np.float32(0.1)
IMAGE = values(2, 2, 4, 6, seed=3)
ODD = values(1, 1, 7, 8, seed=10)
MANY = values(18, 2, 2, 3, seed=9)  # images
HOLES = np.where(IMAGE > 1.5, np.nan, IMAGE)
EQUAL = array_of(np.indices((1, 1, 4, 6)).sum(0) // 2)  # with equal largest ones
BLANK = array_of([[-np.inf, -np.inf], [0.0, 1.0]])
# One of each rank; each axis has another length, and they broadcast together.
RANKED = tuple(
    values(*shape, seed=20 + len(shape))
    for shape in ((), (5,), (3, 5), (4, 3, 5), (2, 4, 3, 5))
)
# Of equal lengths: what takes one axis for the other has the same shape there.
SQUARE, _SQUARE_Y = values(3, 3, seed=31), values(3, 3, seed=32)
_SQUARES = (
    (SQUARE, _SQUARE_Y),
    (SQUARE, _SQUARE_Y[0]),
    (SQUARE, _SQUARE_Y[:, :1]),
    (SQUARE[:1], _SQUARE_Y),
    (SQUARE, _SQUARE_Y[0, :1]),
)
PAIRS = (*((a, b) for a in RANKED for b in RANKED), *_SQUARES)
# With axes of length 1, which a `squeeze` would take away.
_THIN = tuple(values(*shape, seed=41) for shape in ((1,), (1, 3), (1, 2, 3), (2, 1, 3)))
_AXES = {
    x.ndim: (None, *range(-x.ndim, x.ndim), *tuples)
    for x, tuples in zip(
        RANKED,
        (
            (),
            (),
            ((0, 1), (-2, -1)),
            ((0, 1), (0, 2), (1, 2), (-2, -1)),
            ((0, 1), (2, 3), (0, 2, 3), (1, 2, 3), (-2, -1)),
        ),
        strict=True,
    )
}
REDUCED = (
    *(
        Case((X,), {"axis": axis, "keepdims": keepdims})
        for axis, keepdims in ((None, False), (0, False), (1, True))
    ),
    *(
        Case((x,), {"axis": axis, "keepdims": keepdims}, is_needed=False)
        for x in (*RANKED, SQUARE, *_THIN)
        for axis in _AXES[x.ndim]
        for keepdims in (False, True)
    ),
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
    *(
        Case((x,), {"dim": dim}, is_needed=False)
        for x in (*RANKED[1:], SQUARE, SQUARE[:1], *_THIN)
        for dim in range(-x.ndim, x.ndim)
    ),
    Case((LARGE,), {"dim": -1}),
)
CLASSIFIED = (
    *(Case((x, array_of([0, 3, 1])), about=about) for about, x in LOGITS),
    *(Case((X[:n], array_of([3, 0][:n]))) for n in (1, 2)),
    Case((LARGE, array_of(range(33)))),
    Case((SQUARE, array_of([0, 2, 1]))),
    Case((DEEP, array_of([[0, 4, 1], [2, 0, 3]])), is_needed=False),
)
MASKED = tuple(
    Case((x,), {"mask": mask > 0, "value": 0.5}, is_needed=False)
    for x in RANKED
    for mask in RANKED[: x.ndim + 1]
)
# Stacks of matrices with stacks of others, with one matrix and with a vector.
STACKED = (
    *(
        (a, b if b.ndim == 1 else np.swapaxes(b, -2, -1))
        for a in RANKED[1:]
        for b in RANKED[1:]
    ),
    (SQUARE, _SQUARE_Y),
    (SQUARE[:1], _SQUARE_Y),
    (SQUARE[:1], _SQUARE_Y[:, :1]),
)
# With and without padding; the last of the windows stand where the input ends, or not.
STRIDES: tuple[dict[str, Any], ...] = (
    {"kernel_size": 3, "stride": 2},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 3, "stride": 1, "padding": 1},
    {"kernel_size": 2, "stride": 3},
    {"kernel_size": 2, "stride": 3, "padding": 1},
    {"kernel_size": 3, "stride": 3, "padding": 1},
)


def at_ranks(x: Array) -> tuple[Array, ...]:
    """Return numbers in arrays of rank 0 (twice), 1, 3 and 4.

    Args:
        x: the numbers, at least 10.
    """
    flat = x.reshape(-1)
    others = (np.resize(x, (2, 4, 3)), np.resize(x, (2, 1, 3, 4)))
    return flat[3].reshape(()), flat[9].reshape(()), flat, *others


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


CONVOLVED = (
    *(
        of_layer(1, 2, x=ODD, needed=False, read=("stride", "padding"), **options)
        for options in (
            *STRIDES,
            {"kernel_size": 1, "stride": 2},
            {"kernel_size": 3, "stride": 1, "padding": 2},
        )
    ),
    of_layer(2, 2, 2, x=IMAGE[..., :4], needed=False, read=("stride", "padding")),
)
NORMALIZED = (
    of_layer(7, x=X, read=("eps",)),
    of_layer(41, x=LARGE, read=("eps",)),
    of_layer(7, x=values(3, 7, seed=5, scale=0.005), read=("eps",)),
    of_layer(7, x=X, eps=1.0, needed=False, read=("eps",)),
    *(of_layer(5, x=x, needed=False, read=("eps",)) for x in RANKED[1:]),
    *(of_layer(3, x=x, needed=False, read=("eps",)) for x in (SQUARE, *_THIN[1:])),
)
# Windows without a number that is near 0.
FAR_BELOW = tuple(
    of_layer(2, x=x, about="far below 0", read=("kernel_size", "stride", "padding"))
    for x in (IMAGE * 1e9 - 4e9, IMAGE * 1e3 - 5e3)
)
