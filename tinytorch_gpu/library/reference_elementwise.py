"""References of element-wise ops and of ops along an axis: NumPy, in float64."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.library.cases import (
    Case,
    Given,
    OpFacts,
    case,
    pairs,
    real,
    single,
    spread,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ELEMENTWISE"]

# x sigmoid(1.702 x) is TinyTorch's GELU; its constant is a float32.
GELU_SLOPE = float(np.float32(1.702))


def _unary(reference: Callable[..., Any], *limits: float, special: bool = True) -> Any:
    def cases() -> Iterator[Case]:
        for x in spread(*limits, special=special):
            yield Case((x,))
        out = np.zeros((3, 4), np.float32)
        yield case(real((3, 4), low=limits[0] if limits else -3), out=out)

    return OpFacts(_without_out(reference), cases)


def _rounding() -> Any:
    """Halves, and numbers that have no fraction, beside the usual ones."""

    def cases() -> Iterator[Case]:
        yield from _unary(np.rint).cases()
        yield case(single([0.5, 1.5, 2.5, -0.5, -1.5, 2.0**22 + 0.5, 2.0**23 + 1]))
        yield case(np.arange(-3, 4, dtype=np.int32))

    return OpFacts(lambda x, decimals=0, out=None: np.round(x, decimals, out), cases)


def _question(reference: Callable[..., Any]) -> Any:
    return OpFacts(reference, lambda: (Case((x,)) for x in spread()))


def _binary(reference: Callable[..., Any], *limits: float, special: bool = True) -> Any:
    def cases() -> Iterator[Case]:
        for both in pairs(*limits, special=special):
            yield Case(both)

    return OpFacts(_without_out(reference), cases)


def _without_out(reference: Callable[..., Any]) -> Callable[..., Any]:
    def computed(*operands: Any, out: Any = None) -> Any:
        del out
        return reference(*operands)

    return computed


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def _gelu(x: Any) -> Any:
    return x * _sigmoid(GELU_SLOPE * x)


def _gelu_backward(grad: Any, x: Any) -> Any:
    share = _sigmoid(GELU_SLOPE * x)
    return grad * (share + x * GELU_SLOPE * share * (1 - share))


def _backward(reference: Callable[..., Any]) -> Any:
    """Gradients take the output's gradient and what the forward step kept."""

    def cases() -> Iterator[Case]:
        for x in spread(-0.9, 0.9, special=False):
            grad = real(x.base.shape, x.base.dtype.name, seed=1)
            yield Case((Given(grad, x.view, x.note), x))
        yield case(single([1, 2, 3, 4]), single([0.0, -0.0, 0.5, -0.5]))

    return OpFacts(reference, cases)


def _where_cases() -> Iterator[Case]:
    for x, y in pairs():
        shapes = [v.on_host().shape for v in (x, y) if isinstance(v, Given)]
        chosen = np.asarray(real(np.broadcast_shapes(*shapes), seed=3) > 0)
        if not isinstance(x, Given) or x.base.dtype != np.int32:
            yield case(chosen, x, y)


def _clamp_cases() -> Iterator[Case]:
    for x in spread():
        yield Case((x,), {"min": -1.0, "max": 0.5})
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
        grad = Given(real(x.base.shape, x.base.dtype.name, seed=1), x.view, x.note)
        yield Case((grad, x), {"min": -1.0, "max": 0.5})


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
    for shape in ((1, 1), (3, 4), (2, 4, 3), (33, 40), (0, 3)):
        yield case(real(shape))
        yield case(real(shape), diagonal=-1)
    yield Case((Given(real((4, 5)), lambda a: a.T, "transposed"),), {"diagonal": 1})


_positive = partial(_unary, special=False)

ELEMENTWISE: dict[str, OpFacts] = {
    "neg": _unary(np.negative),
    "exp": _unary(np.exp),
    "log": _positive(np.log, 0.1, 5.0),
    "sqrt": _positive(np.sqrt, 0.0, 9.0),
    "abs": _unary(np.abs),
    "square": _unary(np.square),
    "floor": _unary(np.floor),
    "ceil": _unary(np.ceil),
    "trunc": _unary(np.trunc),
    "round": _rounding(),
    "sign": _unary(np.sign),
    "sin": _unary(np.sin),
    "cos": _unary(np.cos),
    "log1p": _positive(np.log1p, -0.9, 5.0),
    "expm1": _unary(np.expm1),
    "reciprocal": _unary(np.reciprocal),
    "relu": _unary(lambda x: np.maximum(x, 0)),
    "sigmoid": _unary(_sigmoid),
    "tanh": _unary(np.tanh),
    "gelu": _positive(_gelu),
    "logical_not": _question(np.logical_not),
    "isfinite": _question(np.isfinite),
    "isnan": _question(np.isnan),
    "add": _binary(np.add),
    "sub": _binary(np.subtract),
    "mul": _binary(np.multiply),
    "div": _binary(np.true_divide, 0.5, 3.0),
    "floor_divide": _binary(np.floor_divide),
    "remainder": _binary(np.remainder),
    "logaddexp": _binary(np.logaddexp),
    "pow": _binary(np.power, 0.5, 3.0, special=False),
    "maximum": _binary(np.maximum),
    "minimum": _binary(np.minimum),
    "gt": _binary(np.greater),
    "ge": _binary(np.greater_equal),
    "lt": _binary(np.less),
    "le": _binary(np.less_equal),
    "eq": _binary(np.equal),
    "ne": _binary(np.not_equal),
    "logical_and": _binary(np.logical_and),
    "logical_or": _binary(np.logical_or),
    "where": OpFacts(np.where, _where_cases),
    "clamp": OpFacts(_clamp, _clamp_cases),
    "clamp_backward": OpFacts(_clamp_backward, _clamp_backward_cases),
    "copy": OpFacts(_copy, _copy_cases),
    "fill": OpFacts(_fill, _fill_cases, mutates=(0,)),
    "masked_fill": OpFacts(_masked_fill, _masked_cases),
    "dropout": OpFacts(_dropout, _dropout_cases),
    "dropout_backward": OpFacts(_dropout, _dropout_cases),
    "tril": OpFacts(lambda x, diagonal=0: np.tril(x, diagonal), _triangle_cases),
    "triu": OpFacts(lambda x, diagonal=0: np.triu(x, diagonal), _triangle_cases),
    "relu_backward": _backward(lambda grad, x: grad * (x > 0)),
    "sigmoid_backward": _backward(lambda grad, y: grad * y * (1 - y)),
    "tanh_backward": _backward(lambda grad, y: grad * (1 - y * y)),
    "gelu_backward": _backward(_gelu_backward),
}
