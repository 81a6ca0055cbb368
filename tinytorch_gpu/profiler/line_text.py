"""What the text of a source line tells that its counts do not.

Counts say how much a line did, not with what: whether two loads want one element, or
whether a quotient is added to something. The line's own text does.
"""

from __future__ import annotations

import ast
import re
from functools import cache

from tinytorch_gpu.cuda.operators import fuses

__all__ = ["loads_of_an_element", "sums_of_a_quotient"]


def loads_of_an_element(text: str, array: str) -> float:
    """Tell how many loads of an array on a line want the same element, on average.

    Args:
        text: the line.
        array: the array as the line spells it.

    Returns:
        Loads ÷ different indices; 1 where the line alone does not tell.

    Example:
        >>> loads_of_an_element("y[i] = p[i, 0] * p[i, 0] + p[i, 1]", "p")
        1.5
    """
    loads = [
        ast.unparse(node.slice)
        for node in _nodes(text)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and ast.unparse(node.value) == array
    ]
    return len(loads) / len(set(loads)) if loads else 1.0


def sums_of_a_quotient(text: str) -> float:
    """Tell how many sums of a line, for each of its quotients, could be fused with it.

    A compiler fuses a product with the sum that takes it, and no quotient.

    Args:
        text: the line.

    Returns:
        Sums ÷ quotients, 0 to 1.

    Example:
        >>> sums_of_a_quotient("v = v / z + c"), sums_of_a_quotient("v = v / z")
        (1.0, 0.0)
    """
    nodes = _nodes(text)
    quotients = sum(isinstance(getattr(n, "op", None), ast.Div) for n in nodes)
    if not quotients:
        return 0.0
    # A `//` is a whole number's, which nobody multiplies instead.
    as_products = re.sub(r"(?<!/)/(?!/)", "*", text)
    return (_fused(as_products) - _fused(text)) / quotients


def _fused(text: str) -> int:
    return sum(map(fuses, _nodes(text)))


@cache
def _nodes(text: str) -> tuple[ast.AST, ...]:
    """All nodes of a line; none where it is only a part of a statement."""
    # The first line of a loop or branch lacks its body.
    tree = _tree(text.strip()) or _tree(text.strip() + " pass")
    return tuple(ast.walk(tree)) if tree else ()


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None
