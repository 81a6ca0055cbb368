"""What each op means that a kernel may answer for, and what it is tried on.

A learner's class has the name of an op; that it computes the op is another matter. Each
op has a formula for the reports, the same in NumPy, and inputs on which the learner's
own code must give what the formula gives.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.library.references import OPS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MEANINGS", "Edge", "Meaning", "Trial"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Trial:
    """One input for the learner's code.

    Args:
        arrays: the operands, float32.
        parameters: what the op takes by name.
        layer: the arguments of the layer's constructor, for an op that a layer calls;
            its parameters are operands, too.
        is_needed: an error of the learner's code counts as a difference.
        is_eval: the layer is switched to `eval()` first.
        read: what the op takes by name of the layer.
    """

    arrays: tuple[Array, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    layer: tuple[tuple[Any, ...], dict[str, Any]] | None = None
    is_needed: bool = True
    is_eval: bool = False
    read: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edge:
    """A value at infinity on which packages differ: a parameter of the shipped kernel.

    Args:
        array: the input.
        parameter: the kernel's name for what it gives there, 0 unless said.
    """

    array: Array
    parameter: str


@dataclass(frozen=True)
class Meaning:
    """What an op computes.

    Args:
        formula: for reports.
        reference: the same in NumPy, of the operands and the parameters.
        trials: what the learner's code is tried on.
        layer: the class of the layer that calls the op, if only a layer can.
        learned: how many operands have a gradient, from the first on.
        is_by_weights: the gradient is by the layer's parameters only.
        gradient: of the gradient and the operands; found by differences if None.
        edge: where packages differ.
    """

    formula: str
    reference: Callable[..., Any]
    trials: tuple[Trial, ...]
    layer: str = ""
    learned: int = 9
    is_by_weights: bool = False
    gradient: Callable[..., tuple[Array, ...]] | None = None
    edge: Edge | None = None


def _array(values: Any) -> Array:
    return np.asarray(values, np.float32)


def _values(*shape: int, seed: int = 0, scale: float = 1.0) -> Array:
    drawn = np.random.default_rng(seed).uniform(-2.0, 2.0, shape) * scale
    return drawn.astype(np.float32)


X, Y, ROW = _values(3, 4), _values(3, 4, seed=1), _values(4, seed=2)
SIGNS = _array([[-20.0, -2.0, -0.5, 0.0], [0.3, 1.0, 2.5, 20.0]])
ABOVE = np.abs(X) + np.float32(0.1)
IMAGE = _values(2, 2, 5, 5, seed=3)
EQUAL = _array(np.indices((1, 1, 4, 4)).sum(0) // 2)  # with equal largest ones
BLANK = _array([[-np.inf, -np.inf], [0.0, 1.0]])
_REDUCED = tuple(
    Trial((X,), {"axis": axis, "keepdims": keepdims})
    for axis, keepdims in ((None, False), (0, False), (1, True))
)
_ALONG = (Trial((X,), {"dim": -1}), Trial((X,), {"dim": 0}))


def _shipped(op: str) -> Callable[..., Any]:
    """Return an op as NumPy computes it."""
    found: Callable[..., Any] = OPS[f"tinytorch::{op}"].reference
    return found


def _relu_gradient(grad: Array, x: Array) -> tuple[Array, ...]:
    return (_shipped("relu_backward")(grad, x),)


def _max_pool2d_gradient(grad: Array, x: Array, **window: Any) -> tuple[Array, ...]:
    """Give each window's gradient to the first of its largest elements."""
    _, places = _shipped("max_pool2d_with_indices")(x, **window)
    return (_shipped("max_pool2d_with_indices_backward")(grad, places, x.shape),)


def _filled(x: Array, mask: Array, value: float) -> Array:
    return np.asarray(_shipped("masked_fill")(x, mask, value))


def _embedded(indices: Array, weight: Array) -> Array:
    return np.asarray(_shipped("embedding")(weight, indices.astype(int)))


def _unary(formula: str, reference: Callable[..., Any], x: Array) -> Meaning:
    return Meaning(formula, reference, (Trial((x,)),))


def _binary(formula: str, reference: Callable[..., Any], y: Array = Y) -> Meaning:
    return Meaning(formula, reference, (Trial((X, y)), Trial((X, y[:1]))))


def _reduction(name: str, reference: Callable[..., Any]) -> Meaning:
    return Meaning(f"{name}(x, axis, keepdims)", reference, _REDUCED)


def _of_layer(
    *arguments: Any,
    x: Array = IMAGE,
    needed: bool = True,
    read: tuple[str, ...] = (),
    **options: Any,
) -> Trial:
    return Trial((x,), layer=(arguments, options), is_needed=needed, read=read)


