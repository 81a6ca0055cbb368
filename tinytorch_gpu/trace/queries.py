"""Questions to a recorded launch: each function goes once through the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from tinytorch_gpu.errors import TraceQueryError
from tinytorch_gpu.trace.lane_records import LaneRecord, WarpRecord
from tinytorch_gpu.trace.places import WARP, coordinates
from tinytorch_gpu.trace.steps import Step, TracedArray, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from tinytorch_gpu.trace.recorded_launch import RecordedLaunch

__all__ = [
    "element_cell",
    "first_touches",
    "lane_records",
    "line_elements",
    "touches",
    "warp_records",
]


def element_cell(launch: RecordedLaunch, array: TracedArray, index: Any) -> int:
    """Return where in its memory an element of an array lies.

    Args:
        launch: the launch.
        array: the array.
        index: a number, or a tuple with one for each axis.

    Raises:
        TraceQueryError: the array has no such element.
    """
    parts = index if isinstance(index, tuple) else (index,)
    if all(isinstance(part, SupportsIndex) for part in parts):
        pairs = list(zip(parts, array.shape, strict=False))
        if len(parts) == len(array.shape) and all(0 <= i < n for i, n in pairs):
            return array.cell(tuple(map(int, parts)))
    last = ", ".join(str(length - 1) for length in array.shape)
    raise TraceQueryError(
        f"`{array.name}` has no element {index!r}",
        where=str(launch.kernel),
        why=f"it has shape {array.shape}; its last element is [{last}]",
        fix="give one index from 0 on for each axis",
        index=index,
        shape=array.shape,
    )


def touches(
    launch: RecordedLaunch,
    array: TracedArray,
    cell: int,
    block: int | None,
    thread: int | None,
) -> Iterator[LaneRecord]:
    """Yield every access to an element, in order.

    Args:
        launch: the launch.
        array: the array.
        cell: where in its memory the element lies.
        block: linear number of the only block asked for, or None.
        thread: linear number of the only thread, or None.
    """
    byte = array.address + cell * array.itemsize
    for step, other in _steps_in(launch, array):
        ahead = other.address + step.cells() * other.itemsize - byte
        hit = step.active() & (ahead < array.itemsize) & (ahead > -other.itemsize)
        if block is not None:
            hit &= (step.where.blocks == block)[:, None]
        if thread is not None:
            hit &= step.where.threads == thread
        for row, column in np.argwhere(hit).tolist():
            yield _lane_record(launch, step, row, column)


def lane_records(
    launch: RecordedLaunch, block: int, thread: int
) -> Iterator[LaneRecord]:
    """Yield what one thread did, in order.

    Args:
        launch: the launch.
        block: linear number of the block.
        thread: linear number of the thread.
    """
    for step, row in _steps_of(launch, block):
        column = step.column(thread)
        if column is not None and step.has_lane(row, column):
            yield _lane_record(launch, step, row, column)


def warp_records(launch: RecordedLaunch, block: int, warp: int) -> Iterator[WarpRecord]:
    """Yield what one warp did, step by step.

    Args:
        launch: the launch.
        block: linear number of the block.
        warp: number of the warp in it.
    """
    for step, row in _steps_of(launch, block):
        first = step.column(warp * WARP)
        if first is None:
            continue
        lanes = range(first, first + WARP)
        active = [step.has_lane(row, lane) for lane in lanes]
        if not any(active):
            continue
        taken, detail = "", step.name or step.expression
        if step.kind == "branch":
            takes = [step.takes_lane(row, lane) for lane in lanes]
            taken = _drawn(takes)
            detail = f"{sum(takes)} of {sum(active)} take it"
        yield WarpRecord(
            step.number, step.kind, step.line, _drawn(active), taken, detail
        )


def line_elements(
    launch: RecordedLaunch, line: object, block: int, name: str
) -> tuple[tuple[Step, ...], Any]:
    """Return the accesses of a line, and the element that each thread touches.

    Args:
        launch: the launch.
        line: number of the line in its file.
        block: linear number of the block.
        name: only accesses to the array of this name; "" for all.

    Returns:
        The steps, and int64 (threads of the block, steps); -1 for an idle thread.

    Raises:
        TraceQueryError: no step of the line touches memory.
    """
    found = [
        (step, row)
        for step, row in _steps_of(launch, block)
        if step.array is not None and step.line.line == line
        if name in ("", step.array.name)
    ]
    if not found:
        raise _no_access(launch, line)
    size = found[0][0].where.size
    elements = np.full((size, len(found)), -1, np.int64)
    for position, (step, row) in enumerate(found):
        active = step.active()[row]
        threads = step.where.threads[active]
        array: Any = step.array
        elements[threads, position] = array.numbers(step.cells()[row][active])
    return tuple(step for step, _ in found), elements


def first_touches(
    launch: RecordedLaunch, array: TracedArray, block: int | None
) -> dict[str, npt.NDArray[Any]]:
    """Return who touched each element first.

    Args:
        launch: the launch.
        array: the array.
        block: linear number of the only block asked for, or None.

    Returns:
        `step`, `block` and `thread`: int64 of the array's shape, -1 where nobody did;
        and `kinds`.
    """
    cells = array.cells()
    step_of = np.full(array.length, -1, np.int64)
    block_of, thread_of = step_of.copy(), step_of.copy()
    kinds = {-1: ""}
    for step, other in _steps_in(launch, array):
        kinds[step.number] = step.kind
        active = step.active()
        if block is not None:
            active = active & (step.where.blocks == block)[:, None]
        rows, columns = np.nonzero(active)
        for touched in _touched(array, other, step.cells()[rows, columns]):
            _claim(step_of, touched, np.full(len(rows), step.number), None)
            is_new = step_of[touched] == step.number
            _claim(block_of, touched, step.where.blocks[rows], is_new)
            _claim(thread_of, touched, step.where.threads[columns], is_new)
    named = np.array([kinds[n] for n in step_of[cells].ravel().tolist()], np.str_)
    return {
        "step": step_of[cells],
        "block": block_of[cells],
        "thread": thread_of[cells],
        "kinds": named.reshape(cells.shape),
    }


def _touched(array: TracedArray, other: TracedArray, cells: Any) -> Iterator[Any]:
    """Yield an array's own cells under those of another; wide ones cover several."""
    first = (other.address + cells * other.itemsize - array.address) // array.itemsize
    for further in range(max(1, other.itemsize // array.itemsize)):
        yield np.clip(first + further, 0, array.length - 1)


def _claim(owners: Any, cells: Any, claims: Any, is_new: Any) -> None:
    """Give cells without an owner their first claim; the first lane comes last."""
    free = owners[cells] < 0
    if is_new is not None:
        free &= is_new
    owners[cells[free][::-1]] = claims[free][::-1]


def _lane_record(
    launch: RecordedLaunch, step: Step, row: int, column: int
) -> LaneRecord:
    where, index, detail, value = step.where, None, step.name, None
    if step.array is not None:
        index = step.array.index(int(at(step.flat, row, column)) + step.shift)
    if step.kind == "branch":
        detail = "taken" if step.takes_lane(row, column) else "not taken"
    if step.value is not None:
        value = at(step.value, row, column)
    return LaneRecord(
        step=step.number,
        kind=step.kind,
        line=step.line,
        block=coordinates(int(where.blocks[row]), launch.grid),
        thread=coordinates(int(where.threads[column]), launch.block),
        array=step.array.name if step.array else "",
        index=index,
        value=value,
        detail=detail,
    )


def _steps_of(launch: RecordedLaunch, block: int) -> Iterator[tuple[Step, int]]:
    """Yield the steps of a block, and its row in them."""
    for step in launch.steps:
        row = step.row(block)
        if row is not None:
            yield step, row


def _steps_in(
    launch: RecordedLaunch, array: TracedArray
) -> Iterator[tuple[Step, TracedArray]]:
    """Yield the accesses to the memory that an array lies in, and by which array."""
    end = array.address + array.length * array.itemsize
    for step in launch.steps:
        other = step.array
        if other is None or other.space != array.space:
            continue
        other_end = other.address + other.length * other.itemsize
        if other.address < end and array.address < other_end:
            yield step, other


def _no_access(launch: RecordedLaunch, line: object) -> TraceQueryError:
    lines = sorted({s.line.line for s in launch.steps if s.array is not None})
    known = ", ".join(map(str, lines[:20])) or "none"
    return TraceQueryError(
        f"no access of line {line!r} was kept",
        where=str(launch.kernel),
        why=f"lines that touch memory: {known}",
        fix="give one of these, as numbered in the kernel's file",
        line=line,
    )


def _drawn(lanes: list[bool]) -> str:
    return "".join("#" if lane else "." for lane in lanes)
