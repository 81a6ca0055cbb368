"""Constants folded and aliases resolved, before anything is typed.

Python's own compiler folds arithmetic on literals before numba sees the kernel, so
`10**-6` is 1e-06 and not an integer power. `g = cuda.grid` gives a function another
name, which exists only while the kernel is compiled.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.dummies import dummy_of
from tinytorch_gpu.cuda.names import NOT_STATIC
from tinytorch_gpu.cuda.spelling import copied

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.cuda.names import Names

__all__ = ["fold"]

MOST_BITS = 128  # what CPython folds: ast_opt.c, safe_power, safe_multiply, safe_lshift
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_LIMITS = (np.finfo, np.iinfo)


def fold(tree: ast.FunctionDef, names: Names) -> ast.FunctionDef:
    r"""Fold constants and resolve aliases, in place; return the kernel.

    Args:
        tree: the kernel.
        names: tells what its names stand for.

    Example:
        >>> from tinytorch_gpu.cuda.names import Names
        >>> def k(x):
        ...     x[0] = 10**-6
        >>> tree = ast.parse("def k(x):\n x[0] = 10**-6").body[0]
        >>> print(ast.unparse(fold(tree, Names(k, tree)).body[0]))
        x[0] = 1e-06
    """
    aliases = {
        name: value for name, value in names.single.items() if _is_alias(value, names)
    }
    _Fold(names, aliases).visit(tree)
    return tree


def _is_alias(value: ast.expr, names: Names) -> bool:
    """Tell whether a variable is another name of what a kernel cannot hold."""
    if not isinstance(value, (ast.Name, ast.Attribute)):
        return False
    static = names.static(value)
    is_array = isinstance(static, np.ndarray)
    return static is not NOT_STATIC and not is_array and dummy_of(static) is NOT_STATIC


class _Fold(ast.NodeTransformer):
    """Folds from the inside out."""

    def __init__(self, names: Names, aliases: dict[str, ast.expr]) -> None:
        self._names = names
        self._aliases = aliases

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        compute = _BINARY.get(type(node.op))
        left, right = _literal(node.left), _literal(node.right)
        if compute is None or left is None or right is None:
            return node
        if isinstance(node.op, (ast.Pow, ast.LShift)) and abs(right) > MOST_BITS:
            return node
        return _folded(node, lambda: compute(left, right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        operand = _literal(node.operand)
        if operand is None:
            return node
        return _folded(node, lambda: _UNARY[type(node.op)](operand))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        text = node.args[0].value if _has_text(node) else None  # type: ignore[attr-defined]
        if text is None or self._names.static(node.func) is not float:
            return node
        return _folded(node, lambda: float(text))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        call = node.value
        if not isinstance(call, ast.Call) or len(call.args) != 1:
            return node
        limits = self._names.static(call.func)
        if not any(limits is known for known in _LIMITS):
            return node
        dtype = self._names.static(call.args[0])
        return _folded(node, lambda: getattr(limits(np.dtype(dtype)), node.attr))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._aliases and isinstance(node.ctx, ast.Load):
            return ast.copy_location(copied(self._aliases[node.id]), node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        if any(name in self._aliases for name in names):
            return ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        return node


def _literal(node: ast.expr) -> Any:
    """Return the number of a literal, or None."""
    is_number = isinstance(node, ast.Constant) and type(node.value) in (
        int,
        float,
        bool,
    )
    return node.value if is_number else None  # type: ignore[attr-defined]


def _has_text(node: ast.Call) -> bool:
    """Tell whether a call has one argument, a literal string."""
    is_one = len(node.args) == 1 and isinstance(node.args[0], ast.Constant)
    return is_one and isinstance(node.args[0].value, str)  # type: ignore[attr-defined]


def _folded(node: ast.expr, compute: Callable[[], Any]) -> ast.expr:
    """Return the literal of a value; the node itself when there is none."""
    try:
        value = compute()
    except (ArithmeticError, ValueError, TypeError, AttributeError):
        return node
    is_number = isinstance(value, (int, float, np.generic))
    return ast.copy_location(ast.Constant(value), node) if is_number else node
