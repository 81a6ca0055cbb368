"""Runs: lanes grouped by the element they touch, and running totals within a group.

Atomics need for each lane what the lanes before it left in the element. `Runs` sorts
the lanes by element and keeps their order within one; the running totals then work on
all runs at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Runs", "running", "running_float_sum"]

# From this many lanes at one element on, the element's lanes are added in one NumPy
# call; below, the k-th lanes of all elements are. So no batch takes many calls.
LONG_RUN = 64


class Runs:
    """Lanes sorted by cell; lanes of one cell stay in lane order.

    Args:
        cells: int64 (n,), the element that each lane touches; n > 0.

    Attributes:
        order: lanes by cell, (n,); None when they are in order already.
        starts: where each run begins in the sorted lanes.
        lengths: lanes of each run.

    Example:
        >>> runs = Runs(np.array([7, 3, 7]))
        >>> runs.order, runs.starts, runs.lengths, runs.longest
        (array([1, 0, 2]), array([0, 1]), array([1, 2]), 2)
    """

    def __init__(self, cells: Any) -> None:
        self.order = None
        if np.any(cells[1:] < cells[:-1]):
            self.order = _stable_order(cells)
            cells = cells[self.order]
        is_start = np.concatenate(([True], cells[1:] != cells[:-1]))
        self.starts = np.flatnonzero(is_start)
        self.lengths = np.diff(self.starts, append=len(cells))
        self.cells = cells[self.starts]

    @property
    def longest(self) -> int:
        """Lanes that meet at the most wanted cell."""
        return int(self.lengths.max())

    def sort(self, values: Any) -> Any:
        """Return lane values in the order of the runs."""
        return values if self.order is None else values[self.order]

    def unsort(self, values: Any) -> Any:
        """Return values in the order of the runs as lane values."""
        if self.order is None:
            return values
        lanes = np.empty_like(values)
        lanes[self.order] = values
        return lanes


def _stable_order(cells: Any) -> Any:
    """Sort stably; 16-bit keys take NumPy's radix sort, which is ten times faster."""
    near = cells - cells.min()
    if int(near.max()) < 1 << 16:
        near = near.astype(np.uint16)
    return np.argsort(near, kind="stable")


def running(storage: Any, cells: Any, values: Any, combine: Any) -> Any:
    """Combine the values into their cells; return what each lane found there.

    Args:
        storage: elements, (n,); changed.
        cells: int64 (lanes,), where each lane combines.
        values: (lanes,), of the storage's dtype.
        combine: associative function of the old value and the new one.

    Returns:
        Old values, (lanes,).

    Example:
        >>> storage = np.array([10, 20])
        >>> running(storage, np.array([1, 0, 1]), np.array([1, 2, 3]), np.add)
        array([20, 10, 21])
        >>> storage
        array([12, 24])
    """
    runs = Runs(cells)
    found = storage[runs.cells]
    if runs.longest == 1:
        storage[runs.cells] = combine(found, runs.sort(values))
        return runs.unsort(found)
    totals = _totals_from_start(runs, runs.sort(values), combine)
    totals = combine(np.repeat(found, runs.lengths), totals)
    storage[runs.cells] = totals[runs.starts + runs.lengths - 1]
    return runs.unsort(_shifted(runs, totals, found))


def _totals_from_start(runs: Runs, values: Any, combine: Any) -> Any:
    """Combine each value with all before it in its run, in log2(longest) steps.

    After the step with distance d, each value covers the 2 d lanes that end with it.

    Source: Hillis and Steele, "Data Parallel Algorithms", 1986.
    """
    if len(runs.starts) == 1 and isinstance(combine, np.ufunc):
        return combine.accumulate(values, dtype=values.dtype)
    totals = values.copy()
    place = np.arange(len(values)) - np.repeat(runs.starts, runs.lengths)
    distance = 1
    while distance < runs.longest:
        reach = np.flatnonzero(place >= distance)
        totals[reach] = combine(totals[reach - distance], totals[reach])
        distance *= 2
    return totals


def _shifted(runs: Runs, totals: Any, found: Any) -> Any:
    """Return what each lane finds: the total of the lane before, or the cell."""
    before = np.empty_like(totals)
    before[1:] = totals[:-1]
    before[runs.starts] = found
    return before


def running_float_sum(storage: Any, cells: Any, values: Any) -> Any:
    """Add floats to their cells in lane order, each sum rounded; return old values.

    Args:
        storage: float elements, (n,); changed.
        cells: int64 (lanes,), where each lane adds.
        values: (lanes,), of the storage's dtype.

    Returns:
        Old values, (lanes,).

    Example:
        >>> storage = np.float32([2**24])       # 2^24 + 1 is no float32
        >>> running_float_sum(storage, np.array([0, 0]), np.float32([1, 2])).tolist()
        [16777216.0, 16777216.0]
        >>> storage.tolist()
        [16777218.0]
    """
    runs = Runs(cells)
    found, values = storage[runs.cells], runs.sort(values)
    totals = np.empty_like(values)
    is_long = runs.lengths >= LONG_RUN
    for run in np.flatnonzero(is_long):
        first = runs.starts[run]
        lanes = slice(first, first + runs.lengths[run])
        terms = np.concatenate((found[run : run + 1], values[lanes]))
        totals[lanes] = np.add.accumulate(terms)[1:]
    short = np.flatnonzero(~is_long)
    now = found[short]
    for turn in range(int(runs.lengths[short].max(initial=0))):
        still = runs.lengths[short] > turn
        short, now = short[still], now[still]
        places = runs.starts[short] + turn
        now = now + values[places]
        totals[places] = now
    storage[runs.cells] = totals[runs.starts + runs.lengths - 1]
    return runs.unsort(_shifted(runs, totals, found))
