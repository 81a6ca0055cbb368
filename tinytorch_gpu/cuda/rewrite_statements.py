"""Statements of a kernel, written as masked code over whole batches of lanes.

Each suite has a variable that holds its active mask. A branch makes a mask for each
side and skips a side that no lane takes; a statement in which lanes can leave (`break`,
`continue`, `return`) shrinks the masks of the suites around it, and what follows runs
only if lanes are left.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.dummies import poison_of
from tinytorch_gpu.cuda.rewrite_assignments import AssignmentWriter
from tinytorch_gpu.cuda.spelling import spell
from tinytorch_gpu.executor.parting import Around, Spot

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.cuda.kernel_source import KernelText
    from tinytorch_gpu.cuda.names import Names

__all__ = ["StatementWriter"]

Suite = list[ast.stmt]
BROKE = "left {} by `break`"


class StatementWriter(AssignmentWriter):
    """Writes a whole lane program, line by line.

    Args:
        text: the kernel's source.
        names: its names.
        tree: the kernel, with types noted on it.
        variables: the dummy of each variable.
        is_counted: write the program that reports to a recorder.
        is_kernel: the function is the kernel itself, not a device function.
        is_debug: check `assert`, `raise` and integer division by zero.
    """

    def __init__(
        self,
        text: KernelText,
        names: Names,
        tree: ast.FunctionDef,
        variables: dict[str, Any],
        *,
        is_counted: bool,
        is_kernel: bool,
        is_debug: bool = False,
    ) -> None:
        super().__init__(text, names, tree, is_counted=is_counted)
        self.tree = tree
        self._variables = variables
        self._is_kernel = is_kernel
        self.is_debug = is_debug
        self._is_tail = is_kernel
        self._loops: list[str] = []
        self._statements: dict[type[ast.stmt], Callable[[Any], None]] = {
            ast.Assign: self.assign,
            ast.AnnAssign: self.annotated,
            ast.AugAssign: self.augmented,
            ast.Expr: self.expression,
            ast.If: self._if,
            ast.For: self._for,
            ast.While: self._while,
            ast.Break: self._break,
            ast.Continue: self._continue,
            ast.Return: self._return,
            ast.Assert: self._assert,
            ast.Raise: self._raise,
            ast.Pass: lambda _node: None,
        }

    def program(self, name: str) -> str:
        """Return the lane program's text."""
        parameters = ", ".join(f"v_{p}" for p in self.names.parameters)
        self.lines = []
        self.emit("op = b.recorder.operation") if self.is_counted else None
        self.emit(f"f = b.frame(m0, is_kernel={self._is_kernel})")
        for variable in sorted(self.names.local - set(self.names.parameters)):
            dummy = self._variables.get(variable)
            is_poisoned = variable in self.undefined and isinstance(dummy, np.generic)
            start = self.keep(poison_of(dummy)) if is_poisoned else "UNDEFINED"
            self.emit(f"v_{variable} = {start}")
        for variable in sorted(self.undefined):
            self.emit(f"d_{variable} = m0.none()")
        self._suite(self.tree.body, "m0")
        self.emit("return f.value")
        head = f"def {name}(b, m0, {parameters}):"
        self.line_sources.insert(0, self.at)
        self.line_spots.insert(0, Spot(self.text.name, (), "m0"))
        return "\n".join([head, *self.lines])

    # Suites and masks.

    def _suite(self, body: Suite, mask: str) -> None:
        """Write statements under a mask; after one that lanes leave, test it again."""
        outer_mask, outer_indent, is_tail = self.mask, self.indent, self._is_tail
        self.mask = self.suite_masks[id(body)] = mask
        for position, statement in enumerate(body):
            is_last = position == len(body) - 1
            self._is_tail = is_tail and is_last
            self._statement(statement)
            if _leaves(statement) and not is_last:
                self.emit(f"if {mask}.count:")
                self.indent += 1
        self.mask, self.indent, self._is_tail = outer_mask, outer_indent, is_tail

    def _nested(self, body: Suite, mask: str, around: Around) -> None:
        outer, self.around = self.around, (*self.around, around)
        self.indent += 1
        self._suite(body, mask)
        self.indent -= 1
        self.around = outer

    def _statement(self, node: ast.stmt) -> None:
        writer = self._statements[type(node)]
        self.at = self.text.line_of(node)
        before = len(self.lines)
        if not isinstance(node, ast.While):
            self.check_defined(node)
        writer(node)
        if len(self.lines) == before:
            self.emit("pass")

    # Branches and loops.

    def _if(self, node: ast.If) -> None:
        taken, rest = self.fresh("m"), self.fresh("m")
        test, site = self.write(node.test), self.site(node)
        self.emit(f"{taken}, {rest} = b.branch({self.mask}, {test}, {site})")
        line = self.text.line_of(node)
        skipped = Around(line, "did not take {}", self.mask, rest)
        took = Around(line, "took {}", self.mask, taken)
        sides = [(node.body, taken, skipped), (node.orelse, rest, took)]
        waiting = [_syncs_grid(body) for body, *_ in sides]
        if any(waiting):  # the others go first: a grid barrier waits for their end
            sides.sort(key=lambda side: _syncs_grid(side[0]))
        for position, (body, mask, others) in enumerate(sides):
            if body:
                self.emit(f"if {mask}.count:")
                self._nested(body, mask, others)
            if any(waiting) and position == 0 and self._is_tail:
                self.emit(f"f.leave({mask})")
        if _leaves(node):
            self.emit(f"{self.mask} = {taken}.plus({rest})")

    def _for(self, node: ast.For) -> None:
        call = node.iter
        is_range = isinstance(call, ast.Call) and self.names.static(call.func) is range
        if not is_range or call.keywords or not isinstance(node.target, ast.Name):  # type: ignore[attr-defined]
            self.refuse(node, "a `for` over something other than range(...)")
        bounds = ", ".join(self.write(a) for a in call.args)  # type: ignore[attr-defined]
        loop, inside, value = self.fresh("w"), self.fresh("m"), self.fresh("t")
        self.emit(f"{loop} = RangeLoop(b, {self.mask}, {self.site(node)}, {bounds})")
        self.emit(f"for {inside}, {value} in {loop}:")
        self.indent += 1
        outer, self.mask = self.mask, inside
        self.suite_masks[id(node.body)] = inside
        self.set_variable(node.target.id, value, [])
        self.mask = outer
        self.indent -= 1
        self._loop_body(node, loop, inside, is_shrinking=_shrinks(node.body))

    def _while(self, node: ast.While) -> None:
        loop, inside = self.fresh("w"), self.fresh("m")
        self.emit(f"{loop} = WhileLoop(b, {self.mask}, {self.site(node)})")
        self.emit("while True:")
        self.indent += 1
        self.emit(f"{inside} = {loop}.mask")
        self.emit(f"if not {inside}.count: break")
        around, self.around = self.around, (*self.around, self._in_loop(node, loop))
        outer, self.mask = self.mask, inside
        self.check_defined(node)
        stored = (n for n in ast.walk(node) if isinstance(n, ast.Name))
        changed = sorted({n.id for n in stored if isinstance(n.ctx, ast.Store)})
        state = "".join(f"v_{name}, " for name in changed)
        self.emit(f"{inside} = {loop}.test({self.write(node.test)}, ({state}))")
        self.mask, self.around = outer, around
        self.emit(f"if not {inside}.count: break")
        self.indent -= 1
        self._loop_body(node, loop, inside, is_shrinking=True)

    def _loop_body(
        self, node: ast.For | ast.While, loop: str, inside: str, *, is_shrinking: bool
    ) -> None:
        """Write the body, hand the lanes back, then `else` and what `return` took."""
        self._loops.append(loop)
        is_tail, self._is_tail = self._is_tail, False
        self._nested(node.body, inside, self._in_loop(node, loop))
        self._loops.pop()
        if is_shrinking:
            self.indent += 1
            self.emit(f"{loop}.next({inside})")
            self.indent -= 1
        if node.orelse:
            rest = self.fresh("m")
            self.emit(f"{rest} = {loop}.finished")
            # The suite's own mask holds all until `else` is over.
            broke = self.fresh("m")
            self.emit(f"{broke} = {self.mask}.minus({rest})")
            self.emit(f"if {rest}.count:")
            others = Around(self.text.line_of(node), BROKE, self.mask, broke)
            self._nested(node.orelse, rest, others)
            if _shrinks(node.orelse):
                self.emit(f"{self.mask} = {broke}.plus({rest})")
        self._is_tail = is_tail
        if _leaves(node):
            self.emit(f"{self.mask} = f.staying({self.mask})")

    def _in_loop(self, node: ast.For | ast.While, loop: str) -> Around:
        line = self.text.line_of(node)
        return Around(line, "left {} before", self.mask, loop, is_loop=True)

    def _break(self, _node: ast.Break) -> None:
        self.emit(f"{self.mask} = {self.mask}.none()")

    def _continue(self, _node: ast.Continue) -> None:
        self.emit(f"{self._loops[-1]}.skip({self.mask})")
        self.emit(f"{self.mask} = {self.mask}.none()")

    def _return(self, node: ast.Return) -> None:
        value = "None" if node.value is None else self.write(node.value)
        common = getattr(node, "unified", None)
        value = value if common is None else self.converted(value, common)
        self.emit(f"f.leave({self.mask}, {value})")
        self.emit(f"{self.mask} = {self.mask}.none()")

    def _assert(self, node: ast.Assert) -> None:
        if self.is_debug:
            message = node.msg.value if isinstance(node.msg, ast.Constant) else ""
            test, site = self.write(node.test), self.site(node)
            self.emit(f"kernel_assert(b, {self.mask}, {site}, {test}, {message!r})")

    def _raise(self, node: ast.Raise) -> None:
        if self.is_debug:
            made = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            kind = None if made is None else self.names.static(made)
            if not (isinstance(kind, type) and issubclass(kind, Exception)):
                self.refuse(node, "raising this in a kernel", "raise ValueError(...)")
            told = spell(node.exc)  # type: ignore[arg-type]
            given = f"{self.site(node)}, {self.keep(kind)}, {told!r}"
            self.emit(f"kernel_raise(b, {self.mask}, {given})")
        self.emit(f"f.leave({self.mask})")
        self.emit(f"{self.mask} = {self.mask}.none()")


def _syncs_grid(body: Suite) -> bool:
    """Tell whether a grid barrier stands in a suite."""
    calls = (n for s in body for n in ast.walk(s) if isinstance(n, ast.Call))
    return any(
        getattr(call, "is_grid_sync", False)
        or getattr(getattr(call, "program", None), "is_cooperative", False)
        for call in calls
    )


def _leaves(node: ast.stmt) -> bool:
    """Tell whether lanes can leave the suite that the statement stands in."""
    if isinstance(node, (ast.Break, ast.Continue, ast.Return, ast.Raise)):
        return True
    if isinstance(node, ast.If):
        return any(map(_leaves, (*node.body, *node.orelse)))
    if isinstance(node, (ast.For, ast.While)):  # break and continue end at the loop
        returns = any(isinstance(p, (ast.Return, ast.Raise)) for p in ast.walk(node))
        return returns or any(map(_leaves, node.orelse))
    return False


def _shrinks(body: Suite) -> bool:
    return any(map(_leaves, body))
