"""Measure the package: files, lines, functions and documentation by room.

`python scripts/sizes.py` prints the table. tests/contract reads `measure` and the
limits to fail on excess, and `FLOORS` to know which room stands on which floor.
Read `FLOORS`, then `measure_file`, then `table`.
"""

from __future__ import annotations

import ast
import io
import statistics
import tokenize
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE = Path(__file__).resolve().parents[1] / "tinytorch_gpu"
GENERATED = ("_modidx.py",)

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 50
MAX_MEDIAN_FUNCTION_LINES = 8

# docs/architecture.md, "Rooms and floors": lowest first; within a floor, top to bottom.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "units", "settings", "data"),
    ("arch",),
    ("trace",),
    ("memory",),
    ("executor",),
    ("sanitizer", "cost"),
    ("runtime",),
    ("cuda", "triton"),
    ("library",),
    ("profiler",),
    ("tinytorch", "integration"),
    ("kernels", "exercises", "fusion", "tinytorch_gpu", "demo", "as_numba", "cli"),
)

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class FunctionSize:
    """One function: its place, and its lines from `def` to the last one."""

    place: str
    lines: int


@dataclass(frozen=True)
class FileSize:
    """One file: its room, its lines, and how many of them explain."""

    path: Path
    room: str
    lines: int
    functions: tuple[FunctionSize, ...]
    explaining_lines: int


def python_files(package: Path) -> list[Path]:
    """List the files that people write or export, in a fixed order."""
    return sorted(p for p in package.rglob("*.py") if p.name not in GENERATED)


def room_of(path: Path, package: Path) -> str:
    """Name the room: the folder or the top-level file; the package's own for its init.

    Example:
        >>> room_of(Path("p/cost/model.py"), Path("p"))
        'cost'
        >>> room_of(Path("p/units.py"), Path("p"))
        'units'
    """
    first = path.relative_to(package).parts[0]
    return package.name if first == "__init__.py" else first.removesuffix(".py")


def measure(package: Path) -> list[FileSize]:
    """Measure every file of a package."""
    return [measure_file(path, package) for path in python_files(package)]


def measure_file(path: Path, package: Path) -> FileSize:
    """Count one file's lines, functions (nested ones too), comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    place = path.relative_to(package.parent).as_posix()
    functions = tuple(
        FunctionSize(f"{place}:{node.lineno} {node.name}", _lines(node))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    explaining = set(_comment_lines(text)) | set(_docstring_lines(tree))
    room = room_of(path, package)
    return FileSize(path, room, len(text.splitlines()), functions, len(explaining))


def table(sizes: Iterable[FileSize]) -> str:
    """Lay the sizes out by room, floor by floor, with a total."""
    sizes = list(sizes)
    head = ("floor room", "files", "lines", "max", "functions", "median", "p90", "max")
    lines = [f"{head[0]:<18}" + "".join(f"{h:>10}" for h in head[1:]) + "  explained"]
    rooms = [(floor, room) for floor, rooms in enumerate(FLOORS) for room in rooms]
    for floor, room in rooms:
        found = [s for s in sizes if s.room == room]
        if found:
            lines.append(_row(f"{floor:>5} {room}", found))
    return "\n".join([*lines, _row("      all", sizes)])


def median(functions: Iterable[FunctionSize]) -> float:
    """Give the median function length in lines; 0 where there is no function."""
    return statistics.median([f.lines for f in functions] or [0])


def _row(name: str, sizes: list[FileSize]) -> str:
    """Lay out one line of the table."""
    functions = [f for s in sizes for f in s.functions]
    lengths = sorted(f.lines for f in functions) or [0]
    lines = sum(s.lines for s in sizes)
    cells = (
        len(sizes),
        lines,
        max(s.lines for s in sizes),
        len(functions),
        median(functions),
        lengths[int(0.9 * (len(lengths) - 1))],
        lengths[-1],
    )
    share = sum(s.explaining_lines for s in sizes) / max(lines, 1)
    return f"{name:<18}" + "".join(f"{c:>10g}" for c in cells) + f"{share:>11.0%}"


def _lines(node: ast.stmt | ast.expr) -> int:
    """Count a node's lines, decorators excluded."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _comment_lines(text: str) -> Iterator[int]:
    """Number the lines that carry a comment."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0]


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    """Number the lines of docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, Documented) and ast.get_docstring(node) is not None:
            text = node.body[0]
            yield from range(text.lineno, (text.end_lineno or text.lineno) + 1)


if __name__ == "__main__":
    print(table(measure(PACKAGE)))
