"""Laws of modelled time that hold for every GPU and every kernel."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.cost import kernel_time, occupancy
from tinytorch_gpu.trace import (
    AccessCounts,
    LaunchCounts,
    LineCounts,
    Reuse,
    SourceLine,
)

HERE = SourceLine("k", "k.py", 1, "out[i] = x[i] * y[i] + out[i]")
GPUS = st.sampled_from(sorted(PRESETS))
COUNT = st.integers(0, 10**7)
NAMES = [
    "requests",
    "sectors",
    "lines",
    "tags",
    "passes",
    "fp32",
    "fp64",
    "special",
    "fp32_warps",
    "fp64_warps",
    "special_warps",
    "instructions",
    "atomics",
    "array_bytes",
    "step_lines",
    "barriers",
]

WARPS = ("fp32_warps", "fp64_warps", "special_warps")


@st.composite
def works(draw):
    """Numbers of a launch: what it asks of memory and of arithmetic."""
    numbers = {name: draw(COUNT) for name in NAMES}
    few = {"barriers": st.integers(0, 1000), "step_lines": st.integers(0, 3000)}
    return numbers | {name: draw(values) for name, values in few.items()}


def counts_of(work):
    """Counts with those numbers."""
    moved = {"active_lanes": 32, "bytes_requested": 128}
    x = AccessCounts(
        HERE,
        "x",
        "global",
        "load",
        work["requests"],
        work["sectors"],
        array_bytes=work["array_bytes"],
        wavefronts=work["lines"],
        tags=work["tags"],
        **moved,
    )
    tile = AccessCounts(
        HERE, "t", "shared", "load", 1, 0, array_bytes=0, **moved,
        wavefronts=work["passes"],
    )  # fmt: skip
    bins = AccessCounts(
        HERE, "bins", "global", "atomic", 1, 1, 32, 128, 128,
        hottest_address=work["atomics"],
    )  # fmt: skip
    line = LineCounts(
        HERE, work["instructions"], 0, 0, 0, work["fp32"], work["fp64"], 0,
        work["special"], **{name: work[name] for name in WARPS},
    )  # fmt: skip
    asked = [work["sectors"]] * 3 + [work["requests"]] * 3
    half = [n // 2 for n in asked]  # a block comes to every second of them again
    seen = (asked[0], *half[1:3], asked[3], *half[4:])
    lines = work["step_lines"]
    reuse = (Reuse("x", "load", work["array_bytes"], *seen, step_lines=lines),)
    return LaunchCounts((x, tile, bins), (line,), work["barriers"], reuse)


GRIDS = st.one_of(st.integers(1, 400), st.integers(400, 10_000))


def price(work, spec, grid=(64, 1, 1), block=(256, 1, 1), registers=32):
    return kernel_time(counts_of(work), grid, block, 0, spec, registers)


@given(works(), st.sampled_from(NAMES), COUNT, GPUS, GRIDS)
def test_more_of_anything_never_costs_less(work, what, more, gpu, blocks):
    spec, grid = find_gpu(gpu), (blocks, 1, 1)
    cheap = price(work, spec, grid).duration_ns
    dear = price(work | {what: work[what] + more}, spec, grid).duration_ns
    assert cheap <= dear * (1 + 1e-12)


@given(works(), GPUS, st.sampled_from(WARPS), st.integers(1, 32))
def test_inactive_lanes_are_paid_like_active_ones(work, gpu, name, lanes):
    spec, operations = find_gpu(gpu), name.removesuffix("_warps")
    parted = work | {operations: lanes * work[name]}
    full = work | {operations: 32 * work[name]}
    assert price(parted, spec) == price(full, spec)


@given(works(), GPUS, st.integers(1, 64), GRIDS)
def test_more_sms_are_never_slower(work, gpu, more, blocks):
    spec, grid = find_gpu(gpu), (blocks, 1, 1)
    larger = replace(spec, num_sms=spec.num_sms + more)
    few, many = (price(work, each, grid).duration_ns for each in (spec, larger))
    assert many <= few * (1 + 1e-12)


FASTER = {
    "dram": "dram_gb_per_s",
    "l2": "l2_bytes_per_clock_per_sm",
    "shared": "shared_bytes_per_clock",
    "lsu": "ldst_lanes_per_sm",
    "fp32": "fp32_lanes_per_sm",
    "fp64": "fp64_lanes_per_sm",
    "special": "sfu_lanes_per_sm",
    "issue": "schedulers_per_sm",
    "barrier": "barrier_threads_per_clock",
}


@given(works(), GPUS, st.sampled_from(sorted(FASTER)))
def test_time_scales_with_what_binds(work, gpu, term):
    spec = find_gpu(gpu)
    field = FASTER[term]
    twice = replace(spec, **{field: 2 * getattr(spec, field)})
    slow, fast = price(work, spec), price(work, twice)
    assert fast.terms[term] == pytest.approx(slow.terms[term] / 2)
    assert fast.duration_ns <= slow.duration_ns * (1 + 1e-12)
    if slow.binding_term != term:
        return
    others = {n: ns for n, ns in fast.terms.items() if n not in (term, "floor")}
    if max(others.values()) <= fast.terms[term]:
        busy = slow.duration_ns - spec.kernel_floor_ns - slow.terms["exposed"]
        assert busy == pytest.approx(slow.terms[term])


@given(works(), GPUS, GRIDS)
def test_an_l1_that_is_twice_as_fast_halves_its_time(work, gpu, blocks):
    spec, grid = find_gpu(gpu), (blocks, 1, 1)
    twice = {"l1_tags_per_clock": 2, "shared_bytes_per_clock": 2, "l1_request_bytes": 2}
    changes = {name: times * getattr(spec, name) for name, times in twice.items()}
    slow, fast = (price(work, each, grid) for each in (spec, replace(spec, **changes)))
    if not spec.l1_request_bytes:  # else a request takes a clock, however fast
        assert fast.terms["l1"] == pytest.approx(slow.terms["l1"] / 2)
    assert fast.duration_ns <= slow.duration_ns * (1 + 1e-12)


@given(
    st.integers(1, 1024),
    st.integers(1, 254),
    st.integers(1, 100),
    st.integers(0, 49_152),
    GPUS,
)
def test_fewer_registers_never_lower_occupancy(threads, few, more, shared, gpu):
    spec = find_gpu(gpu)
    found = [
        occupancy(threads, spec, registers_per_thread=n, shared_bytes=shared)
        for n in (few, few + more)
    ]
    assert found[0].blocks_per_sm >= found[1].blocks_per_sm


@given(works(), st.integers(1, 10**6), GPUS)
def test_a_kernel_never_takes_less_than_its_floor(work, blocks, gpu):
    spec = find_gpu(gpu)
    time = price(work, spec, grid=(blocks, 1, 1))
    assert time.duration_ns >= spec.kernel_floor_ns
    assert time.duration_ns >= max(time.terms.values())


@given(works(), GPUS)
def test_bytes_never_grow_on_the_way_down(work, gpu):
    moved = price(work, find_gpu(gpu)).traffic
    assert moved.l1_loaded >= moved.l2_loaded >= moved.dram_loaded


def test_a_sector_more_that_hits_l2_does_not_make_loads_faster():
    """The latency was an average over sectors: 0.4 ns, but the wrong way round."""
    little = dict.fromkeys([*NAMES, "barriers"], 0)
    little |= {"sectors": 1, "array_bytes": 1, "requests": 1}
    spec = find_gpu("a100")
    less = price(little, spec).duration_ns
    assert less <= price(little | {"sectors": 2}, spec).duration_ns


@given(works(), GPUS, GRIDS, st.integers(1, 400), st.integers(1, 16))
def test_more_blocks_of_the_same_work_are_never_faster(work, gpu, few, more, warps):
    """Each block does the same; what they read may be the same for all, or not."""
    spec = find_gpu(gpu)
    own = {name: number // 1000 for name, number in work.items()}

    def time(blocks, *, is_shared):
        same = {"array_bytes", "step_lines"}
        times = {n: v * blocks for n, v in own.items() if n not in same}
        counts = counts_of(own | times)
        (x,) = counts.reuse
        if is_shared:
            requests, sectors = own["requests"], own["sectors"]
            x = replace(x, together_sectors=sectors, together_requests=requests)
        counts = replace(counts, accesses=counts.accesses[:1], reuse=(x,))
        grid, block = (blocks, 1, 1), (32 * warps, 1, 1)
        return kernel_time(counts, grid, block, 0, spec, 16).duration_ns

    for is_shared in (False, True):
        fewer, many = (time(n, is_shared=is_shared) for n in (few, few + more))
        assert fewer <= many * (1 + 1e-12)


@given(works(), GPUS, GRIDS, st.integers(16, 120), st.integers(1, 4))
def test_more_registers_are_never_faster(work, gpu, blocks, registers, more):
    """Unless the fewer blocks that are left find room in L1, as on hardware."""
    spec, work = find_gpu(gpu), work | {"step_lines": 0}
    grid = (blocks, 1, 1)
    few, many = (
        price(work, spec, grid=grid, block=(64, 1, 1), registers=n).duration_ns
        for n in (registers, registers + more)
    )
    assert few <= many * (1 + 1e-12)
