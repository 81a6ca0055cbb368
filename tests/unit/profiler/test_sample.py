"""Which blocks a sample runs, and how their counts become the launch's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.profiler.sample import chosen_parts, scaled, spread
from tinytorch_gpu.trace import (
    AccessCounts,
    LaunchCounts,
    LineCounts,
    Reuse,
    SourceLine,
)

HERE = SourceLine("k", "k.py", 3, "out[i] = x[i]")


@given(st.integers(1, 10_000), st.integers(1, 200), st.integers(0, 9))
def test_runs_lie_apart_in_the_grid(total, blocks, seed):
    parts = chosen_parts(total, blocks, seed)
    chosen = [block for part in parts for block in part.run]
    assert len(chosen) == len(set(chosen)) == min(total, blocks)
    assert chosen == sorted(chosen)
    assert chosen[0] >= 0
    assert chosen[-1] < total
    assert sum(part.stands_for for part in parts) == total
    assert all(len(part.run) <= part.stands_for for part in parts)


@given(st.integers(3, 10_000), st.integers(3, 200), st.integers(0, 9))
def test_first_middle_and_last_block_always_run(total, blocks, seed):
    chosen = {block for part in chosen_parts(total, blocks, seed) for block in part.run}
    assert {0, total // 2, total - 1} <= chosen


def test_the_ends_stand_for_themselves():
    first, *inner, last = chosen_parts(1001, 50, 0)
    assert (first.run, first.stands_for) == (range(1), 1)
    assert (last.run, last.stands_for) == (range(1000, 1001), 1)
    assert [part.stands_for for part in inner] == [333, 333, 333]


def test_the_seed_decides():
    assert chosen_parts(10**6, 8, 1) == chosen_parts(10**6, 8, 1)
    assert chosen_parts(10**6, 8, 1) != chosen_parts(10**6, 8, 2)


def part(number):
    access = AccessCounts(HERE, "x", "global", "load", number, 4, 32, 128, 999)
    line = LineCounts(HERE, 2 * number, 0, 0, 0, 0, 0, 0, 0)
    reuse = Reuse("x", "load", 999, 4 * number, 3, 2, number, 1, 1, step_lines=number)
    return LaunchCounts((access,), (line,), number, (reuse,))


def test_numbers_are_summed_and_scaled_but_not_sizes():
    counts = scaled([part(1), part(3)], [4.0, 2.0])
    (access,), (line,), (reuse,) = counts.accesses, counts.lines, counts.reuse
    assert (access.requests, access.sectors, access.array_bytes) == (10, 24, 999)
    assert (line.instructions, counts.barriers) == (20, 10)
    assert (reuse.sectors, reuse.block_sectors, reuse.array_bytes) == (40, 18, 999)
    assert (reuse.requests, reuse.block_requests, reuse.step_lines) == (10, 6, 3)


def test_places_that_only_one_run_came_to_stay():
    assert len(scaled([part(1), LaunchCounts((), (), 0)], [1, 1]).accesses) == 1


@pytest.mark.parametrize(
    ("values", "weights", "expected"),
    [
        ([2, 2], [1, 1], 0),
        ([1, 3], [1, 1], 0.5),
        ([7], [3], 0),
        ([0, 0], [1, 1], 0),
        ([0, 4], [3, 1], 3**0.5),  # mean 1, variance 3/4 x 1 + 1/4 x 9
    ],
)
def test_spread(values, weights, expected):
    assert spread(values, weights) == pytest.approx(expected)
