"""The text of a kernel: found, parsed, and quoted in errors with a caret."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING

from tinytorch_gpu.errors import KernelSyntaxError
from tinytorch_gpu.trace import KernelSource, SourceLine

if TYPE_CHECKING:
    from types import FunctionType

__all__ = ["KernelText"]


class KernelText:
    """Source of one kernel.

    Args:
        function: the kernel.

    Raises:
        KernelSyntaxError: its source cannot be read, or it is no plain function.
    """

    def __init__(self, function: FunctionType) -> None:
        self.name = function.__name__
        self.file = inspect.getsourcefile(function) or "<unknown>"
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise self._no_source() from None
        self._first = first
        self._lines = textwrap.dedent("".join(lines)).splitlines()
        self._indent = len(lines[0]) - len(self._lines[0]) - 1
        self.tree = self._parsed()
        defaults = function.__defaults__ or ()
        self.parameters = ast.arguments(
            posonlyargs=[],
            args=self.tree.args.args,
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[ast.Constant(value) for value in defaults],
        )
        self.source = KernelSource.of(function)

    def line_of(self, node: ast.AST) -> SourceLine:
        """Return the source line of a node."""
        number = getattr(node, "lineno", 1)
        text = self._lines[number - 1].strip()
        return SourceLine(self.name, self.file, self._first + number - 1, text)

    def syntax_error(
        self, node: ast.AST, what: str, fix: str = ""
    ) -> KernelSyntaxError:
        """Make the error for a construct outside the kernel language."""
        line = self.line_of(node)
        number = getattr(node, "lineno", 1)
        whole = self._lines[number - 1]
        before = whole.encode()[: getattr(node, "col_offset", 0)]  # ast counts bytes
        column = len(before.decode()) - (len(whole) - len(whole.lstrip()))
        caret = " " * max(0, column) + "^"
        head = f"{line.kernel}, line {line.line}:    "
        return KernelSyntaxError(
            what,
            where=f"{head}{line.text}\n{' ' * len(head)}{caret}\n{self.file}",
            why="kernels are compiled for the GPU, which knows only part of Python",
            fix=fix or "write it with arithmetic, if, for, while and array elements",
            kernel=line.kernel,
            line=line.line,
        )

    def _parsed(self) -> ast.FunctionDef:
        tree = ast.parse("\n".join(self._lines)).body[0]
        if not isinstance(tree, ast.FunctionDef):
            raise self.syntax_error(tree, "a kernel is a function made with `def`")
        arguments = tree.args
        others = (arguments.vararg, arguments.kwarg)
        if any(others) or arguments.kwonlyargs or arguments.posonlyargs:
            raise self.syntax_error(tree, "a kernel takes positional parameters only")
        return tree

    def _no_source(self) -> KernelSyntaxError:
        return KernelSyntaxError(
            f"the source of kernel `{self.name}` cannot be read",
            where=self.file,
            why="the kernel is rewritten from its text, and Python kept none",
            fix="define it in a file or a notebook cell, not in python -c or the REPL",
            kernel=self.name,
        )
