"""Tables of at most 100 columns; long ones show their beginning and their end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["WIDTH", "cut_table", "shorten"]

WIDTH = 100
MOST_ROWS = 40
GAP = "  "


def cut_table(
    titles: Sequence[str],
    rows: Sequence[Any],
    cells: Callable[[Any], Sequence[Any]],
    *,
    left: str = "",
    most: int = MOST_ROWS,
) -> str:
    """Lay rows out as text; the middle of many rows is left out, with a line about it.

    Args:
        titles: of the columns; the last column is cut where the line gets too long.
        rows: anything.
        cells: gives the cells of one row.
        left: letters, one for each column: `l` aligns it left, `r` right; by default
            the last column is left, the others right.
        most: rows that are shown of a long table, half of them from its end.

    Example:
        >>> print(cut_table(["n", "square"], range(9), lambda n: (n, n * n), most=4))
        n  square
        ---------
        0  0
        1  1
        ... 5 more rows, all of them in .rows
        7  49
        8  64
    """
    missing = max(0, len(rows) - most)
    first, last = (most + 1) // 2, most // 2
    shown = list(rows) if not missing else [*rows[:first], *rows[len(rows) - last :]]
    lines = [list(map(str, cells(row))) for row in shown]
    columns = zip(titles, *lines, strict=True)
    widths = [max(map(len, column)) for column in columns]
    sides = left or "r" * (len(titles) - 1) + "l"
    text = [_line(line, widths, sides) for line in [list(titles), *lines]]
    if missing:
        rest = f"... {missing:,} more rows, all of them in .rows"
        text.insert(first + 1, rest)
    rule = "-" * min(WIDTH, sum(widths) + len(GAP) * (len(widths) - 1))
    return "\n".join([text[0], rule, *text[1:]])


def shorten(text: str, width: int) -> str:
    """Cut the end off a text that is too wide.

    Example:
        >>> shorten("sigmoid_backward", 9)
        'sigmoid_…'
    """
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _line(cells: list[str], widths: list[int], sides: str) -> str:
    padded = [
        cell.ljust(width) if side == "l" else cell.rjust(width)
        for cell, width, side in zip(cells, widths, sides, strict=True)
    ]
    return shorten(GAP.join(padded).rstrip(), WIDTH)
