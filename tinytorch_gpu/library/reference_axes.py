"""References of ops along axes: reductions, softmax, matrix products, normalisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.library.cases import SUMMED, Case, Given, OpFacts, case, real, single

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
    yield Case(
        (Given(drawn((4, 80)), lambda a: a[:, ::2], "every second"),), {name: -1}
    )
    yield case(drawn((4, 5), "float64"), **{name: 0})


def _reduction_cases(
    *, empty: bool, drawn: Callable[..., Any] = real
) -> Callable[[], Iterator[Case]]:
    def cases() -> Iterator[Case]:
        shapes = ((1,), (7,), (2, 3), (3, 40), (5, 3, 4))
        yield from _sliced(shapes, drawn=drawn, axis=0)
        yield case(drawn((3, 4)))
        yield case(drawn((3, 4)), axis=0, keepdims=True)
        yield case(drawn((2, 3, 4)), axis=(0, 2))
        yield case(np.arange(6, dtype=np.int32), axis=0)
        yield case(np.array([1, np.nan, 2], np.float32), axis=0)
        yield case(drawn((5000,)), axis=0)
        yield case(drawn((), "float32"))
        yield case(drawn((0, 3)), axis=1)
        if empty:
            yield case(drawn((3, 0)), axis=1)

    return cases


def _large_too(*, empty: bool) -> Callable[[], Iterator[Case]]:
    def cases() -> Iterator[Case]:
        yield from _reduction_cases(empty=empty)()
        yield case(real((300,), low=-1e4, high=1e4), axis=0)

    return cases


def _reduction(function: Callable[..., Any], *, empty: bool) -> OpFacts:
    return OpFacts(function, _large_too(empty=empty), slack=SUMMED)


def _near_one(shape: Sequence[int], dtype: str = "float32") -> Any:
    """Draw factors whose products neither overflow nor vanish, some negative."""
    signs = np.sign(real(shape, dtype, seed=1))
    return np.asarray(real(shape, dtype, low=0.9, high=1.1) * signs)


def _place_cases() -> Iterator[Case]:
    yield from _sliced(((1,), (7,), (2, 3), (3, 40), (5, 3, 4)), axis=0)
    yield case(real((3, 4)))
    yield case(real((3, 4)), axis=1, keepdims=True)
    yield case(single([1, 3, 3, 2]), axis=0)  # the first of equals
    yield case(single([1, np.nan, 2]), axis=0)
    yield case(real((300,)), axis=0)


def _scan_cases() -> Iterator[Case]:
    yield from _sliced(((1,), (7,), (2, 3), (3, 40)), dim=0)
    yield case(np.arange(6, dtype=np.int32))
    yield case(real((300,)))
    yield case(real((0,)))


def _softmax_cases() -> Iterator[Case]:
    yield from _sliced(((1,), (7,), (2, 3), (3, 40), (2, 3, 40)), dim=0)
    yield case(single([[1000.0, 1000.0, 999.0], [-1000.0, 0.0, 1.0]]))
    yield case(single([[np.nan, 1.0], [0.0, 1.0]]))
    yield case(real((300, 2)), dim=0)
    yield case(real((2, 300)))
    yield case(real((0, 3)))


def _softmax(x: Any, dim: int = -1) -> Any:
    shifted = np.exp(x - x.max(dim, keepdims=True, initial=-np.inf))
    return shifted / shifted.sum(dim, keepdims=True)


def log_softmax(x: Any, dim: int = -1) -> Any:
    """Return the logarithms of softmax along an axis.

    Args:
        x: float64 array.
        dim: the axis.

    Example:
        >>> log_softmax(np.zeros(1)).tolist()
        [0.0]
    """
    shifted = x - x.max(dim, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(dim, keepdims=True))


def _softmax_backward_cases() -> Iterator[Case]:
    for given in _sliced(((1,), (7,), (2, 3), (3, 40), (2, 3, 40)), dim=0):
        (x,) = given.operands
        grad = Given(real(x.base.shape, x.base.dtype.name, seed=1), x.view, x.note)
        yield Case((grad, x), given.parameters)


def _softmax_backward(grad: Any, output: Any, dim: int = -1) -> Any:
    return output * (grad - (grad * output).sum(dim, keepdims=True))


def _log_softmax_backward(grad: Any, output: Any, dim: int = -1) -> Any:
    return grad - np.exp(output) * grad.sum(dim, keepdims=True)


def _matmul_cases() -> Iterator[Case]:
    yield case(real((1, 1)), real((1, 1), seed=1))
    yield case(real((2, 3)), real((3, 4)))
    yield case(real((4,)), real((4, 3)))
    yield case(real((3, 4)), real((4,)))
    yield Case((Given(real((4, 3)), lambda a: a.T, "transposed"), Given(real((4, 5)))))
    yield Case((Given(real((3, 4))), Given(real((5, 4)), lambda a: a.T, "transposed")))
    yield case(real((33, 17)), real((17, 40)))
    yield case(real((64, 32)), real((32, 48)))
    yield from _batched_cases()
    yield case(real((3, 0)), real((0, 2)))
    yield case(real((2, 3), "float64"), real((3, 4), "float64"))
    yield case(single([[np.nan, 1], [0, 1]]), real((2, 2)))


def _batched_cases() -> Iterator[Case]:
    yield case(real((2, 3, 4)), real((2, 4, 5)))
    yield case(real((3, 20, 17)), real((3, 17, 18)))


def _by_channel(v: Any, ndim: int) -> Any:
    return v.reshape(-1, *[1] * (ndim - 2))


def _channel_statistics(x: Any) -> Any:
    axes = tuple(i for i in range(x.ndim) if i != 1)
    return axes, x.mean(axes), x.var(axes)


def _batch_norm(
    x: Any, weight: Any, bias: Any, mean: Any = None, var: Any = None, eps: Any = 1e-5
) -> Any:
    _, own_mean, own_var = _channel_statistics(x)
    mean, var = (own_mean, own_var) if mean is None else (mean, var)
    weight, bias, mean, var = (
        _by_channel(v, x.ndim) for v in (weight, bias, mean, var)
    )
    return (x - mean) / np.sqrt(var + eps) * weight + bias


def _norm_operands(shape: tuple[int, ...], features: int, count: int) -> list[Any]:
    more = [real((features,), low=0.5, high=2, seed=s) for s in range(2, 2 + count)]
    return [real(shape), *more]


def _batch_norm_cases() -> Iterator[Case]:
    for shape in ((4, 3), (2, 1, 5), (3, 4, 3, 2), (40, 2)):
        yield case(*_norm_operands(shape, shape[1], 2))
        yield case(*_norm_operands(shape, shape[1], 4))


def _batch_norm_backward(
    grad: Any,
    x: Any,
    weight: Any,
    mean: Any = None,
    var: Any = None,
    eps: Any = 1e-5,
    training: bool = True,
) -> Any:
    axes, own_mean, own_var = _channel_statistics(x)
    mean, var = (own_mean, own_var) if mean is None else (mean, var)
    root = _by_channel(np.sqrt(var + eps), x.ndim)
    hat = (x - _by_channel(mean, x.ndim)) / root
    by_x = grad.copy()
    if training:
        centred = grad - grad.mean(axes, keepdims=True)
        by_x = centred - hat * (grad * hat).mean(axes, keepdims=True)
    by_x = by_x * _by_channel(weight, x.ndim) / root
    return by_x, (grad * hat).sum(axes), grad.sum(axes)


def _batch_norm_backward_cases() -> Iterator[Case]:
    for shape in ((4, 3), (2, 1, 5), (3, 4, 3, 2), (40, 2)):
        x, weight, mean, var = _norm_operands(shape, shape[1], 3)
        grad = real(shape, seed=1)
        yield case(grad, x, weight)
        yield case(grad, x, weight, mean, var, training=False)


def _layer_norm(x: Any, weight: Any, bias: Any, eps: float = 1e-5) -> Any:
    root = np.sqrt(x.var(-1, keepdims=True) + eps)
    return (x - x.mean(-1, keepdims=True)) / root * weight + bias


def _layer_norm_cases() -> Iterator[Case]:
    for shape in ((1, 2), (4, 7), (2, 3, 40), (3, 300)):
        yield case(*_norm_operands(shape, shape[-1], 2))


def _layer_norm_backward(grad: Any, x: Any, weight: Any, eps: float = 1e-5) -> Any:
    root = np.sqrt(x.var(-1, keepdims=True) + eps)
    hat = (x - x.mean(-1, keepdims=True)) / root
    slope = grad * weight
    centred = slope - slope.mean(-1, keepdims=True)
    by_x = (centred - hat * (slope * hat).mean(-1, keepdims=True)) / root
    rest = tuple(range(x.ndim - 1))
    return by_x, (grad * hat).sum(rest), grad.sum(rest)


def _layer_norm_backward_cases() -> Iterator[Case]:
    for shape in ((1, 3), (4, 7), (2, 3, 40), (3, 300)):
        yield case(real(shape, seed=1), *_norm_operands(shape, shape[-1], 1))


AXES: dict[str, OpFacts] = {
    "sum": _reduction(np.sum, empty=True),
    "prod": OpFacts(
        np.prod, _reduction_cases(empty=True, drawn=_near_one), slack=SUMMED
    ),
    "mean": _reduction(np.mean, empty=True),
    "max": _reduction(np.max, empty=False),
    "min": _reduction(np.min, empty=False),
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
    "matmul": OpFacts(np.matmul, _matmul_cases, slack=SUMMED),
    "bmm": OpFacts(np.matmul, _batched_cases, slack=SUMMED),
    "batch_norm": OpFacts(_batch_norm, _batch_norm_cases, slack=SUMMED),
    "batch_norm_backward": OpFacts(
        _batch_norm_backward, _batch_norm_backward_cases, slack=SUMMED
    ),
    "layer_norm": OpFacts(_layer_norm, _layer_norm_cases, slack=SUMMED),
    "layer_norm_backward": OpFacts(
        _layer_norm_backward, _layer_norm_backward_cases, slack=SUMMED
    ),
}
