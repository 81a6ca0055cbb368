"""References of layers: matrix products and normalisation, in NumPy in float64."""

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

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LAYERS"]

IMAGES = ((4, 3), (2, 1, 5), (3, 4, 3, 2))


def _matmul_cases() -> Iterator[Case]:
    yield case(real((1, 1)), real((1, 1), seed=1))
    yield case(real((2, 3)), real((3, 4)))
    yield case(real((4,)), real((4, 3)))
    yield case(real((3, 4)), real((4,)))
    yield Case((Given(real((4, 3)), lambda a: a.T, "transposed"), Given(real((4, 5)))))
    yield Case((Given(real((3, 4))), Given(real((5, 4)), lambda a: a.T, "transposed")))
    yield case(real((33, 17)), real((17, 40)))
    yield case(real((64, 32)), real((32, 64)))
    yield from _long_products()
    yield from _batched_cases()
    yield case(real((2, 1, 3, 4)), real((3, 4, 5)))
    yield case(real((3, 0)), real((0, 2)))
    yield case(real((2, 3), "float64"), real((3, 4), "float64"))
    yield case(single([[np.nan, 1], [0, 1]]), real((2, 2)))
    zeros, odd = _zeros_opposite()
    yield case(zeros, odd)
    yield case(odd, zeros)


def _long_products() -> Iterator[Case]:
    """Yield lengths beyond 64 that no tile divides, of each axis beyond 1,024 too."""
    yield case(whole((67, 71)), whole((71, 73)))
    yield case(whole((1100, 3)), whole((3, 2)))
    yield case(whole((2, 3)), whole((3, 1100)))
    yield case(whole((2, 140)), whole((140, 5)))
    backwards = Given(real((5, 8)), lambda a: a[::-1, ::2], "backwards")
    yield Case((backwards, Given(real((4, 3)))))


def _batched_cases() -> Iterator[Case]:
    yield case(real((2, 3, 4)), real((2, 4, 5)))
    yield case(real((3, 20, 17)), real((3, 17, 18)))
    zeros, odd = _zeros_opposite()
    yield case(np.stack([zeros, odd]), np.stack([odd, zeros]))


def _zeros_opposite() -> tuple[Any, Any]:
    """Return two matrices, where 0 of the one meets NaN and inf of the other."""
    return single([[0, 2], [1, 0]]), single([[np.nan, np.inf], [3, 4]])


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


def _bytes(array: Any) -> Any:
    return np.abs(array * 10).astype(np.uint8)


def _batch_norm_cases() -> Iterator[Case]:
    for shape in (*IMAGES, (1100, 2), (2, 2, 24, 23)):
        yield case(*_norm_operands(shape, shape[1], 2))
        yield case(*_norm_operands(shape, shape[1], 4))
    yield case(*_norm_operands((4, 3), 3, 2), eps=0.5)
    yield case(*_norm_operands((4, 3), 3, 4), eps=0.5)
    yield case(*map(_bytes, _norm_operands((4, 3), 3, 2)))


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
    yield case(real((1100, 2), seed=1), *_norm_operands((1100, 2), 2, 1))
    for shape in IMAGES:
        x, weight, mean, var = _norm_operands(shape, shape[1], 3)
        grad = real(shape, seed=1)
        yield case(grad, x, weight)
        yield case(grad, x, weight, mean, var, training=False)
    yield case(grad, x, weight, eps=0.5)
    yield case(grad.astype(np.float64), _bytes(x), weight.astype(np.float64))


def _layer_norm(x: Any, weight: Any, bias: Any, eps: float = 1e-5) -> Any:
    root = np.sqrt(x.var(-1, keepdims=True) + eps)
    return (x - x.mean(-1, keepdims=True)) / root * weight + bias


def _layer_norm_cases() -> Iterator[Case]:
    for shape in ((1, 2), (4, 7), (2, 3, 40), (3, 1100), (1100, 7)):
        yield case(*_norm_operands(shape, shape[-1], 2))
    yield case(*_norm_operands((4, 7), 7, 2), eps=0.5)
    yield case(*map(_bytes, _norm_operands((4, 7), 7, 2)))


def _layer_norm_backward(grad: Any, x: Any, weight: Any, eps: float = 1e-5) -> Any:
    root = np.sqrt(x.var(-1, keepdims=True) + eps)
    hat = (x - x.mean(-1, keepdims=True)) / root
    slope = grad * weight
    centred = slope - slope.mean(-1, keepdims=True)
    by_x = (centred - hat * (slope * hat).mean(-1, keepdims=True)) / root
    rest = tuple(range(x.ndim - 1))
    return by_x, (grad * hat).sum(rest), grad.sum(rest)


def _layer_norm_backward_cases() -> Iterator[Case]:
    for shape in ((1, 3), (4, 7), (2, 3, 40), (3, 1100), (1100, 7)):
        yield case(real(shape, seed=1), *_norm_operands(shape, shape[-1], 1))
    x, weight = _norm_operands((4, 7), 7, 1)
    yield case(real((4, 7), seed=1), x, weight, eps=0.5)
    grad = real((4, 7), "float64", seed=1)
    yield case(grad, _bytes(x), weight.astype(np.float64))


LAYERS: dict[str, OpFacts] = {
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
