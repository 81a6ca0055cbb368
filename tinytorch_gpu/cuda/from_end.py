"""Indices that count from the end on purpose: `a[-1]`, `a[i, -HALO]`.

Those are left alone; an index that is computed and comes out negative is warned of.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.names import NOT_STATIC

if TYPE_CHECKING:
    from tinytorch_gpu.cuda.names import Names

__all__ = ["negative_constants"]


def negative_constants(node: ast.AST, names: Names) -> frozenset[int]:
    r"""Return the negative constants among the indices of an access.

    Args:
        node: a subscript, or a call whose second argument is the index, as of
            `cuda.atomic.add(a, i, x)`.
        names: tells what names stand for.

    Example:
        >>> from tinytorch_gpu.cuda.names import Names
        >>> def k(a, i):
        ...     a[i, -2] = 0
        >>> tree = ast.parse("def k(a, i):\n a[i, -2] = 0").body[0]
        >>> negative_constants(tree.body[0].targets[0], Names(k, tree))
        frozenset({-2})
    """
    if isinstance(node, ast.Subscript):
        index: ast.expr = node.slice
    elif isinstance(node, ast.Call) and len(node.args) > 1:
        index = node.args[1]
    else:
        return frozenset()
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    values = (_constant(part, names) for part in parts)
    return frozenset(
        int(v) for v in values if isinstance(v, (int, np.integer)) and v < 0
    )


def _constant(node: ast.expr, names: Names) -> Any:
    """Return the compile-time value of an expression, or NOT_STATIC."""
    if not isinstance(node, ast.UnaryOp) or not isinstance(node.op, ast.USub):
        return names.static(node)
    value = names.static(node.operand)
    return -value if isinstance(value, (int, np.integer)) else NOT_STATIC