_WINDOW = ("kernel_size", "stride", "padding")
_POOLED = (
    _of_layer(2, read=_WINDOW),
    _of_layer(2, x=EQUAL, read=_WINDOW),
    _of_layer(2, stride=1, needed=False, read=_WINDOW),
    _of_layer(2, padding=1, needed=False, read=_WINDOW),
)
MEANINGS: dict[str, Meaning] = {
    "add": _binary("a + b", _shipped("add")),
    "sub": _binary("a - b", _shipped("sub")),
    "mul": _binary("a * b", _shipped("mul")),
    "div": _binary("a / b", _shipped("div"), ABOVE),
    "matmul": Meaning(
        "a @ b",
        _shipped("matmul"),
        (
            Trial((X, Y.T)),
            Trial((_values(2, 3, 4), _values(2, 4, 2, seed=4)), is_needed=False),
            Trial((X, ROW), is_needed=False),
            Trial((ROW, Y.T), is_needed=False),
        ),
    ),
    "slice": Meaning(
        "x[key]",
        lambda x, key: x[key],
        (Trial((X,), {"key": (slice(1, None), 2)}), Trial((X,), {"key": 1})),
    ),
    "copy": _unary("x", _shipped("copy"), X),
    "sum": _reduction("sum", _shipped("sum")),
    "mean": _reduction("mean", _shipped("mean")),
    "max": _reduction("max", _shipped("max")),
    "min": _reduction("min", _shipped("min")),
    "masked_fill": Meaning(
        "value where mask, else x",
        _filled,
        (Trial((X,), {"mask": X > 0, "value": -3.0}),),
    ),
    "exp": _unary("exp(x)", _shipped("exp"), X),
    "log": _unary("log(x)", _shipped("log"), ABOVE),
    "sqrt": _unary("sqrt(x)", _shipped("sqrt"), ABOVE),
    "abs": _unary("|x|", _shipped("abs"), SIGNS),
    "neg": _unary("-x", _shipped("neg"), X),
    "square": _unary("x * x", _shipped("square"), X),
    "sigmoid": _unary("1 / (1 + exp(-x))", _shipped("sigmoid"), SIGNS),
    "relu": Meaning(
        "max(x, 0)",
        _shipped("relu"),
        (Trial((SIGNS,)),),
        gradient=_relu_gradient,
    ),
    "tanh": _unary("tanh(x)", _shipped("tanh"), SIGNS),
    "gelu": Meaning(
        "x * sigmoid(1.702x)",
        _shipped("gelu"),
        (Trial((SIGNS,)),),
        edge=Edge(_array([[-np.inf, 1.0]]), "at_minus_inf"),
    ),
    "softmax": Meaning(
        "exp(x) / sum(exp(x))",
        _shipped("softmax"),
        _ALONG,
        edge=Edge(BLANK, "of_blank"),
    ),
    "log_softmax": Meaning("x - log(sum(exp(x)))", _shipped("log_softmax"), _ALONG),
    "cross_entropy": Meaning(
        "mean(-log_softmax(x)[target])",
        _shipped("cross_entropy"),
        (Trial((X, _array([0, 3, 1]))),),
        learned=1,
    ),
    "embedding": Meaning(
        "weight[indices]",
        _embedded,
        (_of_layer(5, 3, x=_array([[1, 3], [1, 0]])),),
        layer="Embedding",
        is_by_weights=True,
    ),
    "conv2d": Meaning(
        "sums of windows times weight, plus bias",
        _shipped("conv2d"),
        (
            _of_layer(2, 3, 2, read=_WINDOW[1:]),
            _of_layer(2, 3, 3, stride=2, padding=1, needed=False, read=_WINDOW[1:]),
        ),
        layer="Conv2d",
    ),
    "max_pool2d": Meaning(
        "the largest of each window",
        _shipped("max_pool2d"),
        _POOLED,
        layer="MaxPool2d",
        gradient=_max_pool2d_gradient,
    ),
    "avg_pool2d": Meaning(
        "the mean of each window", _shipped("avg_pool2d"), _POOLED, layer="AvgPool2d"
    ),
    "layer_norm": Meaning(
        "(x - mean) / sqrt(var + eps) * gamma + beta, var divided by n",
        _shipped("layer_norm"),
        (
            _of_layer(4, x=X, read=("eps",)),
            _of_layer(4, x=_values(3, 4, seed=5, scale=0.005), read=("eps",)),
        ),
        layer="LayerNorm",
    ),
    "batch_norm": Meaning(
        "(x - mean) / sqrt(var + eps) * gamma + beta, by channel",
        _shipped("batch_norm"),
        (
            _of_layer(2, read=("eps",)),
            _of_layer(2, x=IMAGE * np.float32(0.005), read=("eps",)),
            replace(_of_layer(2, needed=False, read=("eps",)), is_eval=True),
        ),
        layer="BatchNorm2d",
    ),
}
