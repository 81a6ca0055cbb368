"""What a warp waits for, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost.caches import MemoryTraffic
from tinytorch_gpu.cost.latency import Course, load_rounds, memory_wait_ns, waiting
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
    ("in_l2", "in_dram", "expected"),
    [
        (0, 0, 4 * 23),
        (16, 0, 4 * 146),
        (16, 16, 4 * 264),
        (8, 4, 4 * 23 + 2 * 123 + 118),  # misses of four turns fall into one round
        (2, 1, 4 * 23 + 123 + 118),  # and so do misses of two turns
    ],
)
def test_a_round_waits_for_the_level_that_its_slowest_lane_needs(
    access, counts, in_l2, in_dram, expected
):
    work = counts(access(requests=8 * 16))
    moved = MemoryTraffic(0, 0, 0, l2_requests=8 * in_l2, dram_requests=8 * in_dram)
    one_by_one = Course(blocks=8, warps=8, times=8)
    assert memory_wait_ns(work, moved, one_by_one, GPU) == pytest.approx(expected)


def test_a_warp_waits_for_loads_barriers_and_its_own_instructions(access, counts):
    work = counts(access(requests=2), instructions=10)
    work = LaunchCounts(work.accesses, work.lines, 2)
    found = waiting(work, MemoryTraffic(0, 0, 0, l2_requests=2), Course(2, 2), GPU)
    assert found.memory_ns == 146
    assert found.barrier_ns == pytest.approx(2 / 1.695)  # 32 threads, 16 a clock
    assert found.chain_ns == pytest.approx(5 * 4 / 1.695)
    assert found.total_ns == sum(found)


# Clocks of a load from shared memory; 12 turns make 3 rounds.
@pytest.mark.parametrize(
    ("gpu", "clocks"),
    [("gtx280", 38), ("c2050", 45), ("k20c", 24), ("v100", 20), ("t4", 23), ("toy", 0)],
)
def test_shared_memory_has_a_latency_of_its_own(gpu, clocks, access, counts):
    work, spec = counts(access(space="shared", requests=12)), find_gpu(gpu)
    found = waiting(work, MemoryTraffic(0, 0, 0), Course(1, 1), spec)
    assert found.chain_ns == pytest.approx(3 * clocks / spec.clock_ghz)


# The Programming Guide's threads a clock, by compute capability; two barriers.
@pytest.mark.parametrize(
    ("gpu", "warps", "clocks"),
    [
        ("8800gtx", 8, 2 * 256 / 8),
        ("c2050", 8, 2 * 256 / 16),
        ("gtx680", 8, 2 * 256 / 128),
        ("p100", 8, 2 * 256 / 32),
        ("v100", 8, 2 * 256 / 16),
        ("t4", 1, 2 * 32 / 16),
        ("rtx3090", 32, 2 * 1024 / 16),
        ("toy", 8, 0),
    ],
)
def test_a_barrier_takes_in_so_many_threads_a_clock(gpu, warps, clocks, counts):
    spec, blocks = find_gpu(gpu), 3
    work = replace(counts(), barriers=2 * blocks * warps)
    found = waiting(work, MemoryTraffic(0, 0, 0), Course(blocks, blocks * warps), spec)
    assert found.barrier_ns == pytest.approx(clocks / spec.clock_ghz)


def test_all_warps_of_a_block_wait_for_what_is_new_to_it(access, counts):
    work = counts(access(requests=8 * 16))  # 4 rounds for each of 8 warps
    moved = MemoryTraffic(0, 0, 0, l2_requests=16)  # that one of them leads
    alone, together = Course(blocks=8, warps=8), Course(blocks=1, warps=8)
    assert memory_wait_ns(work, moved, alone, GPU) == 4 * 23 + 123  # two turns each
    assert memory_wait_ns(work, moved, together, GPU) == 4 * 146


def test_blocks_side_by_side_wait_for_the_same_miss_and_later_ones_do_not(
    access, counts
):
    work = counts(access(requests=8 * 16))
    moved = MemoryTraffic(0, 0, 0, l2_requests=8 * 16, dram_requests=16)
    side_by_side = memory_wait_ns(work, moved, Course(8, 8, times=1), GPU)
    one_by_one = memory_wait_ns(work, moved, Course(8, 8, times=8), GPU)
    assert side_by_side == 4 * 264
    assert one_by_one == 4 * 146 + 118  # two turns, one round, of each block
