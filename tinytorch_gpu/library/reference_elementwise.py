"""References of element-wise ops: NumPy, in float64."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.library.cases import Case, Given, OpFacts, case, real, single
from tinytorch_gpu.library.reference_inputs import like, pairs, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ELEMENTWISE"]

# x sigmoid(1.702 x) is TinyTorch's GELU; its constant is a float32.
# Where functions are flat, or steep, and not yet 0, 1 or infinite.
FARTHER = (3.7, 4.2, 5.0, 6.5, 8.0, 13.0, 21.0, 40.0, 80.0)
GELU_SLOPE = float(np.float32(1.702))


def _unary(
    reference: Callable[..., Any],
    *limits: float,
    slack: float = 1.0,
    is_relative: bool = False,
) -> Any:
    def cases() -> Iterator[Case]:
        for x in spread(*limits):
            yield Case((x,))
        yield case(single(FARTHER if limits else (*FARTHER, *(-x for x in FARTHER))))
        yield from _into_out(1)

    return OpFacts(_without_out(reference), cases, (), slack, is_relative)


def _into_out(operands: int) -> Iterator[Case]:
    """Yield calls with an `out` that has gaps, and one that is an operand."""
    arrays = [Given(real((3, 4), low=0.5, seed=i)) for i in range(operands)]
    gaps = Given(np.zeros((8, 3), np.float32), lambda a: a[::2].T, "every second")
    yield Case(tuple(arrays), {"out": gaps})
    yield Case(tuple(arrays), {"out": arrays[0]})


def _rounding() -> Any:
    """Halves, and numbers that have no fraction, beside the usual ones."""

    def cases() -> Iterator[Case]:
        yield from _exact(np.rint).cases()
        yield case(single([0.5, 1.5, 2.5, -0.5, -1.5, 2.0**22 + 0.5, 2.0**23 + 1]))

    def rounded(x: Any, decimals: int = 0, out: Any = None) -> Any:
        del out
        return np.round(x, decimals)

    return OpFacts(rounded, cases, slack=0)


def _question(reference: Callable[..., Any]) -> Any:
    def cases() -> Iterator[Case]:
        for x in spread():
            yield Case((x,))
        yield case(np.array([True, False, True]))

    return OpFacts(reference, cases)


def _binary(
    reference: Callable[..., Any],
    *limits: float,
    slack: float = 1.0,
    is_relative: bool = False,
) -> Any:
    def cases() -> Iterator[Case]:
        for both in pairs(*limits):
            yield Case(both)
        yield from _into_out(2)

    return OpFacts(_without_out(reference), cases, (), slack, is_relative)


def _power() -> Any:
    """Integers have no negative powers in NumPy."""

    def cases() -> Iterator[Case]:
        for both in pairs(0.5, 3.0, special=False):
            yield Case(both)
        yield case(np.array([-3, 2, 5], np.int32), np.array([3, 5, 0], np.int32))
        yield from _into_out(2)

    return OpFacts(_without_out(np.power), cases)


def _compared(reference: Callable[..., Any]) -> Any:
    """Answer with bools, which is why `out` would have to be one of bools."""

    def cases() -> Iterator[Case]:
        for both in pairs():
            yield Case(both)
        out = np.zeros((3, 4), np.bool_)
        yield case(real((3, 4)), real((3, 4), seed=1), out=out)
        yield case(np.array([True, False]), np.array([[True], [False]]))

    return OpFacts(_without_out(reference), cases)


def _without_out(reference: Callable[..., Any]) -> Callable[..., Any]:
    def computed(*operands: Any, out: Any = None) -> Any:
        del out
        return reference(*operands)

    return computed


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def _gelu(x: Any) -> Any:
    """Return x sigmoid(1.702 x); at -inf its limit, 0, as TinyTorch has it."""
    return np.where(np.isneginf(x), 0, x * _sigmoid(GELU_SLOPE * x))


def _gelu_backward(grad: Any, x: Any) -> Any:
    share = _sigmoid(GELU_SLOPE * x)
    return grad * (share + x * GELU_SLOPE * share * (1 - share))


def _backward(reference: Callable[..., Any], slack: float = 1.0) -> Any:
    """Gradients take the output's gradient and what the forward step kept."""

    def cases() -> Iterator[Case]:
        for x in spread(-0.9, 0.9, special=False):
            yield Case((like(x), x))

    return OpFacts(reference, cases, slack=slack)


def _where_cases() -> Iterator[Case]:
    for x, y in pairs():
        shapes = [v.on_host().shape for v in (x, y) if isinstance(v, Given)]
        yield case(np.asarray(real(np.broadcast_shapes(*shapes), seed=3) > 0), x, y)
    yield case(np.array([[True], [False]]), real((2, 3)), real((3,), seed=1))
    yield case(single([-1, 0, 2, 0.5]), real((4,)), real((4,), seed=1))


def _clamp_cases() -> Iterator[Case]:
    for x in spread():
        yield Case((x,), {"min": -1.0, "max": 0.5})
    for given in _into_out(1):
        yield replace(given, parameters={"min": -1.0, "max": 0.5, **given.parameters})
    yield case(real((7,)), min=0.0)
    yield case(real((7,)), max=0.0)


def _clamp(x: Any, min: Any = None, max: Any = None, out: Any = None) -> Any:  # noqa: A002
    del out
    low, high = (-np.inf if min is None else min), (np.inf if max is None else max)
    return np.minimum(np.maximum(x, low), high)


def _clamp_backward(grad: Any, x: Any, min: Any = None, max: Any = None) -> Any:  # noqa: A002
    low, high = (-np.inf if min is None else min), (np.inf if max is None else max)
    return np.where((x >= low) & (x <= high), grad, 0)


