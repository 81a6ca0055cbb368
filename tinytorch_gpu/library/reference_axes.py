"""References of ops along axes: reductions, places, running sums and softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.library.cases import (
    SUMMED,
    Case,
    Given,
    OpFacts,
    case,
    real,
    single,
    whole,
)
from tinytorch_gpu.library.reference_inputs import LONG, like

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["AXES", "log_softmax"]


def _sliced(
    shapes: tuple[tuple[int, ...], ...],
    *,
    drawn: Callable[..., Any] = real,
    **more: Any,
) -> Iterator[Case]:
    """Yield arrays with an axis to work along; `more` names the parameter."""
    (name,) = more
    for shape in shapes:
        for axis in range(-1, len(shape) - 1):
            yield case(drawn(shape), **{name: axis})
    yield Case((Given(drawn((33, 5)), lambda a: a.T, "transposed"),), {name: -1})
    backwards = Given(drawn((6, 80)), lambda a: a[::-1, ::-2], "backwards")
    yield Case((backwards,), {name: -1})
    yield case(drawn((4, 5), "float64"), **{name: 0})


def _reduction_cases(
    *, empty: bool, drawn: Callable[..., Any] = real, long: Any = None
) -> Callable[[], Iterator[Case]]:
    def cases() -> Iterator[Case]:
        shapes = ((1,), (7,), (2, 3), (3, 40), (5, 3, 4))
        yield from _sliced(shapes, drawn=drawn, axis=0)
        yield case(drawn((3, 4)))
        for axis in (0, None, (0, 1)):
            yield case(drawn((3, 4)), axis=axis, keepdims=True)
        for axes in ((0, 2), (-1, 0), (-3, -2)):
            yield case(drawn((2, 3, 4)), axis=axes)
        yield case(np.array([3, -1, 2, -4, 1, -2], np.int32), axis=0)
        yield case(np.array([[True, False], [True, True]]), axis=1)
        yield case(single([1, np.nan, 2]), axis=0)
        yield case(single([[-3, -np.inf], [np.inf, 1]]), axis=1)
        apart = np.abs(drawn((2, 40))) + 1  # no maximum starts at a sum's 0
        yield case(apart * single([[-1], [1]]), axis=1)
        yield case(single([[0, np.nan], [np.inf, 0]]), axis=1)  # 0 settles no product
        yield from _long_cases(whole if long is None else long)
        yield case(drawn((), "float32"))
        yield case(drawn((0, 3)), axis=1)
        if empty:
            yield case(drawn((3, 0)), axis=1)

    return cases


def _long_cases(drawn: Callable[..., Any]) -> Iterator[Case]:
    """Yield more elements than the threads of one grid, of one block, of one warp."""
    yield case(drawn((LONG,)), axis=0)
    yield case(drawn((3, 1100)), axis=1)
    yield case(drawn((1100, 3)), axis=1)
    yield case(drawn((5, 1100)), axis=0)


# No maximum and no minimum may start at a number: both rows of each kind are beyond it.
FAR = ((-2e38, -1e38), (2e38, 1e38), (-np.inf, -3e38), (np.inf, 3e38))
ENDLESS = ((-np.inf, -np.inf), (np.inf, np.inf))


def _far_cases() -> Iterator[Case]:
    """Yield rows entirely of very large, very small and infinite numbers."""
    yield case(single(FAR), axis=1)
    yield case(single(ENDLESS), axis=1)
    yield case(np.array([[-(2**31)] * 2, [2**31 - 1] * 2], np.int32), axis=1)


def _extremum_cases() -> Iterator[Case]:
    yield from _reduction_cases(empty=False)()
    yield case(real((30,), low=-1e4, high=1e4), axis=0)
    yield from _far_cases()


def _total_cases() -> Iterator[Case]:
    yield from _reduction_cases(empty=True)()
    yield case(real((30,), low=-1e4, high=1e4), axis=0)
    yield case(np.full((3,), 2**31 - 1, np.int32), axis=0)


def _near_one(shape: Sequence[int], dtype: str = "float32") -> Any:
    """Draw factors whose products neither overflow nor vanish, some negative."""
    signs = np.sign(real(shape, dtype, seed=1))
    return np.asarray(real(shape, dtype, low=0.9, high=1.1) * signs)


def _signs(shape: Sequence[int]) -> Any:
    """Draw 1 and -1, whose products are exact, with a 2 and a 4 at the end."""
    signs = np.sign(real(shape))
    signs.reshape(-1)[-2:] = (2, 4)
    return signs


def _place_cases() -> Iterator[Case]:
    yield from _sliced(((1,), (7,), (2, 3), (3, 40), (5, 3, 4)), axis=0)
    yield case(real((3, 4)))
    yield case(real((3, 4)), axis=1, keepdims=True)
    yield case(single([1, 3, 3, 2, 1]), axis=0)  # the first of equals
    yield case(single([1, np.nan, 2, np.nan]), axis=0)
    yield case(single([[-3, -np.inf], [np.inf, 1]]), axis=1)
    yield case(real((2, 40), low=1, high=9) * single([[-1], [1]]), axis=1)
    yield case(np.array([2, -5, 7, 7, -5], np.int32), axis=0)
    yield from _far_cases()
    yield from _long_cases(whole)


def _scan_cases() -> Iterator[Case]:
    yield from _sliced(((1,), (7,), (2, 3), (3, 40)), dim=0)
    yield case(np.arange(6, dtype=np.int32))
    yield case(np.full((3,), 2**31 - 1, np.int32))
    yield case(np.array([True, False, True]))
    yield case(single([1, np.nan, 2, np.inf]))
    yield case(single([-np.inf, -2e38, np.inf, 0]))
    yield case(whole((4097,)))
    yield case(whole((1100, 3)), dim=1)
    yield case(real((0,)))


def _softmax_cases() -> Iterator[Case]:
    yield from _sliced(((1,), (7,), (2, 3), (3, 40), (2, 3, 40)), dim=0)
    yield case(single([[1000.0, 1000.0, 999.0], [-1000.0, 0.0, 1.0]]))
    yield case(single([[-200.0, -201.0, -199.0], [-1.0, 0.0, 1.0]]))
    yield case(single([[np.nan, 1.0], [-np.inf, 1.0]]))
    yield case(single(FAR[:2]))
    yield case(single(ENDLESS[1:]))  # all of -inf may be 0 or NaN
    yield case(np.array([[3, 9, 5]], np.uint8))
    yield case(real((140, 2)), dim=0)
    yield case(real((3, 1100)))
    yield case(real((1100, 3)))
    yield case(real((2, 1100)), dim=0)
    yield case(single([np.arange(1100) / 4]))  # the largest one is the last
    yield case(real((0, 3)))


def _softmax(x: Any, dim: int = -1) -> Any:
    x = np.asarray(x, np.float64)
    shifted = np.exp(x - x.max(dim, keepdims=True, initial=-np.inf))
    return shifted / shifted.sum(dim, keepdims=True)


def log_softmax(x: Any, dim: int = -1) -> Any:
    """Return the logarithms of softmax along an axis.

    Args:
        x: array of numbers.
        dim: the axis.

    Example:
        >>> log_softmax(np.zeros(1)).tolist()
        [0.0]
    """
    x = np.asarray(x, np.float64)
    shifted = x - x.max(dim, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(dim, keepdims=True))


def _softmax_backward_cases() -> Iterator[Case]:
    for given in _sliced(((1,), (7,), (2, 3), (3, 40), (2, 3, 40)), dim=0):
        (x,) = given.operands
        yield Case((like(x), x), given.parameters)
    for shape in ((3, 1100), (1100, 3)):
        yield case(real(shape, seed=1), real(shape, low=-9, high=0))


def _softmax_backward(grad: Any, output: Any, dim: int = -1) -> Any:
    return output * (grad - (grad * output).sum(dim, keepdims=True))


def _log_softmax_backward(grad: Any, output: Any, dim: int = -1) -> Any:
    return grad - np.exp(output) * grad.sum(dim, keepdims=True)


AXES: dict[str, OpFacts] = {
    "sum": OpFacts(np.sum, _total_cases, slack=SUMMED),
    "prod": OpFacts(
        np.prod,
        _reduction_cases(empty=True, drawn=_near_one, long=_signs),
        slack=SUMMED,
    ),
    "mean": OpFacts(np.mean, _total_cases, slack=SUMMED),
    "max": OpFacts(np.max, _extremum_cases, slack=0),
    "min": OpFacts(np.min, _extremum_cases, slack=0),
    "argmax": OpFacts(np.argmax, _place_cases),
    "argmin": OpFacts(np.argmin, _place_cases),
    "cumsum": OpFacts(lambda x, dim=0: np.cumsum(x, dim), _scan_cases, slack=SUMMED),
    "softmax": OpFacts(_softmax, _softmax_cases),
    "log_softmax": OpFacts(log_softmax, _softmax_cases),
    "softmax_backward": OpFacts(
        _softmax_backward, _softmax_backward_cases, slack=SUMMED
    ),
    "log_softmax_backward": OpFacts(
        _log_softmax_backward, _softmax_backward_cases, slack=SUMMED
    ),
}
