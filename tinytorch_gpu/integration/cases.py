"""The inputs on which a learner's code is tried: ordinary ones, and the edges.

An ordinary case has a gradient, which is compared as well. At an edge (overflow, 0 / 0,
NaN) only values are: there the mistakes show that ordinary numbers hide. The shapes
are unusual ones, so that what a learner's code keeps by shape is no later batch's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["EDGES", "Array", "Case", "Edge", "array_of", "values"]

Array = npt.NDArray[Any]
NAN, INF = float("nan"), float("inf")


@dataclass(frozen=True)
class Case:
    """One input for the learner's code.

    Args:
        arrays: the operands, float32; the code gets copies.
        parameters: what the op takes by name.
        layer: the arguments of the layer's constructor, for an op that a layer calls;
            its parameters are operands, too.
        is_needed: an error of the learner's code counts as a difference.
        is_eval: the layer is switched to `eval()` first.
        frozen: the number of an operand that requires no gradient; of a layer, its
            parameters follow the input.
        read: what the op takes by name of the layer.
        about: what is special there, for the summary.
        generation: the only one that it is for; "" for all.
    """

    arrays: tuple[Array, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    layer: tuple[tuple[Any, ...], dict[str, Any]] | None = None
    is_needed: bool = True
    is_eval: bool = False
    frozen: int | None = None
    read: tuple[str, ...] = ()
    about: str = ""
    generation: str = ""


@dataclass(frozen=True)
class Edge:
    """A value at infinity on which packages differ: a parameter of the shipped kernel.

    Args:
        array: the input.
        parameter: the kernel's name for what it gives there, 0 unless said.
    """

    array: Array
    parameter: str


def array_of(numbers: Any) -> Array:
    """Return numbers as a float32 array."""
    return np.asarray(numbers, np.float32)


def values(*shape: int, seed: int = 0, scale: float = 1.0) -> Array:
    """Return an array of numbers between -2 and 2, times a scale.

    Args:
        shape: its shape.
        seed: draws other numbers.
        scale: their size.
    """
    drawn = np.random.default_rng(seed).uniform(-2.0, 2.0, shape) * scale
    return drawn.astype(np.float32)


def _at(about: str, *arrays: Any, generation: str = "", **parameters: Any) -> Case:
    made = tuple(array_of(numbers) for numbers in arrays)
    return Case(made, parameters, about=about, generation=generation)


_NOT_FINITE = _at("at NaN or infinity", [[NAN, INF, -INF]])
_UP = _at("at NaN or infinity", [[NAN, INF, 1.0]])
_HOLES = [[NAN, 1.0, 2.0], [INF, 1.0, 0.0], [-INF, 0.5, 1.0]]
_ALONG = tuple(
    _at("at NaN or infinity", _HOLES, axis=axis, keepdims=False)
    for axis in (None, 0, 1)
)
_PAIRS = _at(
    "at NaN, infinity or very large inputs",
    [[INF, INF, NAN, 0.0, 3e38]],
    [[1.0, -INF, 1.0, INF, -3e38]],
)
EDGES: dict[str, tuple[Case, ...]] = {
    **dict.fromkeys(("add", "sub", "mul"), (_PAIRS,)),
    "div": (
        _PAIRS,
        _at("divided by 0", [[0.0, 1.0, -1.0, NAN]], [[0.0, 0.0, 0.0, 0.0]]),
        _at("divided by little", [[1e-9, 1.0]], [[2e-9, 1e-20]]),
    ),
    "matmul": (_at("at NaN or infinity", [[NAN, 1.0], [1.0, 2.0]], [[1.0], [INF]]),),
    **dict.fromkeys(
        ("copy", "abs", "neg", "square", "relu", "tanh"),
        (_NOT_FINITE, _at("near 0", [[0.0, 1e-6, -1e-6]])),
    ),
    **dict.fromkeys(("sum", "mean", "min"), _ALONG),
    "max": (
        *_ALONG,
        _at("far below 0", [[-5e4, -2e4], [-3e10, -2e10]], axis=1, keepdims=False),
    ),
    "masked_fill": (
        _at("at NaN or infinity", _HOLES, mask=np.isnan(array_of(_HOLES)), value=-INF),
    ),
    "exp": (
        _at("for large inputs", [[-1000.0, -80.0, -60.0, 60.0, 88.0, 100.0, 1000.0]]),
        _NOT_FINITE,
    ),
    "log": (
        _at("near 0", [[0.0, 1e-30, 1e-7]]),
        _at("at negative inputs, NaN or infinity", [[-1.0, -1000.0, NAN, INF]]),
    ),
    "sqrt": (
        _at("near 0", [[0.0, 1e-20, 1e-9]]),
        _at("at negative inputs, NaN or infinity", [[-2.0, -1e-9, NAN, INF]]),
    ),
    # Generation A's own sigmoid gives 0 for NaN: there NaN is not tried.
    "sigmoid": (
        _at("at infinity", [[INF, -INF]]),
        _at("at NaN", [[NAN, 1.0]], generation="B"),
    ),
    "gelu": (_UP,),
    "softmax": (_at("at NaN or -inf", [[NAN, 1.0], [-INF, 1.0]], dim=-1),),
    "log_softmax": (_at("at NaN or -inf", [[NAN, 1.0], [-INF, 1.0]], dim=-1),),
    "cross_entropy": (
        _at("at NaN", [[NAN, 1.0], [0.0, 1.0]], [0, 1]),
        _at("at -inf", [[-INF, 1.0], [0.0, 1.0]], [0, 1]),
    ),
}
