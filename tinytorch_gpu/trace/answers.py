"""What a trace answers: rows or arrays that print as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.trace.places import spelled
from tinytorch_gpu.trace.text_table import WIDTH, cut_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.trace.counts import LaunchCounts, LineCounts
    from tinytorch_gpu.trace.lane_records import LaneRecord, WarpRecord
    from tinytorch_gpu.trace.source import SourceLine
    from tinytorch_gpu.trace.steps import Step

__all__ = [
    "AccessMatrix",
    "FirstTouch",
    "LaneHistory",
    "LineTable",
    "ThreadHistory",
    "WarpHistory",
]

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Rows:
    """An answer: a title, rows, and a note if the trace does not hold everything."""

    title: str
    rows: tuple[Any, ...]
    note: str = ""

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows."""
        return iter(self.rows)

    def _table(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        """Show a table of at most 100 columns; the middle of a long one is cut."""
        body = self._table() if self.rows else "nothing"
        return "\n".join(filter(None, [self.title, body, _note(self.note)]))


@dataclass(frozen=True, eq=False)
class LaneHistory(_Rows):
    """What threads did, in order; `rows` holds a `LaneRecord` for each thread's step.

    Threads of one step did it at once; they are in the order of blocks and threads.
    """

    rows: tuple[LaneRecord, ...]

    def _table(self) -> str:
        titles = ["step", "kind", "block", "thread", "element", "value", "line"]
        return cut_table(titles, self.rows, _lane_cells, left="rllllll")


@dataclass(frozen=True, eq=False)
class ThreadHistory(LaneHistory):
    """What one thread did, in order; `rows` holds a `LaneRecord` for each step."""

    def _table(self) -> str:
        titles = ["step", "kind", "element", "value", "line"]
        return cut_table(titles, self.rows, _thread_cells, left="rllll")


@dataclass(frozen=True, eq=False)
class WarpHistory(_Rows):
    """What one warp did, step by step; `rows` holds a `WarpRecord` for each."""

    rows: tuple[WarpRecord, ...]

    def _table(self) -> str:
        titles = ["step", "kind", "lanes 0 to 31", "", "line"]
        return cut_table(titles, self.rows, _warp_cells, left="rllll")


@dataclass(frozen=True, eq=False)
class AccessMatrix:
    """Which elements the threads touched, as a matrix: a row a thread, a column a step.

    Args:
        title: what it shows.
        steps: the steps of the columns.
        threads: int64 (threads,), linear thread number of each row.
        elements: int64 (threads, steps), number of the element, row after row; -1 where
            the thread takes no part.
        note: what the trace does not hold, or "".
    """

    title: str
    steps: tuple[Step, ...]
    threads: IntArray
    elements: IntArray
    note: str = ""

    @property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The thread number and the elements of each row."""
        return tuple(
            map(tuple, np.column_stack([self.threads, self.elements]).tolist())
        )

    def __str__(self) -> str:
        """Show the matrix, `.` for -1; steps that do not fit in 100 columns are cut."""
        titles = [f"{step.number} {_array(step)}" for step in self.steps]
        digits = len(str(self.elements.max(initial=0)))
        ends = np.cumsum([max(digits, len(title)) + 2 for title in titles])
        fit = int(np.searchsorted(ends, WIDTH - len("thread 1023"), "right"))
        body = cut_table(
            ["", *titles[:fit]], self.rows, lambda row: _matrix_cells(row, fit)
        )
        hidden = len(self.steps) - fit
        rest = f"... {hidden:,} more steps, all of them in .elements" * (hidden > 0)
        return "\n".join(filter(None, [self.title, body, rest, _note(self.note)]))


@dataclass(frozen=True, eq=False)
class FirstTouch:
    """Who first touched each element of an array.

    Args:
        title: what it shows.
        array: the array's name.
        step: int64 of the array's shape, number of the first step; -1 where no thread
            touched the element.
        block: int64, linear number of the block; -1 likewise.
        thread: int64, linear number of the thread; of several in one step the first.
        kinds: kind of the access, "" likewise.
        note: what the trace does not hold, or "".
    """

    title: str
    array: str
    step: IntArray
    block: IntArray
    thread: IntArray
    kinds: npt.NDArray[np.str_]
    note: str = ""

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """Index, step, kind, block and thread of each element, in order."""
        columns = (self.step, self.kinds, self.block, self.thread)
        flat = (column.ravel().tolist() for column in columns)
        return tuple(zip(np.ndindex(self.step.shape), *flat, strict=True))

    def __str__(self) -> str:
        """Show a table of at most 100 columns; the middle of a long one is cut."""
        titles = ["element", "step", "kind", "block", "thread"]
        elements = range(self.step.size)
        body = cut_table(titles, elements, self._cells, left="lrlrr")
        return "\n".join(filter(None, [self.title, body, _note(self.note)]))

    def _cells(self, number: int) -> list[Any]:
        index = np.unravel_index(number, self.step.shape)
        element = spelled(self.array, index)
        if self.step[index] < 0:
            return [element, "", "untouched", "", ""]
        columns = (self.step, self.kinds, self.block, self.thread)
        return [element, *(column[index] for column in columns)]


@dataclass(frozen=True, eq=False)
class LineTable(_Rows):
    """The exact counts of each line, of all blocks and warps; `rows`: `LineCounts`."""

    rows: tuple[LineCounts, ...]
    counts: LaunchCounts | None = None

    def _table(self) -> str:
        titles = [
            "instr.",
            "lanes",
            "branches",
            "diverge",
            "requests",
            "sectors",
            "line",
        ]
        return cut_table(titles, self.rows, self._cells)

    def _cells(self, row: LineCounts) -> list[Any]:
        accesses = self.counts.global_accesses if self.counts else ()
        own = [access for access in accesses if access.line == row.line]
        numbers = (
            row.instructions,
            row.active_lanes,
            row.branches,
            row.divergent_branches,
            sum(access.requests for access in own),
            sum(access.sectors for access in own),
        )
        return [*map("{:,}".format, numbers), _line(row.line)]


def _lane_cells(row: LaneRecord) -> list[Any]:
    step, kind, *rest = _thread_cells(row)
    return [step, kind, row.block, row.thread, *rest]


def _thread_cells(row: LaneRecord) -> list[Any]:
    what = row.element or row.detail
    value = "" if row.value is None else str(row.value)[:12]
    return [row.step, row.kind, what, value, _line(row.line)]


def _warp_cells(row: WarpRecord) -> list[Any]:
    return [row.step, row.kind, row.active, row.detail, _line(row.line)]


def _matrix_cells(row: tuple[int, ...], fit: int) -> list[Any]:
    elements = ["." if number < 0 else number for number in row[1 : fit + 1]]
    return [f"thread {row[0]}", *elements]


def _array(step: Step) -> str:
    return step.array.name if step.array else ""


def _line(line: SourceLine) -> str:
    return f"{line.line}: {line.text}"


def _note(note: str) -> str:
    return f"note: {note}" if note else ""
