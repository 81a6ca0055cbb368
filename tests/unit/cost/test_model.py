"""Kernel time: terms and bounds; its laws stand in tests/model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.cost import kernel_time
from tinytorch_gpu.errors import LaunchConfigError
from tinytorch_gpu.trace import LaunchCounts, LineCounts, Reuse, SourceLine

HERE = SourceLine("sum", "sum.py", 4, "total += x[i]")
TOY = find_gpu("toy")
T4 = find_gpu("t4")
GRID, BLOCK = (4, 1, 1), (256, 1, 1)


def _time(counts, spec=TOY, grid=GRID, block=BLOCK, shared_bytes=0):
    return kernel_time(counts, grid, block, shared_bytes, spec)


def test_without_counts_only_the_floor_is_known():
    time = _time(None, T4)
    assert (time.duration_ns, time.bound) == (2500, "not counted")
    assert time.terms == {"floor": 2500}


def test_vector_add_by_hand(access, counts):
    # 1024 float32: 3 × 4096 B ÷ 32 GB/s = 384 ns of DRAM, 192 ns of L2, floor 1 µs;
    # 3 × 32 requests of 32 lanes and one line each; 1024 additions on 32 lanes
    moved = {"requests": 32, "sectors": 128, "wavefronts": 32, "array_bytes": 4096}
    add = counts(
        access("x", **moved),
        access("y", **moved),
        access("out", kind="store", **moved),
        fp32=1024,
        instructions=32 * 4,
    )
    time = _time(add)
    assert time.terms == {
        "floor": 1000,
        "dram": 384,
        "atomic": 0,
        "l2": 192,
        "lsu": 96,
        "l1": 96,
        "shared": 0,
        "fp32": 32,
        "fp64": 0,
        "special": 0,
        "issue": 128,
        "barrier": 0,
        "latency": 0,  # the toy GPU has none
        "exposed": 0,
    }
    assert time.traffic[:3] == (3 * 4096, 3 * 4096, 3 * 4096)
    assert (time.duration_ns, time.bound) == (1384, "floor")


@pytest.mark.parametrize(
    ("totals", "bound"),
    [
        ({"fp32": 10**7}, "compute"),
        ({"fp64": 10**6}, "compute"),
        ({"special": 10**6}, "compute"),
        ({"instructions": 10**6}, "issue"),
        ({}, "floor"),
    ],
)
def test_bound_of_arithmetic(totals, bound, counts):
    assert _time(counts(**totals)).bound == bound


@pytest.mark.parametrize(
    ("space", "bound"), [("global", "memory"), ("shared", "shared memory")]
)
def test_bound_of_accesses(space, bound, access, counts):
    much = {"sectors": 10**5, "wavefronts": 10**5, "array_bytes": 10**6}
    dear = access(space=space, requests=10**4, **much)
    assert _time(counts(dear)).bound == bound


def test_a_single_block_uses_one_sm(counts):
    work = counts(fp32=10**9)
    one, forty = _time(work, T4, (1, 1, 1)), _time(work, T4, (40, 1, 1))
    assert one.terms["fp32"] == pytest.approx(40 * forty.terms["fp32"])


def test_one_block_more_than_sms_costs_a_second_round(counts):
    a100 = find_gpu("a100")
    full = _time(counts(fp32=108 * 10**6), a100, (108, 1, 1)).terms["fp32"]
    over = _time(counts(fp32=109 * 10**6), a100, (109, 1, 1)).terms["fp32"]
    assert over == pytest.approx(2 * full)


def test_waves_and_occupancy_are_told():
    time = _time(None, T4, (400, 1, 1))
    assert time.waves == 2.5  # 4 blocks on each of 40 SMs at a time
    assert time.occupancy.theoretical_occupancy == 1


def test_a_block_that_fits_on_no_sm_is_refused():
    with pytest.raises(LaunchConfigError) as caught:
        _time(None, T4, shared_bytes=100_000)
    assert caught.value.limiter == "shared memory"
    assert caught.value.fix
    assert "too many resources requested" in str(caught.value)


def test_65_registers_of_1024_threads_are_too_many():
    with pytest.raises(LaunchConfigError) as caught:
        kernel_time(None, GRID, (1024, 1, 1), 0, T4, registers=65)
    assert caught.value.limiter == "registers"
    assert "65 registers" in str(caught.value)
    kernel_time(None, GRID, (1024, 1, 1), 0, T4, registers=64)


@pytest.mark.parametrize(
    ("blocks", "shared_bytes", "together", "times"),
    [(1, 0, 1, 1), (1, 9000, 1, 1), (4, 0, 4, 1), (4, 9000, 1, 4), (8, 0, 4, 2)],
)
def test_barriers_expose_what_no_other_block_hides(
    access, blocks, shared_bytes, together, times
):
    # A warp loads 4 times and waits at 8 barriers: 4 × 400 ns and 8 × 2 clocks. The
    # toy has one SM, which holds four blocks, or one if each has 9,000 bytes.
    slow = replace(TOY, dram_latency_ns=400.0, barrier_threads_per_clock=16.0)
    loads = access(requests=4 * blocks, sectors=16 * blocks, array_bytes=512 * blocks)
    line = LineCounts(HERE, 0, 0, 0, 0, 3200 * blocks, 0, 0, 0)  # 100 ns for each block
    counts = LaunchCounts((loads,), (line,), 8 * blocks)
    time = kernel_time(counts, (blocks, 1, 1), (32, 1, 1), shared_bytes, slow)
    assert time.terms["fp32"] == 100 * blocks
    alone = 100 * blocks / together + times * (4 * 400 + 16)
    assert time.terms["exposed"] == alone - 100 * blocks


@pytest.mark.parametrize("blocks", [4, 5, 31, 32, 33, 34, 40, 63, 128])
def test_one_block_more_is_never_hidden_better(blocks, access):
    # Four toy SMs that hold 32 blocks: each does 100 ns of work and waits 1616, and
    # others do theirs meanwhile, be there 8 on an SM or 8.25.
    slow = replace(TOY, dram_latency_ns=400.0, barrier_threads_per_clock=16.0)
    slow = replace(slow, num_sms=4, max_blocks_per_sm=32)
    loads = access(requests=4 * blocks, sectors=16 * blocks, array_bytes=512 * blocks)
    line = LineCounts(HERE, 0, 0, 0, 0, 3200 * blocks, 0, 0, 0)
    counts = LaunchCounts((loads,), (line,), 8 * blocks)
    time = kernel_time(counts, (blocks, 1, 1), (32, 1, 1), 0, slow)
    assert time.duration_ns == 1000 + max(1716, 25 * blocks)


# V100, 16 threads a clock: every block of an SM wants them.
@pytest.mark.parametrize(
    ("blocks", "threads", "clocks"),
    [(80, 1024, 64), (160, 1024, 128), (640, 256, 128), (2560, 64, 128)],
)
def test_blocks_of_an_sm_share_the_rate_at_which_it_takes_in_threads(
    blocks, threads, clocks, counts
):
    v100, warps = find_gpu("v100"), blocks * threads // 32
    work = replace(counts(), barriers=1000 * warps)
    time = kernel_time(work, (blocks, 1, 1), (threads, 1, 1), 0, v100, 32)
    assert time.terms["barrier"] == pytest.approx(1000 * clocks / 1.53)
    assert time.duration_ns == pytest.approx(2500 + 1000 * clocks / 1.53)
    assert time.bound == "barriers"


def test_blocks_that_are_not_there_take_no_l1(access):
    # Each block touches 1024 lines at a time, 128 KB; an A100's L1 holds 192.
    again = Reuse("x", "load", 10**6, 4000, 400, 400, 1000, 100, 100, step_lines=1024)
    work = LaunchCounts((access(requests=1000, sectors=4000),), (), 0, (again,))

    def l2_sectors(blocks, **changes):
        spec = replace(find_gpu("a100"), **changes)
        grid, block = (blocks, 1, 1), (64, 1, 1)
        return kernel_time(work, grid, block, 0, spec, 32).traffic.l2_bytes // 32

    assert l2_sectors(1) == l2_sectors(108) == 400  # one block on an SM
    assert l2_sectors(109) == 4000  # two on one of them: 256 KB
    assert l2_sectors(109, num_sms=109) == 400
    assert l2_sectors(109, max_blocks_per_sm=1) == 400


def test_barriers_expose_nothing_where_other_blocks_have_enough_to_do(access):
    line = LineCounts(HERE, 0, 0, 0, 0, 32 * 40_000, 0, 0, 0)  # 10 µs for each of four
    slow = replace(TOY, dram_latency_ns=400.0)
    counts = LaunchCounts((access(requests=4),), (line,), 4)
    assert kernel_time(counts, (4, 1, 1), (32, 1, 1), 0, slow).terms["exposed"] == 0


@pytest.mark.parametrize("spec", PRESETS.values(), ids=PRESETS)
def test_every_preset_has_a_price(spec, access, counts):
    work = counts(access(sectors=10**6), fp32=10**6, fp64=10**6, special=10**6)
    assert _time(work, spec).duration_ns > spec.kernel_floor_ns


def test_text_tells_the_largest_term_first(counts):
    text = str(_time(counts(fp32=640)))
    assert text == "modelled 1.02 µs, bound: floor (floor 1.00 µs, fp32 20 ns)"


@pytest.mark.parametrize(("merged", "bound"), [(0, "shared memory"), (9_000, "memory")])
def test_load_store_units_are_bound_by_what_asks_most(merged, bound, access, counts):
    tile = access("tile", "shared", requests=10**4, merged=merged)
    time = _time(counts(access(requests=9_000), tile))
    assert (time.binding_term, time.bound) == ("lsu", bound)
