"""A learner's function, read statement by statement: what it reads, calls and changes.

`Walk` goes through the syntax tree of a function; its expressions are `expressions`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NoReturn

from tinytorch_gpu.integration.expressions import LOCAL, MAKING, Expressions
from tinytorch_gpu.integration.kinds import (
    ARRAY,
    OPERATORS,
    TENSOR,
    UNKNOWN,
    Fixed,
    Given,
    Kind,
    joined,
    of_all,
)

if TYPE_CHECKING:
    from tinytorch_gpu.integration.sources import Tree

__all__ = ["Walk"]


class Walk(Expressions):
    """One function's text, to be gone through once."""

    def run(self, tree: Tree) -> Kind:
        """Go through the function; return what it gives.

        Args:
            tree: its text.

        Raises:
            Unfollowed: something in it cannot be followed.
        """
        names = _parameters(tree.args)
        self._kinds.update(dict.fromkeys(names, self._given.rest))
        several = of_all(self._given.rest)
        more = (tree.args.vararg, tree.args.kwarg)
        self._kinds.update({one.arg: several for one in more if one is not None})
        plain = [one.arg for one in (*tree.args.posonlyargs, *tree.args.args)]
        if self._me is not None and plain:
            self._self = plain.pop(0)
            self._kinds[self._self] = self._me
        by_name = (pair for pair in self._given.names if pair[0] in names)
        self._kinds.update(by_name)
        self._kinds.update(zip(plain, self._given.places, strict=False))
        body = tree.body if isinstance(tree.body, list) else [ast.Return(tree.body)]
        for _ in range(2):  # a loop comes back to what it has assigned
            for statement in body:
                self._visit(statement)
        return joined(*self._gives) if self._gives else ARRAY

    def _at_lambda(self, node: ast.Lambda) -> Kind:
        return self._within(node)

    def _at_functiondef(self, node: ast.FunctionDef) -> Kind:
        if node.decorator_list:
            self._refuse(node.decorator_list[0], "decorates by")
        self._kinds[node.name] = LOCAL
        return self._within(node)

    def _within(self, node: ast.Lambda | ast.FunctionDef) -> Kind:
        inner = Walk(self._world, self._function, None, Given(), self._mode)
        stored = (n for n in ast.walk(node) if isinstance(n, ast.Name))
        inner._local = self._local | {
            n.id for n in stored if isinstance(n.ctx, ast.Store)
        }
        inner._kinds = dict(self._kinds)
        inner.run(node)
        return LOCAL

    def _at_assign(self, node: ast.Assign) -> Kind:
        for target in node.targets:
            if _is_one_by_one(target, node.value):
                for one, value in zip(target.elts, node.value.elts, strict=True):  # type: ignore[attr-defined]
                    self._store(one, self._visit(value))
            else:
                self._store(target, self._visit(node.value))
        return ARRAY

    def _at_annassign(self, node: ast.AnnAssign) -> Kind:
        if node.value is not None:
            self._store(node.target, self._visit(node.value))
        return ARRAY

    def _at_namedexpr(self, node: ast.NamedExpr) -> Kind:
        kind = self._visit(node.value)
        self._store(node.target, kind)
        return kind

    def _at_augassign(self, node: ast.AugAssign) -> Kind:
        kinds = [self._visit(node.value)]
        if isinstance(node.target, ast.Name):
            kinds.append(self._named(node.target))
        kind = self._operate(kinds, OPERATORS.get(type(node.op), ()))
        self._store(node.target, kind)
        return kind

    def _at_for(self, node: ast.For | ast.comprehension) -> Kind:
        kind = self._visit(node.iter)
        self._store(node.target, of_all(kind))
        for part in (*getattr(node, "body", ()), *getattr(node, "orelse", ())):
            self._visit(part)
        for condition in getattr(node, "ifs", ()):
            self._visit(condition)
        return kind

    _at_comprehension = _at_for

    def _comprehended(self, node: Any) -> Kind:
        for one in node.generators:
            self._visit(one)
        parts = [getattr(node, name, None) for name in ("elt", "key", "value")]
        kinds = [self._visit(part) for part in parts if part is not None]
        return of_all(*kinds)

    _at_listcomp = _at_setcomp = _at_dictcomp = _at_generatorexp = _comprehended

    def _at_withitem(self, node: ast.withitem) -> Kind:
        self._visit(node.context_expr)
        if node.optional_vars is not None:
            self._store(node.optional_vars, UNKNOWN)
        return ARRAY

    def _at_return(self, node: ast.Return | ast.Yield | ast.YieldFrom) -> Kind:
        kind = ARRAY if node.value is None else self._visit(node.value)
        self._gives.append(kind)
        return kind

    _at_yield = _at_yieldfrom = _at_return

    def _refused(self, node: ast.AST) -> NoReturn:
        self._refuse(node, "does")

    _at_global = _at_nonlocal = _at_await = _at_classdef = _at_asyncfunctiondef = (
        _refused
    )
    _at_delete = _at_match = _at_import = _refused

    def _at_importfrom(self, node: ast.ImportFrom) -> Kind:
        for one in node.names:
            name = one.asname or one.name
            module = self._world.module(str(node.module))
            kind = module if isinstance(module, Fixed) and not node.level else None
            found = kind and self._world.member(kind.value, one.name, self._mode)
            if found is None:
                self._refuse(node, "does")
            self._kinds[name] = found
        return ARRAY

    def _store(self, target: ast.expr, kind: Kind) -> None:
        if isinstance(target, ast.Name):
            known = self._kinds.get(target.id, kind)
            self._kinds[target.id] = joined(known, kind)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for one in target.elts:
                self._store(one, of_all(kind))
        elif isinstance(target, ast.Starred):
            self._store(target.value, kind)
        elif isinstance(target, ast.Attribute):
            self._set(target.value, target.attr, target)
        elif isinstance(target, ast.Subscript):
            if self._visit(target.value) not in {ARRAY, TENSOR}:
                self._refuse(target, "changes")
            self._visit(target.slice)
            is_kept = self._kinds.get(_root(target), UNKNOWN) not in {ARRAY, TENSOR}
            if is_kept and self._mode is not MAKING:
                self._refuse(target, "changes")


def _parameters(arguments: ast.arguments) -> list[str]:
    plain = [*arguments.posonlyargs, *arguments.args]
    more = [arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    return [one.arg for one in (*plain, *more) if one is not None]


def _is_one_by_one(target: ast.expr, value: ast.expr) -> bool:
    """Tell whether an assignment is `a, b = x, y`."""
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return False
    parts = (*target.elts, *value.elts)
    has_star = any(isinstance(one, ast.Starred) for one in parts)
    return len(target.elts) == len(value.elts) and not has_star


def _root(node: ast.expr) -> str:
    """Return the name at the beginning of `name.a[0].b`; "" if there is none."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
