"""Each pipe of memory by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import memory_pipes as pipes
from tinytorch_gpu.cost.caches import MemoryTraffic

TOY = find_gpu("toy")


def test_dram_time_uses_the_bandwidth_that_a_stream_reaches():
    moved = MemoryTraffic(512, 256, 128)
    assert pipes.dram_ns(moved, find_gpu("t4")) == pytest.approx(128 / (320 * 0.87))


@pytest.mark.parametrize(("gpu", "clocks"), [("t4", 2), ("a100", 1), ("c1060", 4)])
def test_a_request_holds_the_units_until_all_lanes_are_through(
    gpu, clocks, access, counts
):
    assert pipes.lsu_clocks(counts(access(requests=5)), find_gpu(gpu)) == 5 * clocks


# The toy has no L1 and looks up one line a clock, an A100 four. Of 33 requests whose
# lanes lie in 32 lines each, the banks give to all at once, or to one after another.
@pytest.mark.parametrize(
    ("gpu", "passes", "clocks"),
    [("toy", 0, 33), ("a100", 2, 33 / 4), ("a100", 33, 33), ("t4", 33, 66)],
)
def test_lines_are_looked_up_while_banks_give(gpu, passes, clocks, access, counts):
    row, column = access(tags=1), access("y", sectors=32, tags=32, wavefronts=passes)
    assert pipes.l1_clocks(counts(row, column), find_gpu(gpu)) == clocks
    tile = access(space="shared", wavefronts=99, tags=99)
    assert pipes.l1_clocks(counts(tile), find_gpu(gpu)) == 0


# A pass is 128 bytes: of 128 a clock on most GPUs, of 64 on Turing and Fermi. On 1.x
# it is 64 bytes of 32.
@pytest.mark.parametrize(
    ("gpu", "clocks"),
    [("a100", 1), ("rtxa6000", 1), ("t4", 2), ("c2050", 2), ("c870", 2)],
)
def test_shared_passes(gpu, clocks, access, counts):
    tile = counts(access(space="shared", wavefronts=10), access(wavefronts=99))
    assert pipes.shared_clocks(tile, find_gpu(gpu)) == 10 * clocks


def test_atomics_at_one_address_go_one_by_one(access, counts):
    hot = access(kind="atomic", active_lanes=1000, hottest_address=1000)
    assert pipes.atomic_ns(counts(hot), find_gpu("t4")) == pytest.approx(1000 / 1.59)
    assert pipes.atomic_ns(counts(hot), find_gpu("c2050")) == pytest.approx(9000 / 1.15)


def test_statements_on_one_array_meet_at_one_address(access, counts):
    hot = access(kind="atomic", active_lanes=1000, hottest_address=1000)
    again, other = replace(hot, hottest_address=500), replace(hot, array="y")
    assert pipes.atomic_ns(counts(hot, again, other), TOY) == 1500
    loads = access(hottest_address=10**6)
    assert pipes.atomic_ns(counts(hot, loads), TOY) == 1000


def test_atomics_far_apart_cost_no_more_than_their_bytes(access, counts):
    spread = access(kind="atomic", active_lanes=4000, hottest_address=1)
    assert pipes.atomic_ns(counts(spread), find_gpu("t4")) == pytest.approx(1 / 1.59)


# An A100 gives 36 bytes a clock for each of 108 SMs of 1.41 GHz, whoever asks.
def test_all_sms_share_l2():
    moved = MemoryTraffic(10**6, 36 * 108 * 1410, 0)
    assert pipes.l2_ns(moved, find_gpu("a100")) == pytest.approx(1000)


def test_shared_atomics_are_passes_over_the_banks(access, counts):
    shared = access(space="shared", kind="atomic", wavefronts=32, hottest_address=32)
    assert pipes.atomic_ns(counts(shared), TOY) == 0
    assert pipes.shared_clocks(counts(shared), TOY) == 32


# 6.0 looks up 8 lanes of 4 bytes at a time, 4 of 8 bytes, 2 of 16: a column's lanes
# want 32 lines, 8 of them in each part, four a clock.
@pytest.mark.parametrize(
    ("itemsize", "lanes", "tags", "clocks"),
    [
        (4, 32, 1, 4),
        (2, 32, 1, 4),
        (8, 32, 2, 8),
        (16, 32, 4, 16),
        (4, 8, 1, 1),
        (4, 1, 1, 1),
        (4, 32, 32, 8),
    ],
)
def test_l1_of_6_0_takes_a_warp_in_parts(itemsize, lanes, tags, clocks, access, counts):
    wanted = {"active_lanes": lanes, "bytes_requested": lanes * itemsize, "tags": tags}
    work = counts(access(**wanted, wavefronts=99))  # its banks are not shared memory's
    assert pipes.l1_clocks(work, find_gpu("p100")) == clocks


@pytest.mark.parametrize("gpu", ["c1060", "8800gtx"])
def test_what_has_no_l2_waits_for_none(gpu):
    assert pipes.l2_ns(MemoryTraffic(10**9, 10**9, 10**9), find_gpu(gpu)) == 0


@pytest.mark.parametrize(("gpu", "clocks"), [("t4", 2), ("a100", 1)])
def test_loads_that_are_joined_cost_nothing_of_their_own(gpu, clocks, access, counts):
    numbers = {"requests": 32, "wavefronts": 64, "merged": 24, "merged_wavefronts": 48}
    work = counts(access(requests=5), access("tile", "shared", **numbers))
    assert pipes.shared_requests(work) == 8
    assert pipes.lsu_clocks(work, find_gpu(gpu)) == (5 + 8) * clocks
    assert pipes.shared_clocks(work, find_gpu(gpu)) == (64 - 48) * clocks


# 8-byte elements: 256 bytes in two lines, two passes over the banks. A T4 gives 64
# bytes a clock, an A100 128; a C1060 has no L1.
@pytest.mark.parametrize(("gpu", "clocks"), [("t4", 4), ("a100", 2), ("c1060", 2)])
@pytest.mark.parametrize("kind", ["load", "store"])
def test_l1_gives_so_many_bytes_a_clock(gpu, kind, clocks, access, counts):
    passes = 0 if gpu == "c1060" else 2
    wide = access(kind=kind, tags=2, wavefronts=passes, bytes_used=256)
    assert pipes.l1_clocks(counts(wide), find_gpu(gpu)) == clocks
