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

__all__ = ["MEANINGS", "Case", "Edge", "Meaning"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Case:
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
        op: its name.
        formula: for reports.
        cases: what the learner's code is tried on.
        own: the same in NumPy, where that of `library.references` takes other operands.
        layer: the class of the layer that calls the op, if only a layer can.
        learned: how many operands have a gradient, from the first on.
        is_by_weights: the gradient is by the layer's parameters only.
        gradient: of the gradient and the operands; found by differences if None.
        edge: where packages differ.
    """

    op: str
    formula: str
    cases: tuple[Case, ...]
    own: Callable[..., Any] | None = None
    layer: str = ""
    learned: int = 9
    is_by_weights: bool = False
    gradient: Callable[..., tuple[Array, ...]] | None = None
    edge: Edge | None = None

    @property
    def reference(self) -> Callable[..., Any]:
        """The op in NumPy, of the operands and the parameters."""
        return self.own or _shipped(self.op)


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
    Case((X,), {"axis": axis, "keepdims": keepdims})
    for axis, keepdims in ((None, False), (0, False), (1, True))
)
_ALONG = (Case((X,), {"dim": -1}), Case((X,), {"dim": 0}))


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


def _embedded(indices: Array, weight: Array) -> Array:
    return np.asarray(_shipped("embedding")(weight, indices.astype(int)))


def _unary(op: str, formula: str, x: Array) -> Meaning:
    return Meaning(op, formula, (Case((x,)),))


def _binary(op: str, formula: str, y: Array = Y) -> Meaning:
    return Meaning(op, formula, (Case((X, y)), Case((X, y[:1]))))


def _of_layer(
    *arguments: Any,
    x: Array = IMAGE,
    needed: bool = True,
    read: tuple[str, ...] = (),
    **options: Any,
) -> Case:
    return Case((x,), layer=(arguments, options), is_needed=needed, read=read)


_WINDOW = ("kernel_size", "stride", "padding")
_POOLED = (
    _of_layer(2, read=_WINDOW),
    _of_layer(2, x=EQUAL, read=_WINDOW),
    _of_layer(2, stride=1, needed=False, read=_WINDOW),
    _of_layer(2, padding=1, needed=False, read=_WINDOW),
)
_MEANINGS = (
    _binary("add", "a + b"),
    _binary("sub", "a - b"),
    _binary("mul", "a * b"),
    _binary("div", "a / b", ABOVE),
    Meaning(
        "matmul",
        "a @ b",
        (
            Case((X, Y.T)),
            Case((_values(2, 3, 4), _values(2, 4, 2, seed=4)), is_needed=False),
            Case((X, ROW), is_needed=False),
            Case((ROW, Y.T), is_needed=False),
        ),
    ),
    Meaning(
        "slice",
        "x[key]",
        (Case((X,), {"key": (slice(1, None), 2)}), Case((X,), {"key": 1})),
        lambda x, key: x[key],
    ),
    _unary("copy", "x", X),
    Meaning("sum", "sum(x, axis, keepdims)", _REDUCED),
    Meaning("mean", "mean(x, axis, keepdims)", _REDUCED),
    Meaning("max", "max(x, axis, keepdims)", _REDUCED),
    Meaning("min", "min(x, axis, keepdims)", _REDUCED),
    Meaning(
        "masked_fill",
        "value where mask, else x",
        (Case((X,), {"mask": X > 0, "value": -3.0}),),
    ),
    _unary("exp", "exp(x)", X),
    _unary("log", "log(x)", ABOVE),
    _unary("sqrt", "sqrt(x)", ABOVE),
    _unary("abs", "|x|", SIGNS),
    _unary("neg", "-x", X),
    _unary("square", "x * x", X),
    _unary("sigmoid", "1 / (1 + exp(-x))", SIGNS),
    Meaning(
        "relu",
        "max(x, 0)",
        (Case((SIGNS,)),),
        gradient=_relu_gradient,
    ),
    _unary("tanh", "tanh(x)", SIGNS),
    Meaning(
        "gelu",
        "x * sigmoid(1.702x)",
        (Case((SIGNS,)),),
        edge=Edge(_array([[-np.inf, 1.0]]), "at_minus_inf"),
    ),
    Meaning(
        "softmax",
        "exp(x) / sum(exp(x))",
        _ALONG,
        edge=Edge(BLANK, "of_blank"),
    ),
    Meaning("log_softmax", "x - log(sum(exp(x)))", _ALONG),
    Meaning(
        "cross_entropy",
        "mean(-log_softmax(x)[target])",
        (Case((X, _array([0, 3, 1]))),),
        learned=1,
    ),
    Meaning(
        "embedding",
        "weight[indices]",
        (_of_layer(5, 3, x=_array([[1, 3], [1, 0]])),),
        _embedded,
        layer="Embedding",
        is_by_weights=True,
    ),
    Meaning(
        "conv2d",
        "sums of windows times weight, plus bias",
        (
            _of_layer(2, 3, 2, read=_WINDOW[1:]),
            _of_layer(2, 3, 3, stride=2, padding=1, needed=False, read=_WINDOW[1:]),
        ),
        layer="Conv2d",
    ),
    Meaning(
        "max_pool2d",
        "the largest of each window",
        _POOLED,
        layer="MaxPool2d",
        gradient=_max_pool2d_gradient,
    ),
    Meaning("avg_pool2d", "the mean of each window", _POOLED, layer="AvgPool2d"),
    Meaning(
        "layer_norm",
        "(x - mean) / sqrt(var + eps) * gamma + beta, var divided by n",
        (
            _of_layer(4, x=X, read=("eps",)),
            _of_layer(4, x=_values(3, 4, seed=5, scale=0.005), read=("eps",)),
        ),
        layer="LayerNorm",
    ),
    Meaning(
        "batch_norm",
        "(x - mean) / sqrt(var + eps) * gamma + beta, by channel",
        (
            _of_layer(2, read=("eps",)),
            _of_layer(2, x=IMAGE * np.float32(0.005), read=("eps",)),
            replace(_of_layer(2, needed=False, read=("eps",)), is_eval=True),
        ),
        layer="BatchNorm2d",
    ),
)
MEANINGS = {meaning.op: meaning for meaning in _MEANINGS}