def _clamp_backward_cases() -> Iterator[Case]:
    for x in spread(special=False):
        yield Case((like(x), x), {"min": -1.0, "max": 0.5})


def _copy_cases() -> Iterator[Case]:
    for x in spread():
        yield Case((x,))
    yield case(real((5,)), dtype=np.int32)
    yield case(np.arange(5, dtype=np.int32), dtype=np.float32)
    yield case(real((1, 3)), out=np.zeros((4, 3), np.float32))


def _copy(x: Any, dtype: Any = None, out: Any = None) -> Any:
    made = np.asarray(x) if dtype is None else np.asarray(x).astype(dtype)
    return made if out is None else np.broadcast_to(made, out.shape)


def _fill(out: Any, value: float) -> Any:
    out[...] = value
    return out


def _fill_cases() -> Iterator[Case]:
    for x in spread(special=False):
        if x.note != "repeated":  # no array to write into
            yield Case((x, 2.5))


def _masked_cases() -> Iterator[Case]:
    for x in spread():
        yield Case((x, Given(real(x.base.shape, seed=2) > 0, x.view), -9.0))
    yield case(real((3, 4)), real((4,), seed=2) > 0, -9.0)


def _masked_fill(x: Any, mask: Any, value: float) -> Any:
    return np.where(mask, value, x)


def _dropout_cases() -> Iterator[Case]:
    for x in spread(special=False):
        mask = Given(real(x.base.shape, seed=2) > 0, x.view)
        yield Case((x, mask), {"p": 0.25})
    yield case(real((6,)), real((6,), seed=2) > 0)


def _dropout(x: Any, mask: Any, p: float = 0.5) -> Any:
    return np.where(mask, x / (1 - p), 0)


def _triangle_cases() -> Iterator[Case]:
    for shape in ((1, 1), (3, 4), (2, 4, 3), (33, 40), (3, 1100), (1100, 3), (0, 3)):
        yield case(real(shape))
        yield case(real(shape), diagonal=-1)
    yield Case((Given(real((4, 5)), lambda a: a.T, "transposed"),), {"diagonal": 1})
    yield case(single([[np.nan, np.inf], [np.inf, np.nan]]))
    yield case(np.arange(1, 10, dtype=np.int32).reshape(3, 3))
    yield case(real((3, 3), "float64"))


_exact = partial(_unary, slack=0)
_relative = partial(_unary, is_relative=True)
_chosen = partial(_binary, slack=0)

ELEMENTWISE: dict[str, OpFacts] = {
    "neg": _exact(np.negative),
    "exp": _relative(np.exp),
    "log": _unary(np.log, 0.1, 5.0),
    "sqrt": _relative(np.sqrt, 0.0, 9.0),
    "abs": _exact(np.abs),
    "square": _relative(np.square),
    "floor": _exact(np.floor),
    "ceil": _exact(np.ceil),
    "trunc": _exact(np.trunc),
    "round": _rounding(),
    "sign": _exact(np.sign),
    "sin": _unary(np.sin),
    "cos": _unary(np.cos),
    "log1p": _relative(np.log1p, -0.9, 5.0),
    "expm1": _relative(np.expm1),
    "reciprocal": _relative(np.reciprocal),
    "relu": _exact(lambda x: np.maximum(x, 0)),
    "sigmoid": _unary(_sigmoid),
    "tanh": _unary(np.tanh),
    "gelu": _unary(_gelu),
    "logical_not": _question(np.logical_not),
    "isfinite": _question(np.isfinite),
    "isnan": _question(np.isnan),
    "add": _binary(np.add),
    "sub": _binary(np.subtract),
    "mul": _binary(np.multiply, is_relative=True),
    "div": _binary(np.true_divide, 0.5, 3.0, is_relative=True),
    "floor_divide": _binary(np.floor_divide),
    "remainder": _binary(np.remainder),
    "logaddexp": _binary(np.logaddexp),
    "pow": _power(),
    "maximum": _chosen(np.maximum),
    "minimum": _chosen(np.minimum),
    "gt": _compared(np.greater),
    "ge": _compared(np.greater_equal),
    "lt": _compared(np.less),
    "le": _compared(np.less_equal),
    "eq": _compared(np.equal),
    "ne": _compared(np.not_equal),
    "logical_and": _compared(np.logical_and),
    "logical_or": _compared(np.logical_or),
    "where": OpFacts(np.where, _where_cases, slack=0),
    "clamp": OpFacts(_clamp, _clamp_cases, slack=0),
    "clamp_backward": OpFacts(_clamp_backward, _clamp_backward_cases, slack=0),
    "copy": OpFacts(_copy, _copy_cases, slack=0),
    "fill": OpFacts(_fill, _fill_cases, mutates=(0,), slack=0),
    "masked_fill": OpFacts(_masked_fill, _masked_cases, slack=0),
    "dropout": OpFacts(_dropout, _dropout_cases),
    "dropout_backward": OpFacts(_dropout, _dropout_cases),
    "tril": OpFacts(lambda x, diagonal=0: np.tril(x, diagonal), _triangle_cases, (), 0),
    "triu": OpFacts(lambda x, diagonal=0: np.triu(x, diagonal), _triangle_cases, (), 0),
    "relu_backward": _backward(lambda grad, x: np.where(x > 0, grad, 0), slack=0),
    "sigmoid_backward": _backward(lambda grad, y: grad * y * (1 - y)),
    "tanh_backward": _backward(lambda grad, y: grad * (1 - y * y)),
    "gelu_backward": _backward(_gelu_backward),
}
