"""Assignments of a kernel, written line by line: what is merged, unpacked, stored."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cuda.rewrite_calls import CallWriter
from tinytorch_gpu.cuda.rewrite_defined import read_names, sink_names, undefined_names
from tinytorch_gpu.cuda.rewrite_scopes import variable_scopes
from tinytorch_gpu.cuda.spelling import spell
from tinytorch_gpu.executor.parting import Around, Spot

if TYPE_CHECKING:
    from tinytorch_gpu.cuda.kernel_source import KernelText
    from tinytorch_gpu.cuda.names import Names
    from tinytorch_gpu.trace import SourceLine

__all__ = ["AssignmentWriter"]


class AssignmentWriter(CallWriter):
    """Writes assignments; `StatementWriter` writes what steers.

    Args:
        text: the kernel's source.
        names: its names.
        tree: the kernel, with types noted on it.
        is_counted: write the program that reports to a recorder.
    """

    def __init__(
        self,
        text: KernelText,
        names: Names,
        tree: ast.FunctionDef,
        *,
        is_counted: bool,
    ) -> None:
        super().__init__(text, names, is_counted=is_counted)
        self.lines: list[str] = []
        self.line_sources: list[SourceLine] = []
        self.line_spots: list[Spot] = []
        self.around: tuple[Around, ...] = ()
        self.indent = 1
        self.at = text.line_of(tree)
        self._function = text.name
        self.suite_masks: dict[int, str] = {}
        self.undefined = undefined_names(tree)
        self._scopes = variable_scopes(tree)

    def emit(self, line: str) -> None:
        """Write one line of the lane program."""
        self.lines.append("    " * self.indent + line)
        self.line_sources.append(self.at)
        self.line_spots.append(Spot(self._function, self.around, self.mask))

    def check_defined(self, node: ast.stmt) -> None:
        """Write a check of variables that reach memory, an address or a branch."""
        found = sink_names(node, self.undefined)
        if found:
            masks = ", ".join(f"({n!r}, d_{n})" for n in found)
            self.emit(f"check_defined(b, {self.mask}, {self.site(node)}, {masks})")

    def assign(self, node: ast.Assign) -> None:
        """Write `target = value`, with one or several targets."""
        value = self.write(node.value)
        if len(node.targets) > 1:
            value = self._temporary(value)
        for target in node.targets:
            self._store(target, value, node.value)

    def annotated(self, node: ast.AnnAssign) -> None:
        """Write `target: type = value`; the annotation says nothing."""
        if node.value is not None:
            self._store(node.target, self.write(node.value), node.value)

    def augmented(self, node: ast.AugAssign) -> None:
        """Write `x[i] += y`: one load, one store."""
        target: Any = node.target
        value = self.write(node.value)
        array = self._temporary(self.write(target.value))
        index = self._temporary(self.index(target.slice))
        site = self.site(target, spell(target.value))
        loaded = f"load(b, {self.mask}, {array}, {index}, {site})"
        new = self.binary(node, node.op, loaded, value)
        self.emit(f"store(b, {self.mask}, {array}, {index}, {new}, {site})")

    def _store(self, target: ast.expr, value: str, node: ast.expr) -> None:
        """Write an assignment of a written value (of `node`) to one target."""
        if isinstance(target, ast.Name):
            self.set_variable(target.id, value, read_names(node, self.undefined))
        elif isinstance(target, (ast.Tuple, ast.List)):
            parts = self._temporary(value)
            for position, part in enumerate(target.elts):
                self._store(part, f"{parts}[{position}]", node)
        else:
            place: Any = target
            site = self.site(place, spell(place.value))
            array, index = self.write(place.value), self.index(place.slice)
            self.emit(f"store(b, {self.mask}, {array}, {index}, {value}, {site})")

    def set_variable(self, variable: str, value: str, reads: list[str]) -> None:
        """Assign a variable; merge unless all lanes of its scope take part."""
        scope = self.suite_masks[self._scopes[variable]]
        name = f"v_{variable}"
        if variable in self.undefined:
            sources = "".join(f", d_{read}" for read in reads)
            self.emit(f"{name} = b.merge({self.mask}, {scope}, {value}, {name})")
            defined = f"d_{variable}"
            self.emit(f"{defined} = now_defined({defined}, {self.mask}{sources})")
            return
        if scope != self.mask:
            value = f"b.merge({self.mask}, {scope}, {value}, {name})"
        self.emit(f"{name} = {value}")

    def _temporary(self, value: str) -> str:
        name = self.fresh("t")
        self.emit(f"{name} = {value}")
        return name

    def expression(self, node: ast.Expr) -> None:
        """Write a call for its effect; a docstring is left out."""
        if isinstance(node.value, ast.Call):
            self.emit(self.write(node.value))
