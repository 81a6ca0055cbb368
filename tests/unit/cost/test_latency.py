"""What a warp waits for, by hand."""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost.caches import MemoryTraffic
from tinytorch_gpu.cost.latency import load_latency_ns, load_rounds, waiting
from tinytorch_gpu.trace import LaunchCounts

GPU = find_gpu("rtx3090")  # 23, 146 and 264 ns


def test_loads_at_different_places_go_together(access, counts):
    x, y = access("x", requests=8), access("y", requests=8)
    assert load_rounds(counts(x, y), "global", 8) == 1


def test_the_place_with_most_turns_decides(access, counts):
    x, y = access("x", requests=800), access("y", requests=8)
    assert load_rounds(counts(x, y), "global", 8) == 100 / 4


def test_a_barrier_in_each_turn_parts_the_loads(access):
    x = access("x", requests=800)
    assert load_rounds(LaunchCounts((x,), (), 800), "global", 8) == 100


def test_stores_and_other_memory_are_not_waited_for(access, counts):
    work = counts(access(kind="store"), access(space="shared"))
    assert load_rounds(work, "global", 1) == 0
    assert load_rounds(work, "shared", 1) == 1


@pytest.mark.parametrize(
    ("loaded", "latency"),
    [
        ((96, 0, 0), 23),
        ((96, 96, 0), 146),
        ((96, 96, 96), 264),
        ((96, 64, 32), (23 + 146 + 264) / 3),
        ((0, 0, 0), 264),
        ((96, 96, 400), 264),  # lines that are fetched whole
    ],
)
def test_latency_is_that_of_the_levels_that_answer(loaded, latency):
    moved = MemoryTraffic(0, 0, 0, *loaded)
    assert load_latency_ns(moved, GPU) == pytest.approx(latency)


def test_a_warp_waits_for_loads_barriers_and_its_own_instructions(access, counts):
    work = counts(access(requests=2), instructions=10)
    work = LaunchCounts(work.accesses, work.lines, 2)
    found = waiting(work, MemoryTraffic(0, 0, 0, 32, 32, 0), 2, GPU)
    assert found.memory_ns == 146
    assert found.barrier_ns == pytest.approx(20 / 1.695)
    assert found.chain_ns == pytest.approx(5 * 4 / 1.695)
    assert found.total_ns == sum(found)
