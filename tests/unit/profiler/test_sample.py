"""Which blocks a sample runs, and how their counts become the launch's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.profiler.sample import chosen_blocks, scaled, spread
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
    runs = chosen_blocks(total, blocks, seed)
    chosen = [block for run in runs for block in run]
    assert len(chosen) == len(set(chosen)) == min(total, blocks)
    assert chosen == sorted(chosen)
    assert chosen[0] >= 0
    assert chosen[-1] < total


def test_the_seed_decides():
    assert chosen_blocks(10**6, 8, 1) == chosen_blocks(10**6, 8, 1)
    assert chosen_blocks(10**6, 8, 1) != chosen_blocks(10**6, 8, 2)


def part(number):
    access = AccessCounts(HERE, "x", "global", "load", number, 4, 32, 128, 999)
    line = LineCounts(HERE, 2 * number, 0, 0, 0, 0, 0, 0, 0)
    reuse = Reuse("x", "load", 999, 4 * number, 3, 2, step_lines=number)
    return LaunchCounts((access,), (line,), number, (reuse,))


def test_numbers_are_summed_and_scaled_but_not_sizes():
    counts = scaled([part(1), part(3)], 2.5)
    (access,), (line,), (reuse,) = counts.accesses, counts.lines, counts.reuse
    assert (access.requests, access.sectors, access.array_bytes) == (10, 20, 999)
    assert (line.instructions, counts.barriers) == (20, 10)
    assert (reuse.sectors, reuse.block_sectors, reuse.array_bytes) == (40, 15, 999)
    assert reuse.step_lines == 3


def test_places_that_only_one_run_came_to_stay():
    assert len(scaled([part(1), LaunchCounts((), (), 0)], 1.0).accesses) == 1


@pytest.mark.parametrize(
    ("values", "expected"), [([2, 2], 0), ([1, 3], 0.5), ([7], 0), ([0, 0], 0)]
)
def test_spread(values, expected):
    assert spread(values) == expected
