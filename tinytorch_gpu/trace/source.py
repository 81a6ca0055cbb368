"""Places in the learner's source: a line of a kernel, and the kernel itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FunctionType

__all__ = ["KernelSource", "Site", "SourceLine"]


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of a kernel.

    Args:
        kernel: the kernel's name.
        file: path of the source file.
        line: line number in the file, from 1.
        text: the line, stripped.

    Example:
        >>> print(SourceLine("add", "lesson.py", 14, "out[i] = x[i]"))
        add, line 14:    out[i] = x[i]
    """

    kernel: str
    file: str
    line: int
    text: str

    def __str__(self) -> str:
        """Tell kernel, line and text, as errors and tables show them."""
        return f"{self.kernel}, line {self.line}:    {self.text}"


@dataclass(frozen=True, eq=False, slots=True)
class Site:
    """One place in a kernel where something happens; told apart by identity.

    Args:
        line: the source line.
        expression: what stands there, for example `out` for the array of `out[i]`.
        from_end: negative constants among the indices, as -1 of `out[-1]`.
    """

    line: SourceLine
    expression: str = ""
    from_end: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class KernelSource:
    """Which function it was: name, file and first line.

    Example:
        >>> print(KernelSource("add_kernel", "/lessons/add.py", 12))
        add_kernel (add.py:12)
    """

    name: str
    file: str
    line: int

    @classmethod
    def of(cls, function: FunctionType) -> KernelSource:
        """Return the place of a Python function; its line is that of the decorator."""
        code = function.__code__
        return cls(code.co_name, code.co_filename, code.co_firstlineno)

    def __str__(self) -> str:
        """Tell the name with the file's last part and the line."""
        return f"{self.name} ({Path(self.file).name}:{self.line})"
