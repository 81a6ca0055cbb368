"""What a kernel's addresses and branches depend on: data, or shapes alone.

Counts of a launch whose addresses and branches do not depend on what memory holds can
be reused for the next launch of the same shapes. This file finds out by following
values from their sources (parameters, loads) to where they steer something.

Limits: errs on the side of "depends on data"; never the other way.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DATA", "control_sources"]

DATA = "<data>"
Sources = frozenset[str]
NOTHING: Sources = frozenset()
LAZY = (ast.BoolOp, ast.Compare)
ASSIGNMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign)


def control_sources(
    tree: ast.FunctionDef,
    is_pure: Callable[[ast.expr], bool],
    is_local: Callable[[ast.expr], bool],
    is_device_call: Callable[[ast.Call], bool],
) -> Sources:
    """Return what steers the kernel: names of parameters, and DATA for memory.

    Args:
        tree: the kernel.
        is_pure: tells expressions without loads and calls of device functions.
        is_local: tells expressions that start at a local variable or parameter.
        is_device_call: tells calls of device functions.
    """
    flow = _Flow(is_pure, is_local, is_device_call)
    flow.values = {a.arg: frozenset({a.arg}) for a in tree.args.args}
    while not flow.is_settled:
        flow.is_settled = True
        flow.visit_all(tree.body)
    return flow.control


class _Flow:
    """Follows sources through assignments until nothing changes."""

    def __init__(
        self,
        is_pure: Callable[[ast.expr], bool],
        is_local: Callable[[ast.expr], bool],
        is_device_call: Callable[[ast.Call], bool],
    ) -> None:
        self._is_pure = is_pure
        self._is_local = is_local
        self._is_device_call = is_device_call
        self.values: dict[str, Sources] = {}
        self.control: Sources = NOTHING
        self.is_settled = False

    def visit_all(self, body: list[ast.stmt]) -> None:
        """Follow every statement, nested ones too."""
        for statement in body:
            self._steer(statement)
            if isinstance(statement, ASSIGNMENTS):
                self._assign(statement)
            elif isinstance(statement, ast.For):
                self.control |= self._of(statement.iter)
                self._give(statement.target, self._of(statement.iter))
            elif isinstance(statement, (ast.If, ast.While)):
                self.control |= self._of(statement.test)
            for suite in ("body", "orelse"):
                self.visit_all(getattr(statement, suite, []))

    def _assign(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> None:
        sources = self._of(node.value) if node.value else NOTHING
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self._give(target, sources)

    def _give(self, target: ast.expr, sources: Sources) -> None:
        """Add sources to every variable of an assignment's target."""
        if isinstance(target, ast.Subscript):
            return
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                have = self.values.get(node.id, NOTHING)
                self.is_settled &= sources <= have
                self.values[node.id] = have | sources

    def _steer(self, statement: ast.stmt) -> None:
        """Add what indices and lazily evaluated expressions of a statement hang on."""
        for node in _expressions(statement):
            if isinstance(node, ast.Subscript) and self._is_local(node.value):
                self.control |= self._of(node.slice)
            elif isinstance(node, ast.IfExp) and not self._is_select(node):
                self.control |= self._of(node.test)
            elif isinstance(node, LAZY) and self._is_lazy(node):
                self.control |= self._of(node)
            elif isinstance(node, ast.Call) and self._is_device_call(node):
                self.control |= {DATA}  # what it loads and where is not followed

    def _is_lazy(self, node: ast.BoolOp | ast.Compare) -> bool:
        """Tell whether later parts are evaluated only for the lanes that need them."""
        is_single = isinstance(node, ast.Compare) and len(node.ops) == 1
        return not is_single and not self._is_pure(node)

    def _is_select(self, node: ast.IfExp) -> bool:
        """Tell whether both sides are evaluated for all lanes: no branch is taken."""
        return self._is_pure(node.body) and self._is_pure(node.orelse)

    def _of(self, node: ast.AST) -> Sources:
        """Return the sources of an expression's value."""
        if isinstance(node, ast.Name):
            return self.values.get(node.id, NOTHING)
        if isinstance(node, ast.Attribute):
            return NOTHING  # x.shape is known to the host
        if isinstance(node, ast.Subscript):
            is_shape = isinstance(node.value, ast.Attribute)
            return self._of(node.slice) if is_shape else frozenset({DATA})
        found = frozenset(
            {DATA} if isinstance(node, ast.Call) and self._is_device_call(node) else ()
        )
        for child in ast.iter_child_nodes(node):
            found |= self._of(child)
        return found


def _expressions(statement: ast.stmt) -> list[ast.AST]:
    """Return the expression nodes of a statement without its nested statements."""
    found: list[ast.AST] = []
    open_nodes: list[ast.AST] = [statement]
    while open_nodes:
        node = open_nodes.pop()
        found.append(node)
        children = ast.iter_child_nodes(node)
        open_nodes += [c for c in children if not isinstance(c, ast.stmt)]
    return found
