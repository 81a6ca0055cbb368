"""Plain text tables of a greatest width, as far as the numbers leave room for it.

Comes in: header, rows and totals as text, and which columns may be shortened. Goes out:
the lines. Nothing here knows what the cells mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch_gpu.trace.text_table import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Column", "layout", "table_lines"]

_GAP = "  "
LEAST = 8  # characters that a shortened text keeps


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Args:
        title: two lines of header; the first may be empty.
        is_text: align left, and shorten if the table gets too wide.
    """

    title: tuple[str, str]
    is_text: bool = False


def layout(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str] | str],
    totals: Sequence[str],
    width: int,
) -> list[str]:
    r"""Lay cells out as lines: two of header, a rule, the rows, a rule, the totals.

    Args:
        columns: titles, and which columns are text.
        rows: cells of each row; a text is a line of its own, as wide as the table.
        totals: cells of the last row.
        width: greatest width; text columns are shortened to keep it, down to 8
            characters. Where the numbers need more, the table is wider.

    Returns:
        The lines.

    Example:
        >>> columns = [Column(("", "op"), is_text=True), Column(("", "calls"))]
        >>> print("\n".join(layout(columns, [["add", "2"]], ["total", "2"], 40)))
        op     calls
        ------------
        add        2
        ------------
        total      2
    """
    lines = table_lines(columns, [*rows, totals], width)
    rule = next(line for line in lines if set(line) == {"-"})
    return [*lines[:-1], rule, lines[-1]]


def table_lines(
    columns: Sequence[Column], rows: Sequence[Sequence[str] | str], width: int
) -> list[str]:
    r"""Lay cells out as lines without totals: the header, a rule, the rows.

    Args:
        columns: titles, and which columns are text.
        rows: as in `layout`.
        width: greatest width, as in `layout`.

    Returns:
        The lines.

    Example:
        >>> columns = [Column(("", "op"), is_text=True), Column(("", "calls"))]
        >>> print("\n".join(table_lines(columns, [["add", "2"]], 40)))
        op   calls
        ----------
        add      2
    """
    titles = [[column.title[line] for column in columns] for line in (0, 1)]
    header = [cells for cells in titles if any(cells)]
    cells = [row for row in rows if not isinstance(row, str)]
    widths = _widths(columns, [*header, *cells], width)
    rule = "-" * (sum(widths) + len(_GAP) * (len(widths) - 1))
    head = [_line(columns, titles, widths) for titles in header]
    body = [
        shorten(row, len(rule)) if isinstance(row, str) else _line(columns, row, widths)
        for row in rows
    ]
    return [*head, rule, *body]


def _widths(
    columns: Sequence[Column], lines: Sequence[Sequence[str]], width: int
) -> list[int]:
    """Widths that hold all cells; the widest text column gives way until all fits.

    Numbers are never cut, and no text to less than a few characters.
    """
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    texts = [index for index, column in enumerate(columns) if column.is_text]
    surplus = sum(widths) + len(_GAP) * (len(widths) - 1) - width
    for _ in range(surplus):
        widest = max(texts, key=lambda index: widths[index])
        if widths[widest] <= LEAST:
            break
        widths[widest] -= 1
    return widths


def _line(
    columns: Sequence[Column], cells: Sequence[str], widths: Sequence[int]
) -> str:
    parts = [
        shorten(cell, width).ljust(width) if column.is_text else cell.rjust(width)
        for column, cell, width in zip(columns, cells, widths, strict=True)
    ]
    return _GAP.join(parts).rstrip()
