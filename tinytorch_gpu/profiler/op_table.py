"""The table of a profile: cells of each op, totals, and how to read them."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.finding import many
from tinytorch_gpu.profiler.shares import percentages
from tinytorch_gpu.profiler.table import Column, layout
from tinytorch_gpu.units import format_bytes, format_count, format_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.profiler.op_row import OpRow
    from tinytorch_gpu.trace import KernelSource

__all__ = ["WIDTH", "op_table", "plain_name"]

WIDTH = 100

_COLUMNS = (
    Column(("", "op"), is_text=True),
    Column(("", "calls")),
    Column(("", "launches")),
    Column(("sectors/", "request")),
    Column(("self", "CPU")),
    Column(("self", "device")),
    Column(("self", "time")),
    Column(("", "share")),
    Column(("total", "time")),
)

_READING = (
    "Self leaves out the ops inside, total time holds them; only self time adds up. "
    "Host (CPU) and device work side by side, so it may be less than their sum."
)


def op_table(
    shown: Sequence[OpRow], rows: Sequence[OpRow], device: str, width: int = WIDTH
) -> str:
    """Write the rows as a table.

    Below an op stand the functions that computed its values, and what it copied.

    Args:
        shown: rows to show, in order; the first of `rows`.
        rows: all rows, for totals and shares.
        device: name of the modelled GPU.
        width: columns at most; the numbers and 8 characters of the names need 80, or
            as many more as the largest number of calls has over 5 characters.

    Returns:
        The text: title, table, notes.

    Example:
        >>> print(op_table([], [], "toy GPU").splitlines()[0])
        modelled on toy GPU: 0 ns, 0 launches, 0 copies
    """
    rest = rows[len(shown) :]
    parts = [*(row.elapsed_ns for row in shown), sum(row.elapsed_ns for row in rest)]
    shares = percentages(parts)
    lines: list[list[str] | str] = []
    for row, share in zip(shown, shares, strict=False):
        lines += [_cells(row, share), *_details(row)]
    if rest:
        more = f"… {many(len(rest), 'more row', 'more rows')}"
        lines.append([more, *[""] * 5, format_ns(parts[-1]), _percent(shares[-1]), ""])
    table = layout(_COLUMNS, lines, _totals(rows), width)
    width = max(width, *map(len, table))  # the numbers may need more
    title, *notes = (textwrap.wrap(text, width) for text in _texts(rows, device))
    return "\n".join([*title, *table, *(line for note in notes for line in note)])


def plain_name(op: str) -> str:
    """Drop the namespace of TinyTorch's own ops; others keep theirs.

    Example:
        >>> plain_name("tinytorch::add"), plain_name("mine::add")
        ('add', 'mine::add')
    """
    return op.removeprefix("tinytorch::")


def _texts(rows: Sequence[OpRow], device: str) -> list[str]:
    """Return what stands around the table: the title, then the notes."""
    return [_title(rows, device), *_notes(rows)]


def _title(rows: Sequence[OpRow], device: str) -> str:
    elapsed = sum(row.elapsed_ns for row in rows)
    launches = sum(row.launches for row in rows)
    copies = sum(row.copies for row in rows)
    copied = _copied(
        sum(row.h2d_bytes for row in rows),
        sum(row.d2h_bytes for row in rows),
        sum(row.d2d_bytes for row in rows),
    )
    least = "at least " if _uncounted(rows) else ""
    return (
        f"modelled on {device}: {least}{format_ns(elapsed)}, "
        f"{many(launches, 'launch', 'launches')}, {many(copies, 'copy', 'copies')}"
        + (f" ({copied})" if copied else "")
    )


def _cells(row: OpRow, share: float) -> list[str]:
    return [
        plain_name(row.op),
        format_count(row.calls),
        _or_dash(row.launches, format_count(row.launches)),
        _or_dash(row.requests, f"{row.sectors_per_request:.1f}"),
        _ns(row.self_cpu_time_total_ns),
        _ns(row.self_device_time_total_ns),
        _ns(row.elapsed_ns),
        _percent(share),
        _ns(row.elapsed_total_ns),
    ]


def _details(row: OpRow) -> list[str]:
    """Lines below a row: its shapes, what served it, what it raised and copied."""
    details = [*map(_place, row.kernels), *_without_kernel(row)]
    details += [f"keys: {path}" for path in row.paths if _is_redirected(path)]
    details += [f"raised {error}" for error in row.errors]
    if row.is_on_cpu:  # also where other calls of the op had a kernel
        details.append("CPU fallback")
    if row.input_shapes:
        details.insert(0, "of " + " ".join(map(str, row.input_shapes)))
    if copied := _copied(row.h2d_bytes, row.d2h_bytes, row.d2d_bytes):
        details.append(f"copied {copied}")
    if row.waits and not row.op.startswith("("):
        details.append(f"waited for the device {many(row.waits, 'time', 'times')}")
    return [f"  {detail}" for detail in details]


def _is_redirected(path: str) -> bool:
    """Tell whether somebody registered more on the way than a kernel."""
    own = path.removeprefix("Autograd: TinyTorch: ")
    return "fallthrough" in own or ": fallback " in own or own.startswith("Autograd")


def _without_kernel(row: OpRow) -> list[str]:
    """Tell what else than a kernel served the op."""
    if row.kernels:
        return []
    if row.decomposed_into:
        return ["→ " + ", ".join(plain_name(op) for op in row.decomposed_into)]
    if row.is_on_cpu:
        return []
    if row.is_decomposed:
        return ["→ nothing ran on the device"]
    return [f"no kernel: {_place(source)}" for source in row.implementations[:1]]


def _copied(h2d: int, d2h: int, d2d: int) -> str:
    moved = (("H2D", h2d), ("D2H", d2h), ("D2D", d2d))
    return ", ".join(f"{name} {format_bytes(n)}" for name, n in moved if n)


def _place(kernel: KernelSource) -> str:
    return f"{Path(kernel.file).name}:{kernel.line} {kernel.name}"


def _ns(duration_ns: float) -> str:
    return _or_dash(duration_ns, format_ns(duration_ns))


def _percent(share: float) -> str:
    return f"{share:.1f} %"


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
        f"{sectors / requests:.1f}" if requests else "-",
        _ns(sum(row.self_cpu_time_total_ns for row in rows)),
        _ns(sum(row.self_device_time_total_ns for row in rows)),
        format_ns(elapsed),
        _percent(100.0 if elapsed else 0.0),
        "",
    ]


def _uncounted(rows: Sequence[OpRow]) -> int:
    return sum(r.launches - r.traced_launches - r.replayed_launches for r in rows)


def _notes(rows: Sequence[OpRow]) -> list[str]:
    """Say where the counts come from, and how to read times and arrows."""
    traced = sum(row.traced_launches for row in rows)
    replayed = sum(row.replayed_launches for row in rows)
    uncounted = _uncounted(rows)
    counts = (
        f"Counts are exact: {many(traced, 'launch', 'launches')} traced, "
        f"{format_count(replayed)} replayed (counts of an equal earlier launch)"
    )
    if uncounted:
        counts += (
            f", {format_count(uncounted)} not counted: their time is the least that a "
            "kernel takes; settings.override(counters=True) counts them"
        )
    notes = [f"{counts}.", _READING]
    if any(row.is_decomposed for row in rows):
        notes.append(
            "→ no kernel of its own: it ran as these ops, whose rows hold its time."
        )
    return notes
