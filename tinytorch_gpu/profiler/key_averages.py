"""`KeyAverages`: the records of a profile added up by op, shown as a table.

Each launch, copy and wait is counted once, in the row of the innermost op or range that
was open. So the rows' own elapsed times add up to the modelled elapsed time, their
shares to 100 %.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.profiler.averaging import tallies_of
from tinytorch_gpu.profiler.bill import Bill
from tinytorch_gpu.profiler.op_row import OpRow
from tinytorch_gpu.profiler.op_table import WIDTH, op_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.trace import Record

__all__ = ["KeyAverages", "average"]

_SORTS: dict[str, Callable[[OpRow], float]] = {
    "elapsed": lambda row: row.elapsed_ns,
    "elapsed_total": lambda row: row.elapsed_total_ns,
    "count": lambda row: row.calls,
    "launches": lambda row: row.launches,
    "self_cpu_time_total": lambda row: row.self_cpu_time_total_ns,
    "cpu_time_total": lambda row: row.cpu_time_total_ns,
    "self_device_time_total": lambda row: row.self_device_time_total_ns,
    "device_time_total": lambda row: row.device_time_total_ns,
    "sectors_per_request": lambda row: row.sectors_per_request,
}


@dataclass(frozen=True)
class KeyAverages(Sequence[OpRow]):
    """Rows by op, the one with the longest modelled time first; works like a tuple.

    Args:
        rows: one for each op.
        device: the modelled GPU, as the table's title tells it.
        bill: modelled elapsed time of all rows.

    Example:
        >>> averages = average([], device="toy GPU")
        >>> len(averages), averages.bill.total_ns
        (0, 0.0)
    """

    rows: tuple[OpRow, ...]
    device: str
    bill: Bill

    @overload
    def __getitem__(self, index: int) -> OpRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[OpRow, ...]: ...
    def __getitem__(self, index: int | slice) -> OpRow | tuple[OpRow, ...]:
        """Return one row, or a tuple of rows."""
        return self.rows[index]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def __str__(self) -> str:
        """Return the table."""
        return self.table()

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return f"<pre>{html.escape(self.table())}</pre>"

    def sorted_by(self, sort_by: str) -> tuple[OpRow, ...]:
        """Return the rows in another order; numbers fall, names rise.

        Args:
            sort_by: elapsed, elapsed_total, count, launches, self_cpu_time_total,
                cpu_time_total, self_device_time_total, device_time_total,
                sectors_per_request or op.

        Returns:
            The rows.

        Raises:
            UnsupportedError: the table has no such order.
        """
        if sort_by == "op":
            return tuple(sorted(self.rows, key=lambda row: row.op))
        if sort_by not in _SORTS:
            raise _unknown_order(sort_by)
        return tuple(sorted(self.rows, key=_SORTS[sort_by], reverse=True))

    def table(
        self, sort_by: str = "elapsed", row_limit: int = -1, max_width: int = WIDTH
    ) -> str:
        """Return a plain-text table.

        Args:
            sort_by: an order of `sorted_by`.
            row_limit: rows to show; -1 shows all. The totals are always of all rows.
            max_width: columns at most; names are cut to keep it, down to 8 characters.
                With them the numbers need 80, and more from 100,000 calls on; below
                that the table is as wide as it has to be.

        Returns:
            Title, header, rows, totals and how to read them.

        Raises:
            UnsupportedError: the table has no such order, or a number is no whole one.
        """
        _check_whole("row_limit", row_limit, least=-1)
        _check_whole("max_width", max_width, least=1)
        rows = self.sorted_by(sort_by)
        shown = rows if row_limit < 0 else rows[:row_limit]
        return op_table(shown, rows, self.device, max_width)

    def to_dict(self) -> dict[str, Any]:
        """Return device, total and rows in plain types."""
        return {
            "device": self.device,
            "elapsed_ns": self.bill.total_ns,
            "rows": [row.to_dict() for row in self.rows],
        }


def average(
    records: Sequence[Record], *, device: str, group_by_input_shape: bool = False
) -> KeyAverages:
    """Add records up by op.

    Args:
        records: what the timeline told.
        device: name of the modelled GPU.
        group_by_input_shape: a row for each list of operand shapes of an op.

    Returns:
        The rows, the one with the longest own modelled time first.

    Example:
        >>> from tinytorch_gpu.trace import CopyRecord
        >>> copy = CopyRecord("h2d", 1000, "lesson", "", False, 0.0, 2000.0, 2000.0)
        >>> row = average([copy], device="toy GPU")[0]
        >>> row.op, row.calls, row.share
        ('(copy h2d)', 1, 1.0)
    """
    tallies = tallies_of(records, group_by_input_shape=group_by_input_shape)
    total = sum((tally.bill for tally in tallies), Bill())
    rows = [tally.to_row(total.total_ns) for tally in tallies]
    rows.sort(key=_SORTS["elapsed"], reverse=True)
    return KeyAverages(tuple(rows), device, total)


def _check_whole(name: str, value: object, least: int) -> None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if is_whole and value >= least:  # type: ignore[operator]
        return
    raise UnsupportedError(
        f"a table with {name}={value!r}",
        where="KeyAverages.table(sort_by, row_limit, max_width)",
        why=f"{name} is a whole number, {least} or more",
        fix="table(row_limit=10, max_width=100); row_limit=-1 shows all rows",
    )


def _unknown_order(sort_by: str) -> UnsupportedError:
    known = ", ".join((*_SORTS, "op"))
    return UnsupportedError(
        f"the table cannot be sorted by {sort_by!r}",
        where="KeyAverages.table(sort_by=...)",
        why=f"it sorts by {known}",
        fix='use one of these: table(sort_by="elapsed")',
        sort_by=sort_by,
    )
