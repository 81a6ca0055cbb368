"""Python's operators and the names that the executor's typed functions have."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.executor.arithmetic import SPECIAL_OPERATORS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BINARY_NAMES",
    "COMPARE_NAMES",
    "DIVISIONS",
    "TOLD",
    "UNARY_NAMES",
    "division_kind",
    "fuses",
    "kind_of",
]

DIVISIONS = frozenset({"truediv", "floordiv", "mod"})
WHOLE_DIVISIONS = frozenset({"floordiv", "mod"})
TOLD = frozenset({"floordiv", "mod", "lshift", "rshift"})  # with their right operand

BINARY_NAMES = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
COMPARE_NAMES = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
UNARY_NAMES = {
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Not: "not_",
}


def kind_of(name: str, right: Any = None) -> str:
    """Tell how a recorder counts an operator.

    Args:
        name: of the operator, as in `BINARY_NAMES`.
        right: its right operand, if that is a compile-time number.

    Example:
        >>> kind_of("add"), kind_of("pow"), kind_of("mod"), kind_of("mod", 8)
        ('arithmetic', 'special', 'division', 'division_by_power')
    """
    if name in WHOLE_DIVISIONS:
        return division_kind(right)
    return "special" if name in SPECIAL_OPERATORS else "arithmetic"


def division_kind(divisor: Any) -> str:
    """Tell how a recorder counts `//` and `%`, by what a compiler knows of the divisor.

    Args:
        divisor: a number; anything else is not known.

    Example:
        >>> division_kind(32), division_kind(-7), division_kind(None)
        ('division_by_power', 'division_by_constant', 'division')
    """
    try:
        number = int(divisor) if divisor == int(divisor) else 0
    except (TypeError, ValueError, OverflowError):
        number = 0
    if not number:
        return "division"
    is_power = number > 0 and number & (number - 1) == 0
    return "division_by_power" if is_power else "division_by_constant"


def fuses(
    node: ast.AST, is_computed: Callable[[ast.expr], bool] = lambda _: True
) -> bool:
    """Tell whether a compiler makes one instruction of a node and a product in it.

    Args:
        node: `a * b + c`, `a * b - c`, `c - a * b`, or `c += a * b`.
        is_computed: tells whether threads compute a product; of a constant none is.

    Example:
        >>> fuses(ast.parse("a * b + c", mode="eval").body)
        True
        >>> fuses(ast.parse("a + b", mode="eval").body)
        False
    """
    if not isinstance(getattr(node, "op", None), (ast.Add, ast.Sub)):
        return False
    operands = (getattr(node, name, None) for name in ("left", "right", "value"))
    return any(
        isinstance(part, ast.BinOp)
        and isinstance(part.op, ast.Mult)
        and is_computed(part)
        for part in operands
    )
