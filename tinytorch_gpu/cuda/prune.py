"""What no thread can reach is taken out, once types have told what that is."""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["prune"]


def prune(tree: ast.FunctionDef) -> None:
    r"""Take out decided sides and dead statements, in place.

    Args:
        tree: the kernel, with `decided`, `kept` and `is_dead` noted by the typing.

    Example:
        >>> tree = ast.parse("def k(x):\n if x:\n  x = 1\n else:\n  x = 2").body[0]
        >>> tree.body[0].decided = False
        >>> prune(tree)
        >>> ast.unparse(tree.body[0])
        'x = 2'
    """
    _Prune().visit(tree)


class _Prune(ast.NodeTransformer):
    def visit(self, node: ast.AST) -> Any:
        """Keep a node, put what is left of it in its place, or drop it."""
        if getattr(node, "is_dead", False):
            return None
        kept = super().visit(node)
        if isinstance(kept, (ast.FunctionDef, ast.If, ast.For, ast.While)):
            kept.body = kept.body or [ast.copy_location(ast.Pass(), kept)]
        return kept

    def visit_If(self, node: ast.If) -> Any:
        decided = getattr(node, "decided", None)
        if decided is None:
            return self.generic_visit(node)
        chosen = ast.Module(node.body if decided else node.orelse, [])
        return self.generic_visit(chosen).body  # type: ignore[attr-defined]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        decided = getattr(node, "decided", None)
        if decided is None:
            return self.generic_visit(node)
        return self.visit(node.body if decided else node.orelse)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        node.values = getattr(node, "kept", node.values)
        is_one = len(node.values) == 1
        return self.visit(node.values[0]) if is_one else self.generic_visit(node)
