"""Kernel time: terms, bounds and laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.cost import effective_sms, kernel_time
from tinytorch_gpu.errors import LaunchConfigError
from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine

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
    # 1024 float32: 3 × 4096 B ÷ 32 GB/s = 384 ns of DRAM, 192 ns of L2, floor 1 µs
    moved = {"requests": 32, "sectors": 128, "array_bytes": 4096}
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
        "l2": 192,
        "shared": 0,
        "fp32": 16,
        "fp64": 0,
        "special": 0,
        "issue": 128,
    }
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


@given(st.integers(1, 10_000), st.sampled_from(sorted(PRESETS)))
def test_effective_sms_lie_between_one_and_all(blocks, gpu):
    spec = find_gpu(gpu)
    assert min(1, blocks) <= effective_sms(blocks, spec) <= spec.num_sms
    assert effective_sms(blocks, spec) <= blocks


@given(
    st.integers(0, 10**7),
    st.integers(0, 10**6),
    st.integers(0, 10**8),
    st.sampled_from(["global", "shared"]),
    st.sampled_from(sorted(PRESETS)),
)
def test_more_sectors_are_never_cheaper(sectors, more, array_bytes, space, gpu):
    def price(count):
        here = SourceLine("k", "k.py", 1, "x[i]")
        access = AccessCounts(
            here, "x", space, "load", 1, count, 32, 128, array_bytes, wavefronts=count
        )
        return _time(LaunchCounts((access,), (), 0), find_gpu(gpu)).duration_ns

    assert price(sectors) <= price(sectors + more)


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_more_blocks_of_equal_work_are_never_cheaper(blocks, more):
    terms = [1 / effective_sms(n, T4) * n for n in (blocks, blocks + more)]
    assert terms[0] <= terms[1] + 1e-9


def test_waves_and_occupancy_are_told():
    time = _time(None, T4, (400, 1, 1))
    assert time.waves == 2.5  # 4 blocks on each of 40 SMs at a time
    assert time.occupancy.theoretical_occupancy == 1


def test_a_block_that_fits_on_no_sm_is_refused():
    with pytest.raises(LaunchConfigError) as caught:
        _time(None, T4, shared_bytes=100_000)
    assert caught.value.limiter == "shared memory"
    assert caught.value.fix


@pytest.mark.parametrize("spec", PRESETS.values(), ids=PRESETS)
def test_every_preset_has_a_price(spec, access, counts):
    work = counts(access(sectors=10**6), fp32=10**6, fp64=10**6, special=10**6)
    assert _time(work, spec).duration_ns > spec.kernel_floor_ns


def test_text_tells_the_largest_term_first(counts):
    text = str(_time(counts(fp32=640)))
    assert text == "modelled 1.01 µs, bound: floor (floor 1.00 µs, fp32 10 ns)"
