"""Syntax trees: copies, and how messages spell them: with the learner's own names.

The rewriter renames variables and adds some; its own names start with a digit, so that
they are nobody else's. Such a name's node says in `spelled` what it stands for.
"""

from __future__ import annotations

import ast
from typing import TypeVar

__all__ = ["copied", "renamed", "spell"]

Part = TypeVar("Part")


def copied(part: Part) -> Part:
    """Return a copy of a syntax tree, with all that was noted on its nodes.

    It takes a quarter of the time of `copy.deepcopy`, and shares nothing either.

    Args:
        part: a node, a list of nodes, or what a node holds.

    Example:
        >>> first = ast.parse("x[0]", mode="eval")
        >>> second = copied(first)
        >>> second.body.value.id = "y"
        >>> ast.unparse(first), ast.unparse(second)
        ('x[0]', 'y[0]')
    """
    if isinstance(part, list):
        return [copied(each) for each in part]  # type: ignore[return-value]
    if not isinstance(part, ast.AST):
        return part
    new = type(part).__new__(type(part))
    for name, value in vars(part).items():
        setattr(new, name, copied(value))
    return new


def renamed(name: str, spelled: str, context: ast.expr_context) -> ast.Name:
    """Return a name of the rewriter's own.

    Args:
        name: starts with a digit.
        spelled: what the learner wrote.
        context: whether it is read or assigned.

    Example:
        >>> node = renamed("1x__int64", "x", ast.Load())
        >>> spell(ast.Subscript(node, ast.Constant(0)))
        'x[0]'
    """
    node = ast.Name(name, context)
    node.spelled = spelled  # type: ignore[attr-defined]
    return node


def spell(node: ast.AST) -> str:
    """Return the text of an expression as the learner wrote it.

    Args:
        node: an expression of a kernel.
    """
    names = [part for part in ast.walk(node) if hasattr(part, "spelled")]
    written = [(part, part.id) for part in names]  # type: ignore[attr-defined]
    try:
        for part in names:
            part.id = part.spelled  # type: ignore[attr-defined]
        return ast.unparse(node)
    finally:
        for part, name in written:
            part.id = name  # type: ignore[attr-defined]
