"""Ops that are several lines of a kernel: `fused_sgd` and `fused_adam`.

Each is one launch for each parameter already. Spelled out, the steps of many small
parameters can share one launch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.fusion.scalars import Labelled, derived

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.fusion.graph import GraphBuilder

__all__ = ["EXPANSIONS", "PARAMETERS"]

Named = dict[str, Any]  # nodes of arrays, and numbers, by the op's parameters

PARAMETERS = {
    "fused_sgd": {
        "param": None,
        "grad": None,
        "buffer": None,
        "lr": 0.01,
        "momentum": 0.0,
        "weight_decay": 0.0,
    },
    "fused_adam": {
        "param": None,
        "grad": None,
        "m": None,
        "v": None,
        "step": 1,
        "lr": 0.001,
        "beta1": 0.9,
        "beta2": 0.999,
        "eps": 1e-8,
        "weight_decay": 0.0,
    },
}


def _decayed(build: GraphBuilder, given: Named) -> int:
    """Return g + decay p."""
    decay = given["weight_decay"]
    if not decay and not isinstance(decay, Labelled):
        return int(given["grad"])
    product = build.apply("mul", build.number(decay), given["param"])
    return build.apply("add", given["grad"], product)


def _rate(lr: float, beta1: float, step: int) -> float:
    return float(lr / (1 - beta1**step))


def _rest(beta: float) -> float:
    return 1 - beta


def _root(beta2: float, step: int) -> float:
    return float(1 / math.sqrt(1 - beta2**step))


def _sgd(build: GraphBuilder, given: Named) -> dict[str, int]:
    """Write v = momentum v + (g + decay p), p = p - lr v."""
    old, speed = given["param"], _decayed(build, given)
    made = {}
    if given["buffer"] is not None:
        kept = build.apply("mul", build.number(given["momentum"]), given["buffer"])
        made["buffer"] = speed = build.apply("add", kept, speed)
    change = build.apply("mul", build.number(given["lr"]), speed)
    return {"param": build.apply("sub", old, change), **made}


def _adam(build: GraphBuilder, given: Named) -> dict[str, int]:
    """Write p = p - rate m / (root √v + eps), after both means took g in."""
    number = build.number
    beta1, beta2, step = given["beta1"], given["beta2"], given["step"]
    rate = derived("rate", _rate, given["lr"], beta1, step)
    root = derived("root", _root, beta2, step)
    slope = _decayed(build, given)
    mean = build.apply(
        "add",
        build.apply("mul", number(beta1), given["m"]),
        build.apply("mul", number(derived("rest1", _rest, beta1)), slope),
    )
    squares = build.apply("mul", slope, slope)
    square = build.apply(
        "add",
        build.apply("mul", number(beta2), given["v"]),
        build.apply("mul", number(derived("rest2", _rest, beta2)), squares),
    )
    root_of_v = build.apply("mul", build.apply("sqrt", square), number(root))
    below = build.apply("add", root_of_v, number(given["eps"]))
    above = build.apply("mul", number(rate), mean)
    change = build.apply("div", above, below)
    return {"param": build.apply("sub", given["param"], change), "m": mean, "v": square}


EXPANSIONS: dict[str, Callable[[GraphBuilder, Named], dict[str, int]]] = {
    "fused_sgd": _sgd,
    "fused_adam": _adam,
}
