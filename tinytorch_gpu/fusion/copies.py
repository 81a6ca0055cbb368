"""Copies right after one another that could be one: each pays the link's latency."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tinytorch_gpu.cost import copy_ns
from tinytorch_gpu.fusion.bill import Bill
from tinytorch_gpu.trace import CopyRecord, HostRecord, OpRecord, RangeRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import Record

__all__ = ["copy_bills", "copy_runs"]


def copy_runs(records: Iterable[Record]) -> list[tuple[CopyRecord, ...]]:
    """Find two or more copies in one direction with no work and no wait in between.

    Args:
        records: in order.

    Returns:
        The copies of each run, which one copy of all bytes could replace.

    Example:
        >>> copy = CopyRecord("h2d", 1000, "lesson", "", False, 0.0, 2000.0, 2000.0)
        >>> [len(run) for run in copy_runs([copy, copy])]
        [2]

    Limits: the host has to put the arrays side by side first, which is not counted.
    """
    runs: list[list[CopyRecord]] = [[]]
    for record in records:
        if isinstance(record, (HostRecord, OpRecord, RangeRecord)):
            continue
        if not isinstance(record, CopyRecord) or record.direction == "d2d":
            runs.append([])
            continue
        if runs[-1] and not _alike(runs[-1][-1], record):
            runs.append([])
        runs[-1].append(record)
    return [tuple(run) for run in runs if len(run) > 1]


def _alike(one: CopyRecord, other: CopyRecord) -> bool:
    names = ("direction", "is_pinned", "stream", "is_async")
    return all(getattr(one, n) == getattr(other, n) for n in names)


def copy_bills(run: tuple[CopyRecord, ...], spec: GpuSpec) -> tuple[Bill, Bill]:
    """Tell what copies cost one by one, and as one.

    Args:
        run: copies in one direction.
        spec: the GPU.

    Returns:
        Before and after; the bytes are those of the link.
    """
    total = sum(copy.bytes for copy in run)
    each = [copy.duration_ns for copy in run]
    whole = float(round(copy_ns(total, run[0].is_pinned, spec)))
    before = Bill(len(run), total, math.fsum(each), math.fsum(each), noun="copy")
    return before, Bill(1, total, whole, whole, noun="copy")
