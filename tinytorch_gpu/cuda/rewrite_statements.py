"""Statements of a kernel, written as masked code over whole batches of lanes.

Each suite has a variable that holds its active mask. A branch makes a mask for each
side and skips a side that no lane takes; a statement in which lanes can leave (`break`,
`continue`, `return`) shrinks the masks of the suites around it, and what follows runs
only if lanes are left.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cuda.intrinsics import Intrinsic
from tinytorch_gpu.cuda.rewrite_calls import CallWriter
from tinytorch_gpu.cuda.rewrite_scopes import variable_scopes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.cuda.kernel_source import KernelText
    from tinytorch_gpu.cuda.names import Names
    from tinytorch_gpu.trace import SourceLine

__all__ = ["StatementWriter"]

Suite = list[ast.stmt]


class StatementWriter(CallWriter):
    """Writes a whole lane program, line by line.

    Args:
        text: the kernel's source.
        names: its names.
        is_counted: write the program that reports to a recorder.
        is_kernel: the function is the kernel itself, not a device function.
    """

    def __init__(
        self, text: KernelText, names: Names, *, is_counted: bool, is_kernel: bool
    ) -> None:
        super().__init__(text, names, is_counted=is_counted)
        self.lines: list[str] = []
        self.line_sources: list[SourceLine] = []
        self.has_barrier = False
        self._is_kernel = is_kernel
        self._indent = 1
        self._scopes = variable_scopes(text.tree)
        self._suite_masks: dict[int, str] = {}
        self._loops: list[str] = []
        self._at = text.line_of(text.tree)
        self._statements: dict[type[ast.stmt], Callable[[Any], None]] = {
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.Expr: self._expression,
            ast.If: self._if,
            ast.For: self._for,
            ast.While: self._while,
            ast.Break: self._break,
            ast.Continue: self._continue,
            ast.Return: self._return,
            ast.Pass: lambda _node: None,
        }

    def program(self, name: str) -> str:
        """Return the lane program's text."""
        parameters = ", ".join(f"v_{p}" for p in self.names.parameters)
        self.lines = []
        self._emit("op = b.recorder.operation") if self.is_counted else None
        self._emit(f"f = b.frame(m0, is_kernel={self._is_kernel})")
        for variable in sorted(self.names.local - set(self.names.parameters)):
            self._emit(f"v_{variable} = UNDEFINED")
        self._suite(self.text.tree.body, "m0")
        self._emit("return f.value")
        head = f"def {name}(b, m0, {parameters}):"
        self.line_sources.insert(0, self._at)
        return "\n".join([head, *self.lines])

    # Suites and masks.

    def _emit(self, line: str) -> None:
        self.lines.append("    " * self._indent + line)
        self.line_sources.append(self._at)

    def _suite(self, body: Suite, mask: str) -> None:
        """Write statements under a mask; after one that lanes leave, test it again."""
        outer_mask, outer_indent = self.mask, self._indent
        self.mask = self._suite_masks[id(body)] = mask
        for position, statement in enumerate(body):
            self._statement(statement)
            is_last = position == len(body) - 1
            if _leaves(statement) and not is_last:
                self._emit(f"if {mask}.count:")
                self._indent += 1
        self.mask, self._indent = outer_mask, outer_indent

    def _nested(self, body: Suite, mask: str) -> None:
        self._indent += 1
        self._suite(body, mask)
        self._indent -= 1

    def _statement(self, node: ast.stmt) -> None:
        writer = self._statements.get(type(node))
        if writer is None:
            self.refuse(node, f"a {type(node).__name__} statement in a kernel")
        self._at = self.text.line_of(node)
        before = len(self.lines)
        writer(node)
        if len(self.lines) == before:
            self._emit("pass")

    # Assignments.

    def _assign(self, node: ast.Assign) -> None:
        value = self.write(node.value)
        if len(node.targets) > 1:
            value = self._temporary(value)
        for target in node.targets:
            self._store(target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._store(node.target, self.write(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        target = node.target
        value = self.write(node.value)
        if isinstance(target, ast.Name):
            old = self.write(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            self._store(target, self.binary(node, node.op, old, value))
            return
        if not isinstance(target, ast.Subscript):
            self.refuse(node, "an assignment to an attribute in a kernel")
        array = self._temporary(self.write(target.value))
        index = self._temporary(self.index(target.slice))
        site = self.site(target, ast.unparse(target.value))
        loaded = f"load(b, {self.mask}, {array}, {index}, {site})"
        new = self.binary(node, node.op, loaded, value)
        self._emit(f"store(b, {self.mask}, {array}, {index}, {new}, {site})")

    def _store(self, target: ast.expr, value: str) -> None:
        """Write an assignment of a written value to one target."""
        if isinstance(target, ast.Name):
            self._set(target.id, value)
        elif isinstance(target, ast.Tuple):
            count, site = len(target.elts), self.site(target)
            parts = self._temporary(f"unpack({value}, {count}, {site})")
            for position, part in enumerate(target.elts):
                self._store(part, f"{parts}[{position}]")
        elif isinstance(target, ast.Subscript):
            site = self.site(target, ast.unparse(target.value))
            array, index = self.write(target.value), self.index(target.slice)
            self._emit(f"store(b, {self.mask}, {array}, {index}, {value}, {site})")
        else:
            self.refuse(target, "an assignment to an attribute in a kernel")

    def _set(self, variable: str, value: str) -> None:
        """Assign a variable; merge unless all lanes of its scope take part."""
        scope = self._suite_masks[self._scopes[variable]]
        name = f"v_{variable}"
        if scope != self.mask:
            value = f"b.merge({self.mask}, {scope}, {value}, {name})"
        self._emit(f"{name} = {value}")

    def _temporary(self, value: str) -> str:
        name = self.fresh("t")
        self._emit(f"{name} = {value}")
        return name

    def _expression(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if not isinstance(node.value, ast.Call):
            self.refuse(node, "an expression whose value is not used")
        callee = self.names.static(node.value.func)
        if isinstance(callee, Intrinsic) and callee.role == "barrier":
            self._barrier(node)
        else:
            self._emit(self.write(node.value))

    def _barrier(self, node: ast.Expr) -> None:
        if not self._is_kernel:
            self.refuse(node, "a barrier in a device function", "put it in the kernel")
        self.has_barrier = True
        self._emit(f"barrier(b, {self.mask}, {self.site(node)})")
        self._emit("yield")

    # Branches and loops.

    def _if(self, node: ast.If) -> None:
        taken, rest = self.fresh("m"), self.fresh("m")
        test, site = self.write(node.test), self.site(node)
        self._emit(f"{taken}, {rest} = b.branch({self.mask}, {test}, {site})")
        for body, mask in ((node.body, taken), (node.orelse, rest)):
            if body:
                self._emit(f"if {mask}.count:")
                self._nested(body, mask)
        if _leaves(node):
            self._emit(f"{self.mask} = {taken}.plus({rest})")

    def _for(self, node: ast.For) -> None:
        call = node.iter
        is_range = isinstance(call, ast.Call) and self.names.static(call.func) is range
        if not is_range or call.keywords or not isinstance(node.target, ast.Name):  # type: ignore[attr-defined]
            self.refuse(node, "a `for` over something other than range(...)")
        bounds = ", ".join(self.write(a) for a in call.args)  # type: ignore[attr-defined]
        loop, inside, value = self.fresh("w"), self.fresh("m"), self.fresh("t")
        self._emit(f"{loop} = RangeLoop(b, {self.mask}, {self.site(node)}, {bounds})")
        self._emit(f"for {inside}, {value} in {loop}:")
        self._indent += 1
        outer, self.mask = self.mask, inside
        self._suite_masks[id(node.body)] = inside
        self._set(node.target.id, value)
        self.mask = outer
        self._indent -= 1
        self._loop_body(node, loop, inside, is_shrinking=_shrinks(node.body))

    def _while(self, node: ast.While) -> None:
        loop, inside = self.fresh("w"), self.fresh("m")
        self._emit(f"{loop} = WhileLoop(b, {self.mask}, {self.site(node)})")
        self._emit("while True:")
        self._indent += 1
        self._emit(f"{inside} = {loop}.mask")
        self._emit(f"if not {inside}.count: break")
        outer, self.mask = self.mask, inside
        self._emit(f"{inside} = {loop}.test({self.write(node.test)})")
        self.mask = outer
        self._emit(f"if not {inside}.count: break")
        self._indent -= 1
        self._loop_body(node, loop, inside, is_shrinking=True)

    def _loop_body(
        self, node: ast.For | ast.While, loop: str, inside: str, *, is_shrinking: bool
    ) -> None:
        """Write the body, hand the lanes back, then `else` and what `return` took."""
        self._loops.append(loop)
        self._nested(node.body, inside)
        self._loops.pop()
        if is_shrinking:
            self._indent += 1
            self._emit(f"{loop}.next({inside})")
            self._indent -= 1
        if node.orelse:
            rest = self.fresh("m")
            self._emit(f"{rest} = {loop}.finished")
            broke = self.fresh(
                "m"
            )  # the suite's own mask holds all until `else` is over
            self._emit(f"{broke} = {self.mask}.minus({rest})")
            self._emit(f"if {rest}.count:")
            self._nested(node.orelse, rest)
            if _shrinks(node.orelse):
                self._emit(f"{self.mask} = {broke}.plus({rest})")
        if _leaves(node):
            self._emit(f"{self.mask} = f.staying({self.mask})")

    def _break(self, _node: ast.Break) -> None:
        self._emit(f"{self.mask} = {self.mask}.none()")

    def _continue(self, _node: ast.Continue) -> None:
        self._emit(f"{self._loops[-1]}.skip({self.mask})")
        self._emit(f"{self.mask} = {self.mask}.none()")

    def _return(self, node: ast.Return) -> None:
        is_none = isinstance(node.value, ast.Constant) and node.value.value is None
        if node.value is not None and not is_none and self._is_kernel:
            self.refuse(node, "a kernel that returns a value", "write it to an array")
        value = "None" if node.value is None else self.write(node.value)
        self._emit(f"f.leave({self.mask}, {value})")
        self._emit(f"{self.mask} = {self.mask}.none()")


def _leaves(node: ast.stmt) -> bool:
    """Tell whether lanes can leave the suite that the statement stands in."""
    if isinstance(node, (ast.Break, ast.Continue, ast.Return)):
        return True
    if isinstance(node, ast.If):
        return any(map(_leaves, (*node.body, *node.orelse)))
    if isinstance(node, (ast.For, ast.While)):  # break and continue end at the loop
        returns = any(isinstance(part, ast.Return) for part in ast.walk(node))
        return returns or any(map(_leaves, node.orelse))
    return False


def _shrinks(body: Suite) -> bool:
    return any(map(_leaves, body))
