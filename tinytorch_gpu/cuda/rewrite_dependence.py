"""What a kernel's addresses and branches depend on: data, or shapes alone.

Counts of a launch whose addresses and branches do not depend on what memory holds can
be reused for the next launch of the same shapes. This file finds out by following
values from their sources (parameters, loads) to where they steer something.

Limits: errs on the side of "depends on data"; never the other way.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinytorch_gpu.cuda.program import DeviceProgram

__all__ = ["DATA", "Sources", "control_sources", "is_host_known"]

DATA = "<data>"
Sources = frozenset[str]
NOTHING: Sources = frozenset()
LAZY = (ast.BoolOp, ast.Compare)
ASSIGNMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign)


def is_host_known(node: ast.AST) -> bool:
    """Tell whether an attribute is one that the host knows: `x.shape`, `math.pi`.

    Types tell: a field of a named tuple is none, nor is `x.T`.
    """
    return bool(getattr(node, "is_host_known", False))


def control_sources(
    tree: ast.FunctionDef,
    is_pure: Callable[[ast.expr], bool],
    is_memory: Callable[[ast.expr], bool],
    callee_of: Callable[[ast.expr], Any],
) -> tuple[Sources, Sources]:
    """Return what steers the kernel: names of parameters, and DATA for memory.

    Args:
        tree: the kernel, with types noted on it.
        is_pure: tells expressions without loads and calls of device functions.
        is_memory: tells expressions that may be arrays.
        callee_of: gives what a call's function stands for.

    Returns:
        Sources of addresses and branches, and those of the returned value.
    """
    flow = _Flow(is_pure, is_memory, callee_of)
    flow.values = {a.arg: frozenset({a.arg}) for a in tree.args.args}
    while not flow.is_settled:
        flow.is_settled = True
        flow.visit_all(tree.body)
    return flow.control, flow.returned


class _Flow:
    """Follows sources through assignments until nothing changes."""

    def __init__(
        self,
        is_pure: Callable[[ast.expr], bool],
        is_memory: Callable[[ast.expr], bool],
        callee_of: Callable[[ast.expr], Any],
    ) -> None:
        self._is_pure = is_pure
        self._is_memory = is_memory
        self._callee_of = callee_of
        self.values: dict[str, Sources] = {}
        self.control: Sources = NOTHING
        self.returned: Sources = NOTHING
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
            elif isinstance(statement, ast.Return) and statement.value:
                self.returned |= self._of(statement.value)
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
            if isinstance(node, ast.Subscript) and self._is_memory(node.value):
                self.control |= self._of(node.slice)
            elif isinstance(node, ast.IfExp) and not self._is_select(node):
                self.control |= self._of(node.test)
            elif isinstance(node, LAZY) and self._is_lazy(node):
                self.control |= self._of(node)
            elif isinstance(node, ast.Call):
                self.control |= self._called(node)[0]

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
            return NOTHING if is_host_known(node) else self._of(node.value)
        if isinstance(node, ast.Subscript):
            is_shape = is_host_known(node.value)
            return self._of(node.slice) if is_shape else frozenset({DATA})
        if isinstance(node, ast.Call):
            return self._called(node)[1]
        return self._of_all(ast.iter_child_nodes(node))

    def _of_all(self, nodes: Iterable[ast.AST]) -> Sources:
        return NOTHING.union(*map(self._of, nodes))

    def _called(self, node: ast.Call) -> tuple[Sources, Sources]:
        """Return what a call adds to control, and the sources of its value."""
        program = getattr(node, "program", None)
        if program is not None:
            return self._device_call(node, program)
        callee = self._callee_of(node.func)
        if getattr(callee, "touches_memory", False):
            index = node.bound[1]  # type: ignore[attr-defined]
            return self._of(index), frozenset({DATA})
        return NOTHING, self._of_all(getattr(node, "bound", node.args))

    def _device_call(
        self, node: ast.Call, program: DeviceProgram
    ) -> tuple[Sources, Sources]:
        """Put the call's arguments in place of the function's parameters."""
        if program.plain is None:  # a recursive call: not known yet
            return frozenset({DATA}), frozenset({DATA})
        given = map(self._of, node.bound)  # type: ignore[attr-defined]
        sources = dict(zip(program.parameters, given, strict=True))
        sources[DATA] = frozenset({DATA})
        control, value = (
            NOTHING.union(*(sources[name] for name in names))
            for names in (program.control, program.value_sources)
        )
        return control, value


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
