"""Rows of the line table: a source line with its numbers, an access below it.

Both kinds of row share the columns of executions and lanes. To the right of these a
line has its branches and operations, and an access what it cost.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tinytorch_gpu.profiler.line_cells import (
    access_effect,
    access_price,
    lanes_cell,
    share_cell,
)
from tinytorch_gpu.trace.text_table import shorten
from tinytorch_gpu.units import format_count, format_short

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from tinytorch_gpu.trace import AccessCounts, LaunchCounts, LineCounts

__all__ = [
    "MARK",
    "Row",
    "access_rows",
    "columns_of",
    "draw",
    "header",
    "line_row",
    "total_row",
]

OPERATIONS = {"fp32": "fp32", "fp64": "fp64", "integer": "int", "special": "spec"}
MARK = ">"
_INDENT = "    "
_LEAST_SOURCE = 24  # columns of source that are kept, however narrow the table


class Row(NamedTuple):
    """One row: all columns right-aligned but the text and the effect.

    Args:
        text: source, or an access.
        price: what one request of the access costs; right-aligned beside the text.
        number: line number, or "".
        cells: executions, lanes, then what a line has.
        effect: what an access has, in place of the cells after the second.
        is_marked: among the worst.
    """

    text: str
    number: str = ""
    cells: tuple[str, ...] = ()
    price: str = ""
    effect: str = ""
    is_marked: bool = False


def columns_of(counts: LaunchCounts) -> tuple[str, ...]:
    """Return the fields that at least one line has: divergent branches, operations."""
    names = ("branches", *OPERATIONS)
    return tuple(name for name in names if counts.total(name))


def header(columns: Sequence[str], *, has_accesses: bool) -> list[Row]:
    """Return the titles: one row for lines, one for accesses."""
    titles = [OPERATIONS.get(name, "divergent") for name in columns]
    lines = Row("source", "", ("executed", "lanes", *titles))
    accesses = Row(
        f"{_INDENT}access",
        cells=("requests", "lanes"),
        price="one request",
        effect="all requests, bytes used/moved",
    )
    return [lines, accesses] if has_accesses else [lines]


def line_row(
    number: int,
    text: str,
    line: LineCounts | None,
    columns: Sequence[str],
    *,
    is_marked: bool,
) -> Row:
    """Return the row of a source line; one that does nothing has no numbers."""
    cells = _cells([line], columns) if line else ()
    return Row(text, str(number), cells, is_marked=is_marked)


def total_row(lines: Sequence[LineCounts], columns: Sequence[str]) -> Row:
    """Return the row of all lines together."""
    return Row("all lines", "", _cells(lines, columns))


def _cells(lines: Sequence[LineCounts], columns: Sequence[str]) -> tuple[str, ...]:
    def total(name: str) -> int:
        return sum(getattr(line, name) for line in lines)

    cells = [
        _warps_cell(total("executions")),
        lanes_cell(total("active_lanes"), total("instructions")),
    ]
    for name in columns:
        if name == "branches":
            cells.append(share_cell(total("divergent_branches"), total("branches")))
        else:
            cells.append(format_short(total(name)) if total(name) else "")
    return tuple(cells)


def _warps_cell(count: int) -> str:
    """Write executions or requests: in full as long as the column's title is."""
    full = format_count(count)
    return full if len(full) <= len("executed") else format_short(count)


def access_rows(
    accesses: Iterable[AccessCounts], marked: Container[AccessCounts]
) -> list[Row]:
    """Return the rows of a line's accesses, equal ones as one.

    Args:
        accesses: those of one line.
        marked: those among the worst.
    """
    rows = []
    for access, times in Counter(accesses).items():
        name = f"{access.kind} {access.array}" + (f" ×{times}" if times > 1 else "")
        lanes = lanes_cell(access.active_lanes, access.requests)
        rows.append(
            Row(
                f"{_INDENT}{name}",
                cells=(_warps_cell(times * access.requests), lanes),
                price=access_price(access),
                effect=access_effect(access, times),
                is_marked=access in marked,
            )
        )
    return rows


def draw(rows: Sequence[Row], width: int) -> list[str]:
    """Lay the rows out, the source cut so that all columns fit.

    Args:
        rows: all rows of a table, the header's too.
        width: columns at most.

    Returns:
        One line of text for each row.

    Example:
        >>> draw([Row("x[i] = 1", "7", ("8", "32.0")), Row("return", "12")], 60)
        ['   7  x[i] = 1  8  32.0', '  12  return']
    """
    numbers = max(len(row.number) for row in rows)
    cells = _cell_widths(rows)
    effects = max(len(row.effect) for row in rows)
    right = max(sum(cells[2:]) + 2 * (len(cells) - 2), effects + 2 if effects else 0)
    used = 2 + numbers + 2 + right + sum(2 + size for size in cells[:2])
    wanted = max(len(f"{row.text}  {row.price}".rstrip()) for row in rows if row.cells)
    source = min(wanted, max(_LEAST_SOURCE, width - used))
    return [_drawn(row, numbers, source, cells, width) for row in rows]


def _cell_widths(rows: Sequence[Row]) -> list[int]:
    count = max(len(row.cells) for row in rows)
    padded = [row.cells + ("",) * (count - len(row.cells)) for row in rows]
    return [max(map(len, column)) for column in zip(*padded, strict=True)]


def _drawn(
    row: Row, numbers: int, source: int, cells: Sequence[int], width: int
) -> str:
    head = f"{MARK if row.is_marked else ' '} {row.number:>{numbers}}  "
    if not row.cells:
        return shorten(head + row.text, width)
    text = shorten(row.text, source - (len(row.price) + 2 if row.price else 0))
    text = text.ljust(source - len(row.price)) + row.price
    parts = [text, *(c.rjust(size) for c, size in zip(row.cells, cells, strict=False))]
    return (head + "  ".join([*parts, row.effect])).rstrip()
