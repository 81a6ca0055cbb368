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
from tinytorch_gpu.integration.samples import (
    ABOVE,
    ALONG,
    BLANK,
    CLASSIFIED,
    CONVOLVED,
    DEEP,
    EQUAL,
    FAR_BELOW,
    HOLES,
    IMAGE,
    LARGE,
    LARGE_Y,
    MANY,
    MASKED,
    NORMALIZED,
    ODD,
    PAIRS,
    RANKED,
    REDUCED,
    SIGNS,
    STACKED,
    STRIDES,
    X,
    Y,
    at_ranks,
    of_layer,
    with_holes,
)
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
    large = np.resize(x, LARGE.shape)
    cases = (
        Case((x,)),
        Case((large,)),
        *(Case((other,), is_needed=False) for other in at_ranks(x)),
    )
    return Meaning(op, formula, cases, **more)


def _binary(op: str, formula: str, y: Array = Y) -> Meaning:
    cases = (
        Case((X, y)),
        Case((X, y[:1])),
        Case((LARGE, np.resize(y, LARGE.shape))),
        Case((X.reshape(3, 1, 7), y), is_needed=False),
        *(Case((a, np.resize(y, b.shape)), is_needed=False) for a, b in PAIRS),
    )
    return Meaning(op, formula, cases)


_WINDOW = ("kernel_size", "stride", "padding")
_POOLED = (
    of_layer(2, read=_WINDOW),
    of_layer(2, x=MANY, read=_WINDOW),
    of_layer(2, x=EQUAL, read=_WINDOW),
    of_layer(2, stride=1, needed=False, read=_WINDOW),
    of_layer(2, padding=1, needed=False, read=_WINDOW),
    *(of_layer(x=ODD, needed=False, read=_WINDOW, **options) for options in STRIDES),
    of_layer(3, needed=False, read=_WINDOW),
    of_layer(kernel_size=(2, 3), needed=False, read=_WINDOW),
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
            Case((LARGE[:, :17], LARGE_Y[:17])),
            *(
                Case((a, b), is_needed=False)
                for a, b in (
                    (DEEP, values(2, 5, 4, seed=4)),
                    (DEEP[None], values(3, 2, 5, 4, seed=4)),
                    *STACKED,
                )
            ),
        ),
    ),
    Meaning(
        "slice",
        "x[key]",
        (
            *(Case((X,), {"key": key}) for key in ((slice(1, None), 2), 1)),
            *(
                Case((x,), {"key": (place,) * x.ndim}, is_needed=False)
                for x in RANKED[1:]
                for place in (1, -1)
            ),
            Case((LARGE,), {"key": slice(3, 30)}),
        ),
        lambda x, key: x[key],
    ),
    _unary("copy", "x", X),
    Meaning("sum", "sum(x, axis, keepdims)", REDUCED),
    Meaning("mean", "mean(x, axis, keepdims)", REDUCED),
    Meaning("max", "max(x, axis, keepdims)", REDUCED),
    Meaning("min", "min(x, axis, keepdims)", REDUCED),
    Meaning(
        "masked_fill",
        "value where mask, else x",
        (
            Case((X,), {"mask": X > 0, "value": -3.0}),
            Case((X,), {"mask": X > 1, "value": -1e9}),
            *MASKED,
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
        ALONG,
        edge=Edge(BLANK, "of_blank"),
    ),
    Meaning("log_softmax", "x - log(sum(exp(x)))", ALONG),
    Meaning(
        "cross_entropy",
        "mean(-log_softmax(x)[target])",
        CLASSIFIED,
        learned=1,
    ),
    Meaning(
        "embedding",
        "weight[indices]",
        (
            of_layer(5, 3, x=array_of([[1, 3], [1, 0]])),
            of_layer(11, 2, x=array_of([1, 10, 1]), needed=False),
            of_layer(5, 3, x=array_of([[[1, 3], [1, 0]]]), needed=False),
            of_layer(60, 3, x=array_of(range(0, 60, 3)).reshape(2, 10)),
        ),
        _embedded,
        layer="Embedding",
        is_by_weights=True,
    ),
    Meaning(
        "conv2d",
        "sums of windows times weight, plus bias",
        (
            of_layer(2, 3, 2, read=_WINDOW[1:]),
            of_layer(2, 3, 2, x=MANY, read=_WINDOW[1:]),
            of_layer(3, 5, 2, x=values(1, 3, 3, 4), needed=False, read=_WINDOW[1:]),
            *(
                of_layer(2, 3, needed=False, read=_WINDOW[1:], **options)
                for options in (
                    {"kernel_size": 3, "stride": 2},
                    {"kernel_size": 3, "padding": 1},
                    {"kernel_size": (1, 3), "bias": False},
                )
            ),
            *CONVOLVED,
        ),
        layer="Conv2d",
        edges=with_holes(2, 3, 2, x=HOLES, read=_WINDOW[1:]),
    ),
    Meaning(
        "max_pool2d",
        "the largest of each window",
        _POOLED,
        layer="MaxPool2d",
        edges=FAR_BELOW,
        gradient=_max_pool2d_gradient,
    ),
    Meaning(
        "avg_pool2d",
        "the mean of each window",
        _POOLED,
        layer="AvgPool2d",
        edges=with_holes(2, x=HOLES, read=_WINDOW),
    ),
    Meaning(
        "layer_norm",
        "(x - mean) / sqrt(var + eps) * gamma + beta, var divided by n",
        NORMALIZED,
        layer="LayerNorm",
        edges=with_holes(6, x=HOLES[0, 0], read=("eps",)),
    ),
    Meaning(
        "batch_norm",
        "(x - mean) / sqrt(var + eps) * gamma + beta, by channel",
        (
            of_layer(2, read=("eps",)),
            of_layer(2, x=MANY, read=("eps",)),
            of_layer(2, x=IMAGE * np.float32(0.005), read=("eps",)),
            of_layer(2, eps=1.0, needed=False, read=("eps",)),
            replace(of_layer(2, needed=False, read=("eps",)), is_eval=True),
        ),
        layer="BatchNorm2d",
        edges=with_holes(2, x=HOLES, read=("eps",)),
    ),
)
MEANINGS = {m.op: replace(m, edges=(*m.edges, *EDGES.get(m.op, ()))) for m in _MEANINGS}
