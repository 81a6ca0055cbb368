"""The log as text: a tree of what happened, and a table with a row for each op."""

from __future__ import annotations

import math
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.trace.text_table import WIDTH, cut_table, shorten
from tinytorch_gpu.units import format_bytes, format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.library.log_entry import LogEntry

__all__ = ["path_text", "table_text", "tree_text"]

TITLES = ("", "op", "of", "keys", "launches", "served by")
LEGEND = (
    "keys: Autograd, Profiler, SimGPU, Decompose, CPU, in the order in which they were "
    "asked;\na small letter: nothing was there, and the next one was asked"
)
MOST_ROWS = 1000
DEEPEST = 16  # what lies within more entries stands no further to the right


def path_text(path: Sequence[tuple[str, str]]) -> str:
    """Write a path through the dispatch keys.

    Example:
        >>> path_text((("Profiler", ""), ("SimGPU", "add (threads.py:70)")))
        'Profiler → SimGPU: add (threads.py:70)'
    """
    return " → ".join(f"{key}: {met}" if met else key for key, met in path)


def tree_text(entries: Sequence[LogEntry]) -> str:
    """Write a log as a tree; an op's path and its error stand on lines of their own.

    Args:
        entries: those of the log.
    """
    digits = len(str(len(entries)))
    lines = []
    for entry in entries:
        indent = _indent(entry)
        lines.append(f"{entry.number:>{digits}} {indent}{_line(entry)}")
        if entry.path:
            lines.append(f"{'':{digits}} {indent}    {path_text(entry.path)}")
        if entry.error:
            lines.append(f"{'':{digits}} {indent}    raised {entry.error}")
    return "\n".join(shorten(line, WIDTH) for line in lines) or "the log is empty"


def table_text(entries: Sequence[LogEntry]) -> str:
    """Write a log as a table; what lies within an op is indented; launches are counted.

    Args:
        entries: those of the log.
    """
    rows = [
        (entry, _launched(entries, position))
        for position, entry in enumerate(entries)
        if entry.kind != "launch" or not entry.depth
    ]
    if not rows:
        return "the log is empty"
    table = cut_table(TITLES, rows, _cells, left="rlllrl", most=MOST_ROWS)
    return f"{table}\n{LEGEND}"


def _launched(entries: Sequence[LogEntry], position: int) -> int:
    """Count the launches of an op itself: those one level below it."""
    depth = entries[position].depth
    within = takewhile(lambda other: other.depth > depth, entries[position + 1 :])
    return sum(o.kind == "launch" and o.depth == depth + 1 for o in within)


def _indent(entry: LogEntry) -> str:
    return "  " * min(entry.depth, DEEPEST)


def _line(entry: LogEntry) -> str:
    if entry.kind == "launch":
        return f"launch {entry.source}, {_configuration(entry)}"
    if entry.kind == "copy":
        size = format_bytes(entry.bytes)
        return f"copy {entry.name.upper()} {size}: {entry.reason}"
    if entry.kind == "wait":
        return f"wait for the {entry.name}: {entry.reason}"
    if entry.kind == "range":
        return f"range {entry.name}"
    return f"{_plain(entry.name)}{_of(entry)}"


def _configuration(entry: LogEntry) -> str:
    blocks, threads = (math.prod(dim or ()) for dim in (entry.grid, entry.block))
    plural = "s" * (blocks != 1)
    return f"{format_count(blocks)} block{plural} of {threads} threads"


def _cells(row: tuple[LogEntry, int]) -> list[Any]:
    entry, launches = row
    indent = _indent(entry)
    if entry.kind != "op":
        what, _, reason = _line(entry).partition(": ")
        return [entry.number, indent + what, "", "", "", reason]
    shapes = " ".join(map(_shape, entry.shapes))
    served = entry.path[-1][1] if entry.path and not entry.error else ""
    served += f"raised {entry.error}" * bool(entry.error)
    name = indent + _plain(entry.name)
    return [entry.number, name, shapes, _letters(entry), launches or "", served]


def _letters(entry: LogEntry) -> str:
    """Return the keys of a path by their first letters, small where nothing was met."""
    passed = ("empty", "fallthrough", "not allowed")
    return "".join(
        key[0].lower() if met in passed else key[0] for key, met in entry.path
    )


def _of(entry: LogEntry) -> str:
    return " of " + " ".join(map(str, entry.shapes)) if entry.shapes else ""


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "()"


def _plain(op: str) -> str:
    return op.removeprefix("tinytorch::")
