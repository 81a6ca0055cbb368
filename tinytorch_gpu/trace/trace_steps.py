"""The steps of a trace's file: rows of numbers to `Step` records, each one checked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.trace.checking import need
from tinytorch_gpu.trace.file_layout import COLUMNS, DTYPES, FIELDS, ColumnPlace
from tinytorch_gpu.trace.places import WARP, padded_threads
from tinytorch_gpu.trace.steps import KINDS, KeptLanes, Step

if TYPE_CHECKING:
    from tinytorch_gpu.trace.trace_header import HeaderParts

__all__ = ["StepReader"]

ACCESSES = ("load", "store", "atomic")


class StepReader:
    """Makes steps of the rows of the table.

    Args:
        launch: the fields of the launch, from the header.
        parts: what the rows refer to by number.
        pools: the columns of each dtype, (n,).
    """

    def __init__(
        self, launch: dict[str, Any], parts: HeaderParts, pools: dict[str, Any]
    ) -> None:
        self._launch = launch
        self._parts = parts
        self._pools = pools
        self._columns: dict[ColumnPlace, Any] = {}
        self._wide: dict[ColumnPlace, Any] = {}
        self._groups = [self._group(group) for group in parts.lanes]

    def steps(self, rows: list[list[int]]) -> tuple[Step, ...]:
        """Return the steps of all rows.

        Args:
            rows: numbers in the order of `FIELDS`, then four for each of `COLUMNS`.
        """
        return tuple(self._step(number, row) for number, row in enumerate(rows))

    def _step(self, number: int, row: list[int]) -> Step:
        told = dict(zip(FIELDS, row, strict=False))
        places = {
            name: ColumnPlace(*row[len(FIELDS) + 4 * i : len(FIELDS) + 4 * i + 4])
            for i, name in enumerate(COLUMNS)
        }
        arrays = self._launch["arrays"]
        has_array = told["array"] != -1
        step = Step(
            number=number,
            kind=_pick(KINDS, told["kind"]),
            line=_pick(self._parts.lines, told["line"]),
            expression=_pick(self._parts.texts, told["expression"]),
            name=_pick(self._parts.texts, told["name"]),
            where=_pick(self._groups, told["where"]),
            array=_pick(arrays, told["array"]) if has_array else None,
            shift=told["shift"],
            lanes=self._column(places["lanes"]),
            flat=self._index(places["flat"]),
            value=self._column(places["value"]),
            taken=self._column(places["taken"]),
            members=self._column(places["members"]),
        )
        _check(step)
        return step

    def _group(self, stretches: tuple[int, ...]) -> KeptLanes:
        """Return a group of lanes: blocks of the grid, whole warps of a block."""
        numbers = DTYPES.index("int64")
        starts, counts = stretches[::2], stretches[1::2]
        blocks, threads = (
            self._read(ColumnPlace(numbers, start, 1, count))[0]
            for start, count in zip(starts, counts, strict=True)
        )
        size = math.prod(self._launch["block"])
        need(len(blocks) > 0 and len(threads) > 0, "a step has no lanes")
        most = math.prod(self._launch["grid"])
        need(_is_ascending(blocks, most), "the blocks of a step are not of the grid")
        padded = padded_threads(self._launch["block"])
        need(_is_ascending(threads, padded), "the threads of a step are not of a block")
        warps = threads.reshape(-1, WARP) if len(threads) % WARP == 0 else threads
        is_whole = (warps % WARP == np.arange(WARP)).all() if warps.ndim == 2 else False
        need(bool(is_whole), "a step has parts of warps")
        return KeptLanes(blocks, threads, size)

    def _index(self, place: ColumnPlace) -> Any:
        """Return element indices as int64."""
        if place not in self._wide:
            column = self._column(place)
            if column is not None:
                need(column.dtype.kind == "i", "an element's index is no integer")
                column = column.astype(np.int64)
            self._wide[place] = column
        return self._wide[place]

    def _column(self, place: ColumnPlace) -> Any:
        """Return a column; the same one for the same place."""
        if place not in self._columns:
            self._columns[place] = self._read(place)
        return self._columns[place]

    def _read(self, place: ColumnPlace) -> Any:
        if place.dtype == -1:
            return None
        pool: Any = self._pools.get(_pick(DTYPES, place.dtype))
        need(pool is not None, "a step has a column of a dtype that is not there")
        need(min(place[1:]) >= 0, "a column is odd")
        end = place.start + place.size
        need(end <= len(pool), "a column reaches past the end of its file")
        stretch = pool[place.start : end]
        is_scalar = place.rows == place.columns == 0
        need(is_scalar or place.rows * place.columns > 0, "a column is empty")
        return stretch[0] if is_scalar else stretch.reshape(place.rows, place.columns)


def _pick(things: Any, number: int) -> Any:
    need(0 <= number < len(things), f"a step refers to {number} of {len(things)} parts")
    return things[number]


def _is_ascending(numbers: Any, end: int) -> bool:
    is_inside = numbers[0] >= 0 and numbers[-1] < end
    return bool(is_inside and (np.diff(numbers) > 0).all())


def _check(step: Step) -> None:
    """See that the columns fit the step's lanes, and indices its array."""
    rows, lanes = step.where.shape
    for bits in (step.lanes, step.taken):
        if bits is not None:
            is_fitting = bits.dtype == np.uint8 and np.shape(bits) in (
                (1, lanes // 8),
                (rows, lanes // 8),
            )
            need(is_fitting, "the active lanes of a step have another shape")
    for column in (step.flat, step.value, step.members):
        if np.ndim(column):
            height, width = column.shape
            is_fitting = height in (1, rows) and width in (1, lanes)
            need(is_fitting, "a column of a step has another shape than its lanes")
    active = step.active()
    need(not (active & ~step.where.exist).any(), "a lane takes part that is no thread")
    is_access = step.kind in ACCESSES
    for part in (step.array, step.flat):
        has_part = part is not None
        need(has_part == is_access, f"a {step.kind} has a wrong place in memory")
    need(abs(step.shift) < 2**40, "an element's index is out of bounds")
    if step.array is not None:
        cells = step.cells()[active]
        is_inside = ((cells >= 0) & (cells < step.array.length)).all()
        need(bool(is_inside), "an element's index is out of bounds")
