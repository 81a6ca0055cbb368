"""Types of a kernel's statements: follows every path until no type changes.

Paths are followed again and again: loops hand types back to their head, a recursive
call needs the type that the function returns, and a read may find out that types must
meet further up.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.constructs import construct_of
from tinytorch_gpu.cuda.dummies import join_dummies, key_of
from tinytorch_gpu.cuda.infer_expressions import UnknownTypeError
from tinytorch_gpu.cuda.infer_variables import Edge, State, VariableTypes
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.indexing import unpack
from tinytorch_gpu.trace import Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.cuda.kernel_source import KernelText
    from tinytorch_gpu.cuda.names import Names

__all__ = ["StatementTypes"]

MOST_PASSES = 64


@dataclass
class _Loop:
    """Paths that leave a loop's body by a statement."""

    breaks: list[Edge] = field(default_factory=list)
    continues: list[Edge] = field(default_factory=list)


class StatementTypes(VariableTypes):
    """Finds the types of a kernel's variables.

    Args:
        text: the kernel's source.
        names: its names.
        parameters: a dummy for each parameter.
        is_kernel: it is no device function, so it returns nothing.
    """

    def __init__(
        self,
        text: KernelText,
        names: Names,
        parameters: dict[str, Any],
        *,
        is_kernel: bool,
    ) -> None:
        super().__init__(text, names)
        self.returned: Any = None
        self.is_return_known = False
        self.is_recursive = False
        self._parameters = parameters
        self._is_kernel = is_kernel
        self._returns: list[ast.Return] = []
        self._loops: list[_Loop] = []
        self.statements: dict[type[ast.stmt], Callable[[Any], None]] = {
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.Expr: self._expression,
            ast.If: self._if,
            ast.For: self._for,
            ast.While: self._while,
            ast.Break: lambda node: self._jump(node, self._loops[-1].breaks),
            ast.Continue: lambda node: self._jump(node, self._loops[-1].continues),
            ast.Return: self._return,
            ast.Assert: self._assert,
            ast.Raise: self._raise,
            ast.Pass: lambda _node: None,
        }

    def infer(self, tree: ast.FunctionDef) -> None:
        """Find all types; the result stands on the tree and in the attributes.

        Raises:
            KernelSyntaxError: a construct is outside the kernel language.
            KernelTypeError: types do not fit, or never settle.
            UninitializedReadError: a variable is read that no path has assigned.
        """
        for _ in range(MOST_PASSES):
            self.has_changed = False
            self.unknown, self._returns = [], []
            self.versions, self.conversions = {}, {}
            self.state = State()
            for name, dummy in self._parameters.items():
                self.give(name, dummy)
            self._suite(tree.body)
            self.settle_return(tree)
            if not self.has_changed:
                break
        else:
            raise _unsettled(str(self.text.line_of(tree)))
        if self.unknown:
            raise self.unknown[0]

    # Statements.

    def _suite(self, body: list[ast.stmt]) -> None:
        for statement in body:
            statement.is_dead = self.state is None  # type: ignore[attr-defined]
            if self.state is None:
                continue
            handler = self.statements.get(type(statement))
            if handler is None:
                self.refuse(statement, *construct_of(statement))
            handler(statement)

    def _read_all(self, *nodes: ast.expr) -> list[Any] | None:
        """Read expressions; None if one is not known yet and is asked again later."""
        try:
            return [self.read(node) for node in nodes]
        except UnknownTypeError as unknown:
            self.ask_again(unknown)
            return None

    def _assign(self, node: ast.Assign) -> None:
        found = self._read_all(node.value)
        for target in node.targets:
            self._store(target, found)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._store(node.target, self._read_all(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Attribute):
            self.refuse(node, "an assignment to an attribute in a kernel")
        target = node.target
        both = ast.BinOp(target, node.op, node.value)
        self._read_all(ast.copy_location(both, node))

    def _store(self, target: ast.expr, found: list[Any] | None) -> None:
        """Assign to one target; `found` is None while the value's type is unknown."""
        if isinstance(target, ast.Name):
            if found is not None:
                target.version = key_of(found[0])  # type: ignore[attr-defined]
                self.give(target.id, found[0])
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                if isinstance(part, ast.Starred):
                    self.refuse(part, "a starred target", "name every element")
            site = Site(self.text.line_of(target))
            count = len(target.elts)
            parts = None if found is None else unpack(found[0], count, site)
            for position, part in enumerate(target.elts):
                self._store(part, None if parts is None else [parts[position]])
        elif isinstance(target, ast.Subscript):
            self._read_all(target)
        else:
            self.refuse(target, "an assignment to an attribute in a kernel")

    def _expression(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if not isinstance(node.value, ast.Call):
            self.refuse(node, "an expression whose value is not used")
        self._read_all(node.value)

    def _if(self, node: ast.If) -> None:
        decided = self.decided(node.test)
        node.decided = decided  # type: ignore[attr-defined]
        if decided is not None:
            self._suite(node.body if decided else node.orelse)
            return
        self._read_all(node.test)
        before = self.state
        edges: list[Edge] = []
        for place, suite in (("body", node.body), ("orelse", node.orelse)):
            self.state = before.copy() if before else None
            self._suite(suite)
            edges += self.edge(place, node)
        self.state = self.join("if", node, edges)

    def _for(self, node: ast.For) -> None:
        call = node.iter
        if not isinstance(call, ast.Call) or call.keywords:
            self.refuse(node, "keyword arguments of range", "pass them by position")
        self._read_all(*call.args)
        self._loop(node, lambda: self._store(node.target, [np.int64(1)]), exits=True)

    def _while(self, node: ast.While) -> None:
        is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self._loop(node, lambda: self._read_all(node.test), exits=not is_endless)

    def _loop(
        self, node: ast.For | ast.While, begin: Callable[[], Any], *, exits: bool
    ) -> None:
        """Follow a loop until the types at its head settle, then go on after it."""
        entry, loop = self.edge("before", node), _Loop()
        back: list[Edge] = []
        known = len(self.unknown)
        for _ in range(MOST_PASSES):
            del self.unknown[known:]
            self.state = self.join("head", node, [*entry, *back])
            head = self.state.copy() if self.state and exits else None
            begin()
            if head and isinstance(node, ast.While) and self.state:
                head = self.state.copy()  # what the test read is settled there
            loop = _Loop()
            self._loops.append(loop)
            self._suite(node.body)
            self._loops.pop()
            ends = [*self.edge("body", node), *loop.continues]
            if [e.state.keys() for e in ends] == [e.state.keys() for e in back]:
                break
            back = ends
        else:
            raise _unsettled(str(self.text.line_of(node)))
        self.state = head
        self._suite(node.orelse)
        exits_by = [*self.edge("orelse", node), *loop.breaks]
        self.state = self.join("exit", node, exits_by)

    def _jump(self, node: ast.stmt, edges: list[Edge]) -> None:
        edges += self.edge("before", node)
        self.state = None

    def _assert(self, node: ast.Assert) -> None:
        self._read_all(node.test)

    def _raise(self, _node: ast.Raise) -> None:
        self.state = None

    # What the function returns.

    def _return(self, node: ast.Return) -> None:
        value = node.value or ast.Constant(None)
        is_none = isinstance(value, ast.Constant) and value.value is None
        if not is_none and self._is_kernel:
            self.refuse(node, "a kernel that returns a value", "write it to an array")
        found = self._read_all(value)
        self.state = None
        if found is not None:
            node.dummy = found[0]  # type: ignore[attr-defined]
            self._returns.append(node)

    def settle_return(self, tree: ast.FunctionDef) -> None:
        """Unify what the paths return; a path that ends returns None."""
        dummies = [node.dummy for node in self._returns]  # type: ignore[attr-defined]
        if self.state is not None and not self._is_kernel:
            dummies.append(None)
        try:
            returned = join_dummies(dummies) if dummies else None
        except KernelTypeError as error:
            error.where = str(self.text.line_of(tree))
            raise
        is_known = bool(dummies)
        if (is_known, key_of(returned)) != (
            self.is_return_known,
            key_of(self.returned),
        ):
            self.returned, self.is_return_known = returned, is_known
            self.has_changed |= self.is_recursive
        for node in self._returns:
            differs = key_of(node.dummy) != key_of(returned)  # type: ignore[attr-defined]
            node.unified = returned if differs else None  # type: ignore[attr-defined]


def _unsettled(where: str) -> KernelTypeError:
    return KernelTypeError(
        f"types that still change after {MOST_PASSES} rounds",
        where=where,
        why="a type may depend on itself through loops and calls, but has to settle",
        fix="convert the values that go round: float64(x), int64(i)",
    )
