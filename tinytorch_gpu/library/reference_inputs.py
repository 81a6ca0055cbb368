"""Operands of element-wise ops: all kinds of arrays, alone and in pairs.

Numbers on which functions break stand in arrays of their own: so a report can tell what
all inputs that fail have in common. The lists are the same for all ops; limits keep the
ordinary numbers where a function has values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.library.cases import SEED, Given, real, single

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LONG", "close", "like", "pairs", "spread"]

# One thread, less than a warp, a whole block, more; beyond 16 bits, 65,536 threads, and
# a grid's most blocks along y.
LONG = 70_001
SHAPES: tuple[tuple[int, ...], ...] = ((1,), (7,), (2, 3), (256,), (300,), (64, 64))
# float32: exp is infinite above 88.7, and below -103.9 it is 0
LARGE = (1e4, -1e4, 1e4, 2.0, 88.0, 89.0, -87.0, -88.0, -100.0, -104.0, 3e38, -3e38)
ODD = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5)
# Where functions bend, and steps away from there: the first are subnormal in float32.
BENDS = (0.0, 0.5, 1.0)
STEPS = (0.0, 1e-45, 1e-40, 1e-30, 1e-7, 1e-6, 1e-5, 1e-4, 5e-4, 1e-3, 1e-2, 0.1)
# Each of them meets each as the second operand: what has no value is NaN or infinite.
EXTREME = (*ODD, -2.5, -2.0, -1.0, 1e-40, 0.1, 0.5, 1.0, 3.0, 3e38)


def spread(
    low: float = -3.0, high: float = 3.0, *, special: bool = True
) -> list[Given]:
    """Return operands of all kinds: shapes, strides, empty, long, NaN, float64 ...

    Args:
        low: of the numbers, where they are ordinary.
        high: of the numbers.
        special: NaN, infinite and large numbers too, and integers.
    """
    drawn = _drawn(low, high)
    plain = [Given(drawn(*shape)) for shape in SHAPES]
    strided = [
        Given(drawn(5, 3), lambda a: a.T, "transposed"),
        Given(drawn(9), lambda a: a[::2], "every second"),
        Given(drawn(2, 3, 2, 4), lambda a: a.transpose((2, 0, 3, 1)), "axes moved"),
        Given(drawn(3, 8), lambda a: a[::-1, ::-2], "backwards"),
        Given(drawn(4, 1), lambda a: np.broadcast_to(a, (2, 4, 5)), "repeated"),
        Given(drawn(1100, 3), lambda a: a.T, "transposed"),
    ]
    others = [Given(drawn()), Given(drawn(0)), Given(drawn(LONG))]
    specials = [
        Given(single(ODD), note="with NaN and inf"),
        Given(single(LARGE), note="large"),
        Given(np.array([-3, 2, -1, 1, -2, 5, 3], np.int32)),
    ]
    double = [Given(drawn(6, dtype="float64"))]
    near = [Given(close(), note="close to 0 and 1")]
    return [*plain, *strided, *others, *(specials if special else ()), *near, *double]


def close() -> np.ndarray[Any, Any]:
    """Return numbers around 0, 0.5 and 1, of both signs, as near as float32 has them.

    Example:
        >>> [bool((close() == np.float32(x)).any()) for x in (-5e-4, 0, 0.7)]
        [True, True, False]
    """
    bends = np.array([sign * bend for bend in BENDS for sign in (1, -1)])[:, None]
    steps = np.array([sign * step for step in STEPS for sign in (1, -1)])
    ends = np.array([-np.inf, np.inf], np.float32)
    beside = np.nextafter(single(bends), ends)
    return np.concatenate([single(bends + steps).ravel(), beside.ravel()])


def pairs(
    low: float = -3.0, high: float = 3.0, *, special: bool = True
) -> list[tuple[Any, Any]]:
    """Return pairs of operands: of one shape, broadcasting, and with a scalar.

    Args:
        low: of the numbers, where they are ordinary.
        high: of the numbers.
        special: NaN, infinite and large numbers too, and integers.
    """
    drawn = _drawn(low, high)
    same = [
        (x, Given(_other(x, low, high), x.view, x.note))
        for x in spread(low, high, special=special)
    ]
    near = close()
    first, second = (a.ravel() for a in np.meshgrid(EXTREME, EXTREME))
    return [
        *same,
        (Given(drawn(4, 1)), Given(drawn(5))),
        (Given(drawn(3)), Given(drawn(2, 3, seed=1))),
        (Given(drawn(5, 1, 3)), Given(drawn(4, 1, seed=1))),
        (Given(drawn(130, 1)), Given(drawn(1, 131, seed=1))),
        (Given(drawn(3, 4), lambda a: a.T, "transposed"), Given(drawn(4, 3, seed=1))),
        (Given(drawn(7)), 2.0),
        (1.5, Given(drawn(7))),
        (Given(drawn(4)), Given(drawn(4, dtype="float64"))),
        (Given(near), Given(np.nextafter(near, np.float32(np.inf)), note="the next")),
        (Given(single(first), note="extremes"), Given(single(second), note="likewise")),
    ]


def like(x: Given) -> Given:
    """Return another operand of the same shape, dtype and strides.

    Args:
        x: the operand.
    """
    return Given(real(x.base.shape, x.base.dtype.name, seed=1), x.view, x.note)


def _drawn(low: float, high: float) -> Callable[..., Any]:
    """Return what draws arrays by their lengths, all of numbers in one range."""
    return lambda *shape, **more: real(shape, low=low, high=high, **more)


def _other(x: Given, low: float, high: float) -> Any:
    if x.base.dtype.kind == "i":  # no zero: what a GPU divides by it is any number
        return x.base[::-1].copy()
    return real(x.base.shape, x.base.dtype.name, low=low, high=high, seed=SEED + 1)
