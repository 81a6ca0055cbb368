"""The per-line table: a kernel's source with what each line did beside it.

Comes in: launches with counts. Goes out: plain text, 100 columns wide at most. Below
each line stand its memory accesses, one row for each, because one line can load well
and store badly.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.function_lines import function_lines
from tinytorch_gpu.profiler.line_flags import worst_lines
from tinytorch_gpu.profiler.line_rows import (
    MARK,
    access_rows,
    columns_of,
    draw,
    header,
    line_row,
    total_row,
)
from tinytorch_gpu.profiler.line_totals import legend, totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.profiler.line_flags import Flag
    from tinytorch_gpu.profiler.line_rows import Row
    from tinytorch_gpu.trace import KernelSource, LaunchCounts, LaunchRecord, LineCounts

__all__ = ["line_table"]

_MOST_TABLES = 3  # of one kernel, whose counts differ by shape or by data


def line_table(*launches: LaunchRecord, device: str = "", width: int = 100) -> str:
    """Write kernels' source with the counts of a launch beside each line.

    Args:
        *launches: in the order in which they ran; those of one kernel with the same
            grid, block and counts share one table.
        device: the GPU's name.
        width: columns at most; the numbers and some source need about 80.

    Returns:
        Head, lines, sums and worst lines of each kernel, three tables of one kernel at
        most, then how to read them.

    Example:
        >>> line_table()
        'no kernel was launched'
    """
    kernels: dict[KernelSource, dict[object, list[LaunchRecord]]] = {}
    for launch in launches:
        same = kernels.setdefault(launch.kernel, {})
        key = launch.grid, launch.block, launch.counts
        same.setdefault(key, []).append(launch)
    tables = [
        text for same in kernels.values() for text in _tables(same, device, width)
    ]
    if not tables:
        return "no kernel was launched"
    notes = [_wrapped(text, width, 0) for text in legend()]
    return "\n".join(["\n\n\n".join(tables), "-" * width, *notes])


def _tables(
    same: dict[object, list[LaunchRecord]], device: str, width: int
) -> list[str]:
    """The first tables of one kernel, and how many launches they leave out."""
    groups = list(same.values())
    tables = [
        f"{_wrapped(_head(group, device), width, 2)}\n{_body(group[0], width)}"
        for group in groups[:_MOST_TABLES]
    ]
    if left_out := sum(map(len, groups[_MOST_TABLES:])):
        kernel = groups[0][0].kernel
        tables.append(f"{kernel}: {left_out:,} more launches, other counts, not shown")
    return tables


def _head(same: Sequence[LaunchRecord], device: str) -> str:
    launch, on = same[0], f" on {device}" if device else ""
    times = f"one of {len(same):,} equal launches" if len(same) > 1 else "1 launch"
    where = f"grid {launch.grid} × block {launch.block}"
    return f"{launch.kernel}{on}: {where}, {times}"


def _body(launch: LaunchRecord, width: int) -> str:
    counts = launch.counts
    if counts is None:
        return "not counted: settings.override(counters=True) counts"
    flags = worst_lines(counts)
    columns = columns_of(counts)
    titles = header(columns, has_accesses=bool(counts.accesses))
    blocks = _blocks(counts, launch.kernel.name, flags)
    rows = [row for block in blocks for row in block]
    drawn = draw([*titles, *rows, total_row(counts.lines, columns)], width)
    rule, first = "-" * max(map(len, drawn)), len(titles)
    table = [*drawn[:first], rule, *_apart(drawn[first:-1], blocks), rule, drawn[-1]]
    sums = [_wrapped(text, width, 15) for text in totals(counts)]
    return "\n".join([*table, *sums, *_sentences(flags, width)])


def _blocks(
    counts: LaunchCounts, kernel: str, flags: Sequence[Flag]
) -> list[list[Row]]:
    """Rows of the kernel, then of each device function that it calls."""
    functions: dict[tuple[str, str], list[LineCounts]] = defaultdict(list)
    for line in counts.lines:
        functions[line.line.kernel, line.line.file].append(line)
    in_order = sorted(functions.values(), key=lambda f: f[0].line.kernel != kernel)
    return [_function_rows(counts, lines, flags) for lines in in_order]


def _function_rows(
    counts: LaunchCounts, lines: Sequence[LineCounts], flags: Sequence[Flag]
) -> list[Row]:
    columns = columns_of(counts)
    by_number = {line.line.line: line for line in lines}
    rows = []
    for number, text in function_lines(line.line for line in lines).items():
        line = by_number.get(number)
        here = [flag for flag in flags if line and flag.line == line.line]
        is_marked = any(not flag.accesses for flag in here)
        rows.append(line_row(number, text, line, columns, is_marked=is_marked))
        if line:
            accesses = [a for a in counts.accesses if a.line == line.line]
            rows += access_rows(accesses, [a for flag in here for a in flag.accesses])
    return rows


def _apart(drawn: Sequence[str], blocks: Sequence[Sequence[Row]]) -> list[str]:
    """The drawn rows with an empty line between functions."""
    rest, apart = list(drawn), []
    for block in blocks:
        apart += ["", *rest[: len(block)]]
        del rest[: len(block)]
    return apart[1:]


def _sentences(flags: Sequence[Flag], width: int) -> list[str]:
    heads = [f"{MARK} line {flag.line.line}: " for flag in flags]
    pairs = zip(heads, flags, strict=True)
    return [_wrapped(head + flag.text, width, len(head)) for head, flag in pairs]


def _wrapped(text: str, width: int, indent: int) -> str:
    return textwrap.fill(text, width, subsequent_indent=" " * indent)
