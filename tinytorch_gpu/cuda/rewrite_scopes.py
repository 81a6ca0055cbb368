"""Scopes of a kernel's variables: where an assignment needs no merge.

Under a mask, `v = new` must keep `v` for the lanes that do not take part, which costs
a `where`. It can be saved when those lanes never read `v` again. The *scope* of a
variable is the suite (list of statements) that holds all its occurrences; an assignment
by all lanes of that suite overwrites it. Inside loops this holds only if each iteration
assigns the variable before it reads it; otherwise the scope is the suite around the
loops.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

__all__ = ["variable_scopes"]

Suite = list[ast.stmt]


@dataclass(frozen=True)
class _Place:
    """One occurrence: the suites around it from outside in, and whether it writes."""

    suites: tuple[tuple[int, bool], ...]  # (identity, is a loop's body)
    is_write: bool


def variable_scopes(tree: ast.FunctionDef) -> dict[str, int]:
    r"""Return for each variable the identity (`id`) of its scope's suite.

    Args:
        tree: the kernel.

    Example:
        >>> tree = ast.parse("def k(x):\n a = 1\n if a:\n  b = 2\n  c = b").body[0]
        >>> scopes = variable_scopes(tree)
        >>> scopes["b"] == id(tree.body[1].body), scopes["a"] == id(tree.body)
        (True, True)
    """
    finder = _Finder()
    root = ((id(tree.body), False),)
    for argument in tree.args.args:
        finder.places.setdefault(argument.arg, []).append(_Place(root, is_write=True))
    finder.suite(tree.body, root)
    return {name: _scope(places) for name, places in finder.places.items()}


def _scope(places: list[_Place]) -> int:
    """Return the scope of a variable from its occurrences in source order."""
    common = places[0].suites
    for place in places[1:]:
        same = [a == b for a, b in zip(common, place.suites, strict=False)]
        common = common[: same.index(False) if False in same else len(same)]
    loops = [i for i, (_, is_loop) in enumerate(common) if is_loop]
    starts_fresh = places[0].is_write and places[0].suites == common
    if loops and not starts_fresh:
        common = common[: loops[0]]
    return common[-1][0]


class _Finder:
    """Collects the occurrences of variables, reads before the write of a statement."""

    def __init__(self) -> None:
        self.places: dict[str, list[_Place]] = {}

    def suite(self, body: Suite, path: tuple[tuple[int, bool], ...]) -> None:
        for statement in body:
            self._statement(statement, path)

    def _statement(self, node: ast.stmt, path: tuple[tuple[int, bool], ...]) -> None:
        if isinstance(node, ast.For):
            self._names(node.iter, path)
            inside = (*path, (id(node.body), True))
            self._names(node.target, inside)
            self.suite(node.body, inside)
        elif isinstance(node, (ast.If, ast.While)):
            self._names(node.test, path)
            is_loop = isinstance(node, ast.While)
            self.suite(node.body, (*path, (id(node.body), is_loop)))
        else:
            self._names(node, path)
            return
        self.suite(node.orelse, (*path, (id(node.orelse), False)))

    def _names(self, node: ast.AST, path: tuple[tuple[int, bool], ...]) -> None:
        names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        is_update = isinstance(node, ast.AugAssign)
        reads = [n for n in names if isinstance(n.ctx, ast.Load)]
        writes = [n for n in names if isinstance(n.ctx, ast.Store)]
        for name in (*reads, *(writes if is_update else ())):
            self.places.setdefault(name.id, []).append(_Place(path, is_write=False))
        for name in writes:
            self.places.setdefault(name.id, []).append(_Place(path, is_write=True))
