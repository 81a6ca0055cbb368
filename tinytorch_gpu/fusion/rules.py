"""Which ops can be fused, and the line of a kernel that each one is.

An element-wise op is one expression; a reduction over a row is a start, a step and the
name of a device function that finishes it over the block. What has no entry here ends
a group. The expressions are those of the shipped kernels, so that a fused kernel rounds
as they do; a learner's own kernel computes what it likes, so its op is no candidate.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ELEMENTWISE",
    "IN_PLACE",
    "NUMBER_LAST",
    "OTHER_KERNELS",
    "REDUCTIONS",
    "WRITE_ONLY",
    "Reduction",
    "Rule",
    "rules_of",
]


@dataclass(frozen=True)
class Rule:
    """An element-wise op as an expression.

    Args:
        text: with `{0}`, `{1}`, `{2}` for its operands.
        operands: how many there are.
        is_bool: the result is bool.
        keeps_bool: the first operand may stay bool, and all may if the result is;
            others become float32 first.
    """

    text: str
    operands: int
    is_bool: bool = False
    keeps_bool: bool = False


@dataclass(frozen=True)
class Reduction:
    """A reduction over a row, done by one block.

    Args:
        start: what a thread begins with.
        step: the thread's value after one more element: `{0}` before, `{1}` that.
        finish: the device function that joins the threads' values.
        scale: what the result is multiplied with, or "".
    """

    start: str
    step: str
    finish: str
    scale: str = ""


_LARGER = "{1} if {0} < {1} or math.isnan({1}) else {0}"
_SMALLER = "{1} if {0} > {1} or math.isnan({1}) else {0}"
_GELU = "{0} / (float32(1.0) + math.exp(float32(-1.702) * {0}))"
_AND, _OR = "({0} != 0) and ({1} != 0)", "({0} != 0) or ({1} != 0)"

ELEMENTWISE: dict[str, Rule] = {
    "add": Rule("{0} + {1}", 2),
    "sub": Rule("{0} - {1}", 2),
    "mul": Rule("{0} * {1}", 2),
    "div": Rule("{0} / {1}", 2),
    "pow": Rule("{0} ** {1}", 2),
    "maximum": Rule(_LARGER, 2),
    "minimum": Rule(_SMALLER, 2),
    "neg": Rule("-{0}", 1),
    "abs": Rule("abs({0})", 1),
    "square": Rule("{0} * {0}", 1),
    "exp": Rule("math.exp({0})", 1),
    "log": Rule("math.log({0})", 1),
    "sqrt": Rule("math.sqrt({0})", 1),
    "tanh": Rule("math.tanh({0})", 1),
    "floor": Rule("float32(math.floor({0}))", 1),
    "relu": Rule("float32(0.0) if {0} < float32(0.0) else {0}", 1),
    "sigmoid": Rule("float32(1.0) / (float32(1.0) + math.exp(-{0}))", 1),
    "gelu": Rule(f"float32(0.0) if {{0}} == float32(-math.inf) else {_GELU}", 1),
    "gelu_of_finite": Rule(_GELU, 1),
    "copy": Rule("{0}", 1),
    "fill": Rule("{0}", 1),
    "masked_fill": Rule("{2} if {1} else {0}", 3),
    "where": Rule("{1} if {0} else {2}", 3, keeps_bool=True),
    "gt": Rule("{0} > {1}", 2, is_bool=True),
    "ge": Rule("{0} >= {1}", 2, is_bool=True),
    "lt": Rule("{0} < {1}", 2, is_bool=True),
    "le": Rule("{0} <= {1}", 2, is_bool=True),
    "eq": Rule("{0} == {1}", 2, is_bool=True),
    "ne": Rule("{0} != {1}", 2, is_bool=True),
    "isfinite": Rule("math.isfinite({0})", 1, is_bool=True),
    "isnan": Rule("math.isnan({0})", 1, is_bool=True),
    "logical_and": Rule(_AND, 2, is_bool=True, keeps_bool=True),
    "logical_or": Rule(_OR, 2, is_bool=True, keeps_bool=True),
    "logical_not": Rule("not {0}", 1, is_bool=True, keeps_bool=True),
    "relu_backward": Rule("{0} if {1} > float32(0.0) else float32(0.0)", 2),
    "sigmoid_backward": Rule("{0} * {1} * (float32(1.0) - {1})", 2),
    "tanh_backward": Rule("{0} * (float32(1.0) - {1} * {1})", 2),
}

MIRRORED = {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge"}

# Kernels whose names do not say which rule they follow.
OTHER_KERNELS = {
    "square_kernel": ("square", "pow"),
    "where_array_scalar_kernel": ("where",),
    "where_scalar_array_kernel": ("where",),
    "where_scalars_kernel": ("where",),
    "sgd_kernel": ("fused_sgd",),
    "sgd_momentum_kernel": ("fused_sgd",),
    "adam_kernel": ("fused_adam",),
}


def rules_of(kernel: str) -> tuple[str, ...]:
    """Return the rules that a shipped kernel may follow.

    Args:
        kernel: its name.

    Example:
        >>> rules_of("rsub_scalar_kernel"), rules_of("square_kernel")
        (('sub',), ('square', 'pow'))
    """
    if kernel in OTHER_KERNELS:
        return OTHER_KERNELS[kernel]
    plain = kernel.removesuffix("_kernel")
    scalar = plain.removesuffix("_scalar")
    names = [plain]
    if scalar != plain:  # `rsub` has the number on the left, and `2 > x` is `x < 2`
        names = [scalar, scalar.removeprefix("r"), MIRRORED.get(scalar, "")]
    return tuple(name for name in dict.fromkeys(names) if name in ELEMENTWISE)


REDUCTIONS: dict[str, Reduction] = {
    "sum": Reduction("float32(0.0)", "{0} + {1}", "block_sum"),
    "mean": Reduction(
        "float32(0.0)", "{0} + {1}", "block_sum", "float32(1.0) / float32(n)"
    ),
    "max": Reduction("float32(-math.inf)", _LARGER, "block_max"),
    "min": Reduction("float32(math.inf)", _SMALLER, "block_min"),
}

# Operands that an op writes without reading them.
WRITE_ONLY = {"fill": 0}

# Ops whose kernels take a number second, wherever it stood: of 0.0 and -0.0 the array's
# element is the result, not the first operand.
NUMBER_LAST = {"maximum", "minimum"}

# Operands that an op changes in place, beside `out` and its results.
IN_PLACE: dict[str, tuple[int, ...]] = {
    "fill": (0,),
    "fused_sgd": (0, 2),
    "fused_adam": (0, 2, 3),
    "fused_adamw": (0, 2, 3),
}
