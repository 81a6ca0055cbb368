"""What each op means that a kernel may answer for, and what it is tried on.

A learner's class has the name of an op; that it computes the op is another matter. Each
op has a formula for the reports, the same in NumPy, and inputs on which the learner's
own code must give what the formula gives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.integration.cases import EDGES, Case, Edge, array_of, values
from tinytorch_gpu.library.references import OPS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MEANINGS", "Meaning"]

Array = npt.NDArray[Any]


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
        edges: more cases, where only values are compared.
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
    edges: tuple[Case, ...] = ()

    @property
    def reference(self) -> Callable[..., Any]:
        """The op in NumPy, of the operands and the parameters."""
        return self.own or _shipped(self.op)


X, Y, ROW = values(3, 7), values(3, 7, seed=1), values(7, seed=2)
DEEP = values(2, 3, 5, seed=6)
SIGNS = array_of(
    [[-1000.0, -100.0, -20.0, -2.0, -0.5, 0.0, 0.2], [0.3, 1, 2.5, 5, 20, 100, 1000]]
)
ABOVE = np.abs(X) + np.float32(0.1)
IMAGE = values(2, 2, 4, 6, seed=3)
EQUAL = array_of(np.indices((1, 1, 4, 6)).sum(0) // 2)  # with equal largest ones
BLANK = array_of([[-np.inf, -np.inf], [0.0, 1.0]])
_REDUCED = (
    *(
        Case((X,), {"axis": axis, "keepdims": keepdims})
        for axis, keepdims in ((None, False), (0, False), (1, True))
    ),
    Case((ROW,), {"axis": 0, "keepdims": False}, is_needed=False),
    Case((DEEP,), {"axis": 1, "keepdims": False}, is_needed=False),
    Case((DEEP,), {"axis": (0, 2), "keepdims": True}, is_needed=False),
)
_LOGITS = tuple(
    (about, array_of(x))
    for about, x in (
        ("", X),
        ("for large inputs", X * 20),
        ("for large inputs", X * 1000),
        ("for large inputs", X + 90),
        ("for large negative inputs", X - 1000),
    )
)
_ALONG = (
    *(Case((x,), {"dim": -1}, about=about) for about, x in _LOGITS),
    Case((X,), {"dim": 0}),
    Case((ROW,), {"dim": -1}, is_needed=False),
    Case((DEEP,), {"dim": -1}, is_needed=False),
    Case((DEEP,), {"dim": 1}, is_needed=False),
)


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


def _unary(op: str, formula: str, x: Array, **more: Any) -> Meaning:
    others = (x.reshape(-1)[:5], x.reshape(x.shape[0], 1, -1))
    cases = (Case((x,)), *(Case((other,), is_needed=False) for other in others))
    return Meaning(op, formula, cases, **more)


def _binary(op: str, formula: str, y: Array = Y) -> Meaning:
    cases = (
        Case((X, y)),
        Case((X, y[:1])),
        Case((ROW, y[0]), is_needed=False),
        Case((X.reshape(3, 1, 7), y), is_needed=False),
    )
    return Meaning(op, formula, cases)


def _of_layer(
    *arguments: Any,
    x: Array = IMAGE,
    needed: bool = True,
    read: tuple[str, ...] = (),
    about: str = "",
    **options: Any,
) -> Case:
    layer = (arguments, options)
    return Case((x,), layer=layer, is_needed=needed, read=read, about=about)


_WINDOW = ("kernel_size", "stride", "padding")
_POOLED = (
    _of_layer(2, read=_WINDOW),
    _of_layer(2, x=EQUAL, read=_WINDOW),
    _of_layer(2, stride=1, needed=False, read=_WINDOW),
    _of_layer(2, padding=1, needed=False, read=_WINDOW),
    _of_layer(3, needed=False, read=_WINDOW),
    _of_layer(kernel_size=(2, 3), needed=False, read=_WINDOW),
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
            *(
                Case((a, b), is_needed=False)
                for a, b in (
                    (DEEP, values(2, 5, 4, seed=4)),
                    (DEEP[None], values(3, 2, 5, 4, seed=4)),
                    (DEEP, values(5, 4, seed=4)),
                    (X[:, :5], values(2, 5, 4, seed=4)),
                    (X, ROW),
                    (ROW, Y.T),
                    (ROW, Y[0]),
                )
            ),
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
        (
            Case((X,), {"mask": X > 0, "value": -3.0}),
            Case((X,), {"mask": X > 1, "value": -1e9}),
            Case((DEEP,), {"mask": DEEP[0] > 0, "value": 0.5}, is_needed=False),
        ),
    ),
    _unary("exp", "exp(x)", X),
    _unary("log", "log(x)", ABOVE),
    _unary("sqrt", "sqrt(x)", ABOVE),
    _unary("abs", "|x|", SIGNS),
    _unary("neg", "-x", X),
    _unary("square", "x * x", X),
    _unary("sigmoid", "1 / (1 + exp(-x))", SIGNS),
    _unary("relu", "max(x, 0)", SIGNS, gradient=_relu_gradient),
    _unary("tanh", "tanh(x)", SIGNS),
    _unary(
        "gelu",
        "x * sigmoid(1.702x)",
        SIGNS,
        edge=Edge(array_of([[-np.inf, 1.0]]), "at_minus_inf"),
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
        (
            *(Case((x, array_of([0, 3, 1])), about=about) for about, x in _LOGITS),
            Case((DEEP, array_of([[0, 4, 1], [2, 0, 3]])), is_needed=False),
        ),
        learned=1,
    ),
    Meaning(
        "embedding",
        "weight[indices]",
        (
            _of_layer(5, 3, x=array_of([[1, 3], [1, 0]])),
            _of_layer(11, 2, x=array_of([1, 10, 1]), needed=False),
        ),
        _embedded,
        layer="Embedding",
        is_by_weights=True,
    ),
    Meaning(
        "conv2d",
        "sums of windows times weight, plus bias",
        (
            _of_layer(2, 3, 2, read=_WINDOW[1:]),
            _of_layer(3, 5, 2, x=values(1, 3, 3, 4), needed=False, read=_WINDOW[1:]),
            *(
                _of_layer(2, 3, needed=False, read=_WINDOW[1:], **options)
                for options in (
                    {"kernel_size": 3, "stride": 2},
                    {"kernel_size": 3, "padding": 1},
                    {"kernel_size": (1, 3), "bias": False},
                )
            ),
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
            _of_layer(7, x=X, read=("eps",)),
            _of_layer(7, x=values(3, 7, seed=5, scale=0.005), read=("eps",)),
            _of_layer(7, x=X, eps=1.0, needed=False, read=("eps",)),
            _of_layer(5, x=DEEP, needed=False, read=("eps",)),
        ),
        layer="LayerNorm",
    ),
    Meaning(
        "batch_norm",
        "(x - mean) / sqrt(var + eps) * gamma + beta, by channel",
        (
            _of_layer(2, read=("eps",)),
            _of_layer(2, x=IMAGE * np.float32(0.005), read=("eps",)),
            _of_layer(2, eps=1.0, needed=False, read=("eps",)),
            replace(_of_layer(2, needed=False, read=("eps",)), is_eval=True),
        ),
        layer="BatchNorm2d",
    ),
)
MEANINGS = {m.op: replace(m, edges=EDGES.get(m.op, ())) for m in _MEANINGS}
