"""Variables that some lanes may not have assigned, and where that would show.

Reading such a variable is no mistake by itself: real kernels compute with what is left
in a register and throw the result away. It is one when the value reaches memory, an
address or a branch. Each such variable, and each that is computed from one, gets a mask
of the lanes for which it is defined.

Limits: what only some lanes evaluate (sides of a ternary, later parts of `and`) counts
as defined; never the other way.
"""

from __future__ import annotations

import ast

__all__ = ["read_names", "sink_names", "undefined_names"]


def undefined_names(tree: ast.FunctionDef) -> set[str]:
    """Return the variables that may hold an undefined value in some lane.

    Args:
        tree: the kernel, with types noted on its names.
    """
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    found = {n.id for n in names if getattr(n, "is_maybe_undefined", False)}
    size = -1
    while found and len(found) != size:
        size = len(found)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and read_names(node.value, found):
                found |= {n for t in node.targets for n in _stored(t)}
    return found


def read_names(node: ast.AST, among: set[str]) -> list[str]:
    """Return which of some variables an expression's value needs in every lane."""
    found: list[str] = []
    open_nodes = [node] if among else []
    while open_nodes:
        part = open_nodes.pop()
        if isinstance(part, ast.Name) and part.id in among and part.id not in found:
            found.append(part.id)
        open_nodes += _always_evaluated(part)
    return sorted(found)


def sink_names(statement: ast.stmt, among: set[str]) -> list[str]:
    """Return which of some variables reach memory, an address or a branch here."""
    if not among:
        return []
    found = {n for part in _sinks(statement) for n in read_names(part, among)}
    return sorted(found)


def _sinks(statement: ast.stmt) -> list[ast.AST]:
    """Return the expressions of a statement whose values leave the registers."""
    if isinstance(statement, (ast.If, ast.While)):
        return [statement.test]
    if isinstance(statement, ast.For):
        return [statement.iter]
    sinks: list[ast.AST] = []
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        is_assign = isinstance(statement, ast.Assign)
        targets = statement.targets if is_assign else [statement.target]  # type: ignore[union-attr]
        if any(isinstance(target, ast.Subscript) for target in targets):
            sinks.append(statement.value)
    open_nodes: list[ast.AST] = [statement]
    while open_nodes:
        part = open_nodes.pop()
        if isinstance(part, ast.Subscript):
            sinks.append(part.slice)
        open_nodes += _always_evaluated(part)
    return sinks


def _always_evaluated(node: ast.AST) -> list[ast.AST]:
    """Return the children that are evaluated for every lane that comes to the node."""
    if isinstance(node, ast.IfExp):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        return [node.values[0]]
    if isinstance(node, ast.Compare):
        return [node.left, node.comparators[0]]
    children = ast.iter_child_nodes(node)
    return [child for child in children if not isinstance(child, ast.stmt)]


def _stored(target: ast.AST) -> list[str]:
    names = (n for n in ast.walk(target) if isinstance(n, ast.Name))
    return [n.id for n in names if isinstance(n.ctx, ast.Store)]
