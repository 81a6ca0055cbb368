"""Samples of a launch: which blocks to run, and what their counts say of all blocks.

The first and the last block often differ from the others (edges, guards), so they are
parts of the grid of their own, and stand for nothing but themselves.

Source: stratified sampling: parts of the grid, one run of neighbours in each, weighted
by the blocks of its part.
"""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tinytorch_gpu.trace import LaunchCounts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Part", "chosen_parts", "scaled", "spread"]

MOST_INNER = 3  # parts between the first and the last block; odd: one is the middle


class Part(NamedTuple):
    """A run of neighbouring blocks, and the number of blocks that it stands for."""

    run: range
    stands_for: int

    @property
    def weight(self) -> float:
        """Blocks that each block of the run stands for."""
        return self.stands_for / len(self.run)


def chosen_parts(total: int, blocks: int, seed: int) -> tuple[Part, ...]:
    """Choose runs of neighbouring blocks, one in each part of the grid.

    Args:
        total: blocks of the grid.
        blocks: how many to run; all where there are no more. From 3 on the first, the
            middle and the last block are among them.
        seed: of the places where the other runs begin.

    Returns:
        At most five parts, ascending.

    Example:
        >>> chosen_parts(8, 100, seed=0)
        (Part(run=range(0, 8), stands_for=8),)
        >>> [(len(run), stands_for) for run, stands_for in chosen_parts(1000, 12, 0)]
        [(1, 1), (3, 332), (3, 333), (4, 333), (1, 1)]
    """
    if blocks >= total:
        return (Part(range(total), total),)
    random = np.random.default_rng(seed)
    if blocks < 3:
        return tuple(_random_runs(_edges(0, total, blocks), [1] * blocks, random))
    inner = blocks - 2
    count = MOST_INNER if inner >= MOST_INNER else 1
    cuts, edges = _edges(0, inner, count), _edges(1, total - 1, count)
    sizes = [end - begin for begin, end in pairwise(cuts)]
    runs = _random_runs(edges, sizes, random)
    runs[count // 2] = _middle_run(edges, sizes, total)
    return (Part(range(1), 1), *runs, Part(range(total - 1, total), 1))


def _edges(first: int, end: int, parts: int) -> list[int]:
    """Cut a range of blocks into equal parts."""
    return [first + (end - first) * i // parts for i in range(parts + 1)]


def _random_runs(
    edges: Sequence[int], sizes: Sequence[int], random: np.random.Generator
) -> list[Part]:
    """Place a run anywhere within each part."""
    found = []
    for (low, high), size in zip(pairwise(edges), sizes, strict=True):
        begin = int(random.integers(low, high - size + 1))
        found.append(Part(range(begin, begin + size), high - low))
    return found


def _middle_run(edges: Sequence[int], sizes: Sequence[int], total: int) -> Part:
    """Place the run of the middle part around the grid's middle block."""
    at = len(sizes) // 2
    low, high, size = edges[at], edges[at + 1], sizes[at]
    begin = min(max(low, total // 2 - size // 2), high - size)
    return Part(range(begin, begin + size), high - low)


def spread(values: Sequence[float], weights: Sequence[float]) -> float:
    """Tell how far the parts of a grid lie apart: standard deviation ÷ mean.

    Args:
        values: of one block, for each part.
        weights: blocks of each part.

    Example:
        >>> spread([1.0, 3.0], [1, 1]), spread([1.0, 3.0], [0, 5])
        (0.5, 0.0)
    """
    mean = float(np.average(values, weights=weights))
    variance = np.average((np.asarray(values) - mean) ** 2, weights=weights)
    return float(np.sqrt(variance)) / mean if mean else 0.0


def scaled(counted: Sequence[LaunchCounts], weights: Sequence[float]) -> LaunchCounts:
    """Sum the counts of the runs of a sample, each as often as its weight says.

    Args:
        counted: counts of each run.
        weights: blocks of the launch that each block of the run stands for.

    Returns:
        Counts of the launch, rounded.

    Example:
        >>> scaled([LaunchCounts((), (), 3), LaunchCounts((), (), 1)], [10, 2]).barriers
        32
    """
    pairs = list(zip(counted, weights, strict=True))
    accesses = _summed((a, weight) for one, weight in pairs for a in one.accesses)
    lines = _summed((line, weight) for one, weight in pairs for line in one.lines)
    reuse = _summed((r, weight) for one, weight in pairs for r in one.reuse)
    barriers = round(sum(weight * one.barriers for one, weight in pairs))
    return LaunchCounts(tuple(accesses), tuple(lines), barriers, tuple(reuse))


def _summed(counted: Iterable[tuple[Any, float]]) -> list[Any]:
    """Sum records that tell of the same place, by their weights."""
    groups: dict[Any, list[tuple[Any, float]]] = {}
    for record, weight in counted:
        groups.setdefault(_place(record), []).append((record, weight))
    return [_sum(same) for same in groups.values()]


def _place(record: Any) -> tuple[Any, ...]:
    names = ("line", "array", "space", "kind")
    return tuple(getattr(record, name, None) for name in names)


def _sum(same: list[tuple[Any, float]]) -> Any:
    """One record of several: numbers are summed, sizes are not."""
    first, _ = same[0]
    changed: dict[str, int] = {}
    for field in fields(first):
        values = [(getattr(record, field.name), weight) for record, weight in same]
        if field.name in {"array_bytes", "step_lines"}:
            changed[field.name] = max(value for value, _ in values)
        elif isinstance(values[0][0], int):
            changed[field.name] = round(sum(value * weight for value, weight in values))
    return replace(first, **changed)
