"""Python's operators and the names that the executor's typed functions have."""

from __future__ import annotations

import ast

__all__ = [
    "BINARY_NAMES",
    "COMPARE_NAMES",
    "DIVISIONS",
    "TOLD",
    "UNARY_NAMES",
    "fuses",
]

DIVISIONS = frozenset({"truediv", "floordiv", "mod"})
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


def fuses(node: ast.AST) -> bool:
    """Tell whether a compiler makes one instruction of a node and a product in it.

    Args:
        node: `a * b + c`, `a * b - c`, `c - a * b`, or `c += a * b`.

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
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult)
        for part in operands
    )
