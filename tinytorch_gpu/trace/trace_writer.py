"""Writes a recorded launch to a file; `file_layout.py` tells the layout."""

from __future__ import annotations

import json
import os
import zipfile
from collections import defaultdict
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.errors import TraceFileError
from tinytorch_gpu.trace.file_layout import (
    COLUMNS,
    DTYPES,
    FIELDS,
    FORMAT,
    HEADER,
    STEPS,
    VERSION,
    ColumnPlace,
    npy_header,
    pool_file,
)
from tinytorch_gpu.trace.steps import KINDS, KeptLanes, Step, TracedArray

if TYPE_CHECKING:
    from tinytorch_gpu.trace.counts import LaunchCounts
    from tinytorch_gpu.trace.recorded_launch import RecordedLaunch
    from tinytorch_gpu.trace.source import SourceLine

__all__ = ["write_trace"]

EPOCH = (1980, 1, 1, 0, 0, 0)  # equal traces make equal files


def write_trace(launch: RecordedLaunch, path: str | os.PathLike[str]) -> None:
    """Write a launch to a file; one that is there stays until all is written.

    Args:
        launch: what was recorded.
        path: where to.

    Raises:
        TraceFileError: the file cannot be written.
    """
    target = Path(path)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    members = _Members(launch).all()
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            for name, data in members.items():
                info = zipfile.ZipInfo(name, EPOCH)
                info.compress_type = zipfile.ZIP_DEFLATED
                file.writestr(info, data)
        part.replace(target)
    except OSError as error:
        raise TraceFileError(
            f"the trace cannot be written to {target.name}",
            where=str(target.parent),
            why=error.strerror or str(error),
            fix="name a folder that exists, that may be written to and has space",
        ) from error
    finally:
        part.unlink(missing_ok=True)


class _Table:
    """Things by number, each once."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}

    def number(self, thing: Any) -> int:
        return self.numbers.setdefault(thing, len(self.numbers))


class _Members:
    """The files of the zip: the header, the table of steps, and the columns."""

    def __init__(self, launch: RecordedLaunch) -> None:
        self._launch = launch
        self._lines, self._texts = _Table(), _Table()
        self._lanes, self._arrays = _Table(), _Table()
        self._pools: dict[str, list[npt.NDArray[Any]]] = defaultdict(list)
        self._sizes: dict[str, int] = defaultdict(int)
        self._placed: dict[tuple[int, bool], tuple[ColumnPlace, Any]] = {}

    def all(self) -> dict[str, bytes]:
        for array in self._launch.arrays:
            self._arrays.number(array)
        table = np.array([self._row(step) for step in self._launch.steps], np.int64)
        table = table.reshape(-1, len(FIELDS) + 4 * len(COLUMNS))
        header = json.dumps(self._header(), separators=(",", ":"), default=int)
        pools = {
            pool_file(dtype): _npy(np.concatenate(parts))
            for dtype, parts in sorted(self._pools.items())
        }
        return {HEADER: header.encode(), STEPS: _npy(table), **pools}

    def _row(self, step: Step) -> list[int]:
        texts = (step.expression, step.name)
        row = [
            KINDS.index(step.kind),
            self._lines.number(step.line),
            *map(self._texts.number, texts),
            self._lanes.number(step.where),
            -1 if step.array is None else self._arrays.number(step.array),
            step.shift,
        ]
        for name in COLUMNS:
            row.extend(self._place(getattr(step, name), is_index=name == "flat"))
        return row

    def _place(self, column: Any, *, is_index: bool = False) -> ColumnPlace:
        """Add a column to those of its dtype; one that is there already only once."""
        if column is None:
            return ColumnPlace()
        known = self._placed.get((id(column), is_index))
        if known is None:
            array = _narrowed(np.asarray(column)) if is_index else np.asarray(column)
            dtype, shape = array.dtype.name, array.shape or (0, 0)
            place = ColumnPlace(DTYPES.index(dtype), self._sizes[dtype], *shape)
            self._pools[dtype].append(array.ravel())
            self._sizes[dtype] += array.size
            # With the column itself: as long as it lives, no other has its id.
            known = self._placed[id(column), is_index] = (place, column)
        return known[0]

    def _header(self) -> dict[str, Any]:
        launch = self._launch
        counts = None if launch.counts is None else self._counts(launch.counts)
        lanes = [self._kept(where) for where in self._lanes.numbers]
        kernel = launch.kernel
        return {
            "format": FORMAT,
            "version": VERSION,
            "kernel": [kernel.name, kernel.file, kernel.line],
            "grid": launch.grid,
            "block": launch.block,
            "seen": launch.seen,
            "budget_bytes": launch.budget_bytes,
            "blocks": launch.blocks,
            "warps": launch.warps,
            "error": launch.error,
            "arrays": [_array(array) for array in self._arrays.numbers],
            "lines": [_line(line) for line in self._lines.numbers],
            "texts": list(self._texts.numbers),
            "lanes": lanes,
            "counts": counts,
            "steps": len(launch.steps),
            "columns": dict(sorted(self._sizes.items())),
        }

    def _kept(self, where: KeptLanes) -> list[int]:
        """Tell blocks and threads as two stretches of the int64 columns."""
        places = [
            self._place(numbers[None]) for numbers in (where.blocks, where.threads)
        ]
        return [n for place in places for n in (place.start, place.columns)]

    def _counts(self, counts: LaunchCounts) -> dict[str, Any]:
        return {
            "accesses": [self._record(access) for access in counts.accesses],
            "lines": [self._record(line) for line in counts.lines],
            "barriers": counts.barriers,
        }

    def _record(self, record: Any) -> dict[str, Any]:
        told = {f.name: getattr(record, f.name) for f in fields(record)}
        return {**told, "line": self._lines.number(record.line)}


def _array(array: TracedArray) -> list[Any]:
    return [getattr(array, f.name) for f in fields(TracedArray)]


def _line(line: SourceLine) -> list[Any]:
    return [line.kernel, line.file, line.line, line.text]


def _narrowed(index: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return indices as int32 if all of them fit."""
    fits = abs(index).max(initial=0) < 2**31
    return index.astype(np.int32 if fits else np.int64)


def _npy(array: npt.NDArray[Any]) -> bytes:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return npy_header(little.dtype, array.shape) + little.tobytes()
