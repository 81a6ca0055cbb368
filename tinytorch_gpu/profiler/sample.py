"""Samples of a launch: which blocks to run, and what their counts say of all blocks.

Source: stratified sampling: equal parts of the grid, one run of neighbours in each.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.trace import LaunchCounts

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["chosen_blocks", "scaled", "spread"]

MOST_RUNS = 4


def chosen_blocks(total: int, blocks: int, seed: int) -> tuple[range, ...]:
    """Choose runs of neighbouring blocks, one in each equal part of the grid.

    Args:
        total: blocks of the grid.
        blocks: how many to run; all where there are no more.
        seed: of the places where the runs begin.

    Returns:
        At most four ranges of linear block indices, ascending.

    Example:
        >>> chosen_blocks(8, 100, seed=0)
        (range(0, 8),)
        >>> [len(run) for run in chosen_blocks(1000, 10, seed=0)]
        [3, 3, 2, 2]
    """
    if blocks >= total:
        return (range(total),)
    random = np.random.default_rng(seed)
    count = min(MOST_RUNS, blocks)
    edges = [total * i // count for i in range(count + 1)]
    sizes = [len(part) for part in np.array_split(np.arange(blocks), count)]
    runs = []
    for low, high, size in zip(edges, edges[1:], sizes, strict=False):
        first = int(random.integers(low, high - size + 1))
        runs.append(range(first, first + size))
    return tuple(runs)


def spread(values: list[float]) -> float:
    """Tell how far the runs of a sample lie apart: standard deviation ÷ mean.

    Args:
        values: one for each run.

    Example:
        >>> spread([1.0, 3.0]), spread([2.0])
        (0.5, 0.0)
    """
    mean = float(np.mean(values))
    return float(np.std(values)) / mean if mean else 0.0


def scaled(parts: list[LaunchCounts], factor: float) -> LaunchCounts:
    """Sum the counts of the runs of a sample and scale them to the launch.

    Args:
        parts: counts of each run.
        factor: blocks of the launch ÷ blocks that ran.

    Returns:
        Counts of the launch, rounded.

    Example:
        >>> scaled([LaunchCounts((), (), 3), LaunchCounts((), (), 1)], 10.0).barriers
        40
    """
    accesses = _summed((a for part in parts for a in part.accesses), factor)
    lines = _summed((line for part in parts for line in part.lines), factor)
    barriers = round(factor * sum(part.barriers for part in parts))
    reuse = _summed((r for part in parts for r in part.reuse), factor)
    return LaunchCounts(tuple(accesses), tuple(lines), barriers, tuple(reuse))


def _summed(counted: Iterable[Any], factor: float) -> list[Any]:
    """Sum records that tell of the same place, and scale them."""
    groups: dict[Any, list[Any]] = {}
    for record in counted:
        groups.setdefault(_place(record), []).append(record)
    return [_sum(same, factor) for same in groups.values()]


def _place(record: Any) -> tuple[Any, ...]:
    names = ("line", "array", "space", "kind")
    return tuple(getattr(record, name, None) for name in names)


def _sum(same: list[Any], factor: float) -> Any:
    """One record of several: numbers are summed, sizes are not."""
    changed: dict[str, int] = {}
    for field in fields(same[0]):
        values = [getattr(record, field.name) for record in same]
        if field.name in {"array_bytes", "step_lines"}:
            changed[field.name] = max(values)
        elif isinstance(values[0], int):
            changed[field.name] = round(factor * sum(values))
    return replace(same[0], **changed)
