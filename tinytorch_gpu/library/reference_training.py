"""References of losses, attention and optimizers: NumPy, in float64."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.library.cases import SUMMED, Case, Given, OpFacts, case, real, single
from tinytorch_gpu.library.reference_axes import log_softmax
from tinytorch_gpu.library.reference_inputs import LONG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["TRAINING"]


def _loss_cases() -> Iterator[Case]:
    for rows, classes in ((1, 2), (4, 3), (7, 40), (1100, 3), (2, 1100)):
        targets = np.arange(rows) * 7 % classes
        yield case(real((rows, classes)), targets)
    yield case(single([[1000, 999], [-1000, 0]]), single([0, 1]))
    logits = Given(real((5, 4)), lambda a: a.T, "transposed")
    yield Case((logits, Given(np.array([0, 4, 2, 1]))))
    yield case(real((3, 4), "float64"), np.array([0, 3, 1]))
    yield case(np.array([[3, 9, 5]], np.uint8), np.array([2]))
    far = single([[-2e38, -2e38], [2e38, 2e38]])  # no maximum starts at a number
    yield case(far, np.array([0, 1]))


def _cross_entropy(logits: Any, targets: Any) -> Any:
    rows = np.arange(len(logits))
    return -log_softmax(logits)[rows, targets.astype(int)].mean()


def _cross_entropy_backward(grad: Any, logits: Any, targets: Any) -> Any:
    hot = np.eye(logits.shape[1])[targets.astype(int)]
    return (np.exp(log_softmax(logits)) - hot) * grad / len(logits)


def _loss_backward_cases() -> Iterator[Case]:
    for given in _loss_cases():
        dtype = np.result_type(given.operands[0].base, np.float32)
        yield Case((Given(np.full((), 0.5, dtype)), *given.operands))


def _attention_operands(
    batch: tuple[int, ...], queries: int, keys: int, dtype: str = "float32"
) -> list[Any]:
    shapes = ((queries, 4), (keys, 4), (keys, 3))
    return [real((*batch, *s), dtype, seed=i) for i, s in enumerate(shapes)]


def _attention_cases(*, backward: bool) -> Iterator[Case]:
    sizes = (((), 1, 1), ((), 5, 7), ((2, 3), 4, 4), ((), 67, 130))
    for number, (batch, queries, keys) in enumerate(sizes):
        operands = _attention_operands(batch, queries, keys)
        mask = [real((queries, keys), seed=9) > -1] if number % 2 else []
        grad = [real((*batch, queries, 3), seed=5)] if backward else []
        yield case(*grad, *operands, *mask, scale=None if mask else 0.1)
    grad = [real((2, 6, 70), seed=5)] if backward else []
    shapes = ((2, 6, 70), (2, 5, 70), (2, 5, 70))
    yield case(*grad, *(real(s, seed=i) for i, s in enumerate(shapes)))
    grad = [real((5, 3), "float64", seed=5)] if backward else []
    yield case(*grad, *_attention_operands((), 5, 7, "float64"))
    if not backward:
        yield case(*_attention_operands((2,), 4, 6), version="decomposed")


def _weights(q: Any, k: Any, mask: Any, scale: Any) -> tuple[Any, Any]:
    scale = 1 / np.sqrt(q.shape[-1]) if scale is None else scale
    seen = 1.0 if mask is None else (np.asarray(mask) != 0) * 1.0
    scores = q @ k.swapaxes(-1, -2) * scale
    top = np.where(seen, scores, -np.inf).max(-1, keepdims=True)
    raised = np.exp(scores - np.where(np.isfinite(top), top, 0)) * seen
    total = raised.sum(-1, keepdims=True)
    return raised / np.where(total == 0, 1, total), scale


def _attention(
    q: Any, k: Any, v: Any, mask: Any = None, scale: Any = None, version: str = ""
) -> Any:
    del version
    return _weights(q, k, mask, scale)[0] @ v


def _attention_backward(
    grad: Any, q: Any, k: Any, v: Any, mask: Any = None, scale: Any = None
) -> Any:
    weights, number = _weights(q, k, mask, scale)
    by_weights = grad @ v.swapaxes(-1, -2)
    inner = by_weights - (by_weights * weights).sum(-1, keepdims=True)
    by_scores = weights * inner * number
    by_k = by_scores.swapaxes(-1, -2) @ q
    return by_scores @ k, by_k, weights.swapaxes(-1, -2) @ grad


def _sgd_cases() -> Iterator[Case]:
    for shape in ((1,), (7,), (5, 40), (LONG,)):
        param, grad, buffer = (real(shape, seed=s) for s in range(3))
        yield case(param, grad, lr=0.1)
        more = {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}
        yield case(param, grad, buffer, **more)


def _sgd(
    param: Any,
    grad: Any,
    buffer: Any = None,
    lr: float = 0.01,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
) -> Any:
    slope = grad + weight_decay * param
    if buffer is not None:
        buffer[...] = slope = momentum * buffer + slope
    param[...] = param - lr * slope
    return param


def _adam_cases() -> Iterator[Case]:
    for shape in ((1,), (7,), (LONG,)):
        param, grad, m = (real(shape, seed=s) for s in range(3))
        v = real(shape, low=0.1, high=1, seed=3)
        yield case(param, grad, m, v, step=1, lr=0.1)
        yield case(param, grad, m, v, step=3, lr=0.1, weight_decay=0.05)
        others = {"beta1": 0.7, "beta2": 0.9, "eps": 0.1}
        yield case(param, grad, m, v, step=2, lr=0.1, **others)


def _adam(shrinks: bool) -> Callable[..., Any]:
    def step_of(
        param: Any,
        grad: Any,
        m: Any,
        v: Any,
        step: int,
        lr: float,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float | None = None,
    ) -> Any:
        decay = (0.01 if shrinks else 0.0) if weight_decay is None else weight_decay
        slope = grad if shrinks else grad + decay * param
        m[...] = beta1 * m + (1 - beta1) * slope
        v[...] = beta2 * v + (1 - beta2) * slope * slope
        hat = m / (1 - beta1**step)
        root = np.sqrt(v / (1 - beta2**step)) + eps
        param[...] = param * (1 - lr * decay * shrinks) - lr * hat / root
        return param

    return step_of


TRAINING: dict[str, OpFacts] = {
    "cross_entropy": OpFacts(_cross_entropy, _loss_cases, slack=SUMMED),
    "cross_entropy_backward": OpFacts(_cross_entropy_backward, _loss_backward_cases),
    "scaled_dot_product_attention": OpFacts(
        _attention, partial(_attention_cases, backward=False), slack=SUMMED
    ),
    "scaled_dot_product_attention_backward": OpFacts(
        _attention_backward, partial(_attention_cases, backward=True), slack=SUMMED
    ),
    "fused_sgd": OpFacts(_sgd, _sgd_cases, mutates=(0, 2)),
    "fused_adam": OpFacts(_adam(shrinks=False), _adam_cases, mutates=(0, 2, 3)),
    "fused_adamw": OpFacts(_adam(shrinks=True), _adam_cases, mutates=(0, 2, 3)),
}
