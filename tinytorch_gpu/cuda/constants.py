"""Compile-time numbers: `float32(0.5)`, `2 * PI`, `-int32(1)`, each of them a constant.

A compiler computes them once, while it compiles. So does the rewriter, with the very
functions that a lane program would call: value and dtype are those of a run.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.dummies import SCALARS, typed_constant
from tinytorch_gpu.cuda.functions import known_function
from tinytorch_gpu.cuda.names import NOT_STATIC
from tinytorch_gpu.cuda.operators import BINARY_NAMES, DIVISIONS, UNARY_NAMES
from tinytorch_gpu.errors import SimGPUError
from tinytorch_gpu.executor.arithmetic import BINARY, UNARY

if TYPE_CHECKING:
    from tinytorch_gpu.cuda.names import Names

__all__ = ["compile_time", "known_divisor"]

SHIFTS = frozenset({"lshift", "rshift"})
BITS = 64


def compile_time(node: ast.AST | None, names: Names) -> Any:
    r"""Return the number that an expression is for every thread, or NOT_STATIC.

    What goes wrong stays in the kernel, where it is reported: a division by zero, a
    shift too far, a conversion that loses the value.

    Args:
        node: a literal, a name or attribute from outside the kernel, a conversion, or
            arithmetic on these.
        names: what the names in it stand for.

    Example:
        >>> from tinytorch_gpu.cuda.names import Names
        >>> def k(x):
        ...     x[0] = np.float32(1) / np.float32(3)
        >>> tree = ast.parse("def k(x):\n x[0] = np.float32(1) / np.float32(3)").body[0]
        >>> compile_time(tree.body[0].value, Names(k, tree))
        np.float32(0.33333334)
    """
    try:
        with np.errstate(all="ignore"):
            return _number(node, names)
    except (SimGPUError, ArithmeticError):
        return NOT_STATIC


def known_divisor(node: ast.AST | None, names: Names) -> Any:
    """Return the number that a divisor is for every thread, or NOT_STATIC.

    Args:
        node: the divisor; a variable that is set once, to a constant, is one too.
        names: what the names in it stand for.
    """
    if isinstance(node, ast.Name):
        node = names.single.get(node.id, node)
    return compile_time(node, names)


def _number(node: ast.AST | None, names: Names) -> Any:
    if isinstance(node, (ast.Name, ast.Attribute)):
        is_local = isinstance(node, ast.Name) and node.id in names.local
        return NOT_STATIC if is_local else _typed(names.static(node))
    if isinstance(node, ast.Constant):
        return _typed(node.value)
    if isinstance(node, ast.UnaryOp):
        return _signed(node, names)
    if isinstance(node, ast.BinOp):
        return _computed(node, names)
    return _converted(node, names) if isinstance(node, ast.Call) else NOT_STATIC


def _typed(value: Any) -> Any:
    return typed_constant(value) if isinstance(value, SCALARS) else NOT_STATIC


def _signed(node: ast.UnaryOp, names: Names) -> Any:
    literal = node.operand.value if isinstance(node.operand, ast.Constant) else None
    if isinstance(node.op, ast.USub) and type(literal) in (int, float):
        return typed_constant(-literal)  # type: ignore[operator]
    value = _number(node.operand, names)
    return value if value is NOT_STATIC else UNARY[UNARY_NAMES[type(node.op)]](value)


def _computed(node: ast.BinOp, names: Names) -> Any:
    name = BINARY_NAMES.get(type(node.op), "")
    left = _number(node.left, names) if name else NOT_STATIC
    right = NOT_STATIC if left is NOT_STATIC else _number(node.right, names)
    if right is NOT_STATIC:
        return NOT_STATIC
    is_wrong = name in DIVISIONS and right == 0
    is_wrong |= name in SHIFTS and not 0 <= right < BITS
    return NOT_STATIC if is_wrong else BINARY[name](left, right)


def _converted(node: ast.Call, names: Names) -> Any:
    """Convert a number by a type, as `float32(0.5)` does; all else is no constant."""
    if len(node.args) != 1 or node.keywords:
        return NOT_STATIC
    callee = names.static(node.func)
    known = None if callee is NOT_STATIC else known_function(callee)
    if known is None or known.kind != "convert" or known.most != 1:
        return NOT_STATIC
    given = _number(node.args[0], names)
    if given is NOT_STATIC:
        return NOT_STATIC
    value = known.function(given)
    return value if _is_kept(given, value) else NOT_STATIC


def _is_kept(given: Any, value: Any) -> bool:
    """Tell whether a conversion keeps the number, but for rounding.

    To uint32 the upper digits may go: hashes mean it.
    """
    if value.dtype.kind == "b":
        return True
    if value.dtype.kind == "f":
        return bool(np.isfinite(value) or not np.isfinite(given))
    if given.dtype.kind == "f":
        return bool(np.isfinite(given)) and int(given) == int(value)
    return int(given) == int(value) or value.dtype == np.uint32
