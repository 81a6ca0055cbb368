"""The table of a profile: cells of each op, totals, and what the counts are made of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.table import Column, layout
from tinytorch_gpu.units import format_bytes, format_count, format_ns, format_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.profiler.op_row import OpRow
    from tinytorch_gpu.trace import KernelSource

__all__ = ["op_table", "plain_name"]

WIDTH = 118

_COLUMNS = (
    Column(("", "op"), is_text=True),
    Column(("", "calls")),
    Column(("", "launches")),
    Column(("", "kernel"), is_text=True),
    Column(("sectors/", "request")),
    Column(("", "H2D")),
    Column(("", "D2H")),
    Column(("modelled", "time")),
    Column(("", "share")),
)


def op_table(shown: Sequence[OpRow], rows: Sequence[OpRow], device: str) -> str:
    """Write the rows as a table of at most 118 columns.

    Args:
        shown: rows to show, in order.
        rows: all rows, for totals and shares.
        device: name of the modelled GPU.

    Returns:
        The text: title, table, notes.

    Example:
        >>> print(op_table([], [], "toy GPU").splitlines()[0])
        modelled on toy GPU: 0 ns, 0 launches, 0 copies
    """
    cells = [line for row in shown for line in _lines(row)]
    if len(shown) < len(rows):
        cells.append([f"… {len(rows) - len(shown)} more rows", *[""] * 8])
    lines = layout(_COLUMNS, cells, _totals(rows), WIDTH)
    return "\n".join([_title(rows, device), *lines, *_notes(rows)])


def plain_name(op: str) -> str:
    """Drop the namespace of TinyTorch's own ops; others keep theirs.

    Example:
        >>> plain_name("tinytorch::add"), plain_name("mine::add")
        ('add', 'mine::add')
    """
    return op.removeprefix("tinytorch::")


def _title(rows: Sequence[OpRow], device: str) -> str:
    elapsed = sum(row.elapsed_ns for row in rows)
    launches = sum(row.launches for row in rows)
    copies = sum(row.copies for row in rows)
    return (
        f"modelled on {device}: {format_ns(elapsed)}, "
        f"{format_count(launches)} launches, {format_count(copies)} copies"
    )


def _cells(row: OpRow) -> list[str]:
    return [
        plain_name(row.op),
        format_count(row.calls),
        _or_dash(row.launches, format_count(row.launches)),
        _kernel(row),
        _or_dash(row.requests, f"{row.sectors_per_request:.1f}"),
        _or_dash(row.h2d_bytes, format_bytes(row.h2d_bytes)),
        _or_dash(row.d2h_bytes, format_bytes(row.d2h_bytes)),
        _or_dash(row.elapsed_ns, format_ns(row.elapsed_ns)),
        f"{100 * row.share:.1f} %",
    ]


def _lines(row: OpRow) -> list[list[str]]:
    """Cells of a row; each further kernel has a line of its own."""
    others = [["", "", "", _place(k), *[""] * 5] for k in row.kernels[1:]]
    return [_cells(row), *others]


def _kernel(row: OpRow) -> str:
    """Tell where the kernel is and its name; or what else served the op."""
    if row.kernels:
        return _place(row.kernels[0])
    if row.is_decomposed:
        return "→ " + ", ".join(plain_name(op) for op in row.decomposed_into)
    if row.is_on_cpu:
        return "CPU fallback"
    if row.implementations:
        return f"no kernel: {_place(row.implementations[0])}"
    return "-"


def _place(kernel: KernelSource) -> str:
    return f"{Path(kernel.file).name}:{kernel.line} {kernel.name}"


def _or_dash(number: float, text: str) -> str:
    return text if number else "-"


def _totals(rows: Sequence[OpRow]) -> list[str]:
    requests = sum(row.requests for row in rows)
    sectors = sum(row.sectors for row in rows)
    elapsed = sum(row.elapsed_ns for row in rows)
    return [
        "total",
        format_count(sum(row.calls for row in rows)),
        format_count(sum(row.launches for row in rows)),
        "",
        f"{sectors / requests:.1f}" if requests else "-",
        format_bytes(sum(row.h2d_bytes for row in rows)),
        format_bytes(sum(row.d2h_bytes for row in rows)),
        format_ns(elapsed),
        format_share(elapsed, elapsed),
    ]


def _notes(rows: Sequence[OpRow]) -> list[str]:
    """Say where the counts come from, and what an arrow means if there is one."""
    traced = sum(row.traced_launches for row in rows)
    replayed = sum(row.replayed_launches for row in rows)
    uncounted = sum(row.launches for row in rows) - traced - replayed
    counts = (
        f"Counts are exact: {format_count(traced)} launches traced, "
        f"{format_count(replayed)} replayed (counts of an equal earlier launch)"
    )
    if uncounted:
        counts += f", {format_count(uncounted)} not counted"
    notes = [counts + "."]
    if any(row.is_decomposed for row in rows):
        notes.append(
            "→ no kernel of its own: it ran as these ops, whose rows hold its time."
        )
    return notes
