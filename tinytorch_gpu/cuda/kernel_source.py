"""The text of a kernel: found, parsed, and quoted in errors with a caret."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TYPE_CHECKING

from tinytorch_gpu.cuda.lambdas import matching_lambdas
from tinytorch_gpu.errors import KernelSyntaxError
from tinytorch_gpu.trace import KernelSource, SourceLine

if TYPE_CHECKING:
    from types import FunctionType

__all__ = ["KernelText"]

LAMBDA = "<lambda>"


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
            lines, self._first = inspect.getsourcelines(function)
            if self.name == LAMBDA:  # its line alone may be no statement
                lines, self._first = inspect.findsource(function)[0], 1
        except (OSError, TypeError):
            raise self._no_source() from None
        self._lines = textwrap.dedent("".join(lines)).splitlines()
        self.tree = self._parsed(function)
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

    def _parsed(self, function: FunctionType) -> ast.FunctionDef:
        module = ast.parse("\n".join(self._lines))
        is_lambda = self.name == LAMBDA
        found = matching_lambdas(module, function) if is_lambda else module.body[:1]
        if len(found) != 1:
            raise self._unclear_lambda(function, len(found))
        tree = found[0]
        if not isinstance(tree, ast.FunctionDef):
            raise self.syntax_error(tree, "a kernel is a function made with `def`")
        arguments = tree.args
        others = (arguments.vararg, arguments.kwarg)
        if any(others) or arguments.kwonlyargs or arguments.posonlyargs:
            raise self.syntax_error(tree, "a kernel takes positional parameters only")
        return tree

    def _unclear_lambda(self, function: FunctionType, count: int) -> KernelSyntaxError:
        line = function.__code__.co_firstlineno
        return KernelSyntaxError(
            f"{count} lambdas in line {line} could be the one that is called",
            where=f"{self.file}, line {line}",
            why="a lambda is found again by its line and what it compiles to",
            fix="give each a line of its own, or write it with `def`",
            kernel=self.name,
        )

    def _no_source(self) -> KernelSyntaxError:
        return KernelSyntaxError(
            f"the source of kernel `{self.name}` cannot be read",
            where=self.file,
            why="the kernel is rewritten from its text, and Python kept none",
            fix="define it in a file or a notebook cell;\n"
            "Python 3.13 and later keep the text of the REPL and of python -c too",
            kernel=self.name,
        )
