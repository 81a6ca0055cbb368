"""Advice on the kernel that takes longest, by what binds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost.model import _BOUNDS, NOT_COUNTED
from tinytorch_gpu.profiler.kernel_advice import ADVICE, CURES
from tinytorch_gpu.profiler.kernel_findings import CAUSES
from tinytorch_gpu.profiler.verdict import judge

T4 = find_gpu("t4")
SHARE = "100.0 % of the time modelled on Tesla T4"


@pytest.fixture
def long(launch):
    """Give the maker of launches whose kernel takes 50 µs."""

    def make(bound, counts=None, kernel="add_kernel"):
        return launch(
            kernel=kernel,
            bound=bound,
            counts=counts,
            duration_ns=50_000.0,
            elapsed_ns=50_000.0,
        )

    return make


def _sentences(records):
    verdict = judge(records, spec=T4)
    assert verdict.dominant == "kernels"
    return verdict.sentences


def test_every_cause_has_a_cure():
    assert set(CURES) == {cause.kind for cause in CAUSES}


def _second(record):
    return _sentences([record])[1]


def test_every_bound_of_the_model_has_advice():
    assert set(ADVICE) == {*_BOUNDS.values(), NOT_COUNTED}


@pytest.mark.parametrize("bound", sorted(ADVICE))
def test_advice_needs_no_counts(bound, long):
    assert _second(long(bound)).endswith(".")


def test_the_kernel_that_takes_longest_in_total_is_named(long):
    records = [long("memory", kernel="b_kernel")] * 3 + [long("compute")] * 2
    first, _ = _sentences(records)
    assert "b_kernel (b.py:12) alone 60.0 %: 150 µs in 3 launches" in first
    assert f"kernels take {SHARE}," in first


def test_both_shares_are_of_the_whole_time(long, launch, copy):
    """Of 200 µs kernels that bind take 150; short ones hide behind the host's pace."""
    short = [launch(kernel="c_kernel")] * 8
    first, _ = _sentences([long("memory"), *[long("compute")] * 2, *short, copy()])
    assert "kernels take 75.4 % of the time modelled on Tesla T4, add_kernel" in first
    assert "alone 75.4 %: 150 µs in 3 launches" in first  # 150 of 199 µs


def test_one_launch_in_the_singular(long):
    assert "50.0 µs in 1 launch, bound: compute" in _sentences([long("compute")])[0]


def test_the_floor(long):
    second = _second(long("floor"))
    assert "as short as a kernel can be, 50.0 µs at the longest" in second
    assert "make fewer, larger launches" in second


def test_scattered_accesses(long, counts):
    many = {"requests": 32_000, "sectors": 128_000, "active_lanes": 1_024_000}
    many |= dict.fromkeys(("bytes_requested", "array_bytes", "bytes_used"), 4_096_000)
    coalesced = replace(counts().accesses[0], **many)
    scattered = replace(coalesced, array="y", sectors=1_024_000, array_bytes=32_768_000)
    record = long("memory", counts(coalesced, scattered))
    first, second = _sentences([record])
    assert "18.0 sectors per request" in first
    assert "load of `y` (line 3) moves 32.0 sectors per request" in second
    assert "uses 12.5 % of their bytes" in second


def test_scattered_accesses_that_cost_nothing(long, counts):
    """Of 50 µs, what their 320 sectors take: no layout saves that."""
    scattered = replace(counts().accesses[0], array="y", sectors=320)
    second = _second(long("memory", counts(scattered)))
    assert "load of `y` (line 3) moves 32.0 sectors per request, but side by" in second
    assert "Let neighbouring" not in second


def test_coalesced_accesses(long, counts):
    assert "Its accesses are coalesced" in _second(long("memory", counts()))


def test_broadcasts_count_as_coalesced(long, counts):
    one = {"sectors": 10, "bytes_used": 40}  # 1 sector and 4 bytes for 32 lanes
    broadcast = replace(counts().accesses[0], **one)
    assert "coalesced" in _second(long("memory", counts(broadcast)))


def test_bank_conflicts(long, counts):
    column = replace(counts().accesses[0], array="tile", space="shared", wavefronts=320)
    second = _second(long("shared memory", counts(column)))
    assert "Pad the shared array by one column" in second
    assert "`tile` (line 3) takes 32.0 passes" in second


def test_shared_memory_without_conflicts(long, counts):
    row = replace(counts().accesses[0], array="tile", space="shared", wavefronts=10)
    assert "registers" in _second(long("shared memory", counts(row)))


def test_float64(long, counts):
    second = _second(long("compute", counts(fp64=1000)))
    assert "1,000 float64 operations" in second
    assert "float64" not in _second(long("compute", counts(fp32=1000)))


def test_float64_in_a_float32_kernel(long, counts):
    single = replace(counts().accesses[0], dtype="float32")
    second = _second(long("compute", counts(single, fp64=1000)))
    assert "Line 3 does 1,000 float64 operations in a kernel that touches no" in second
    assert "all arrays" not in second
    assert "float32(0.0)" in second


def test_divergence(long, counts):
    """Of branches, turns of loops are most: lanes tell what parting costs."""
    numbers = {"instructions": 10**7, "active_lanes": 16 * 10**7}
    work = counts(branches=10**6, divergent_branches=5, **numbers)
    second = _second(long("issue", work))
    assert "Of 32 lanes 16.0 are active on average, as lanes part at 5 bra" in second
    assert "branch by whole warps" in second
    assert "diverge" not in _second(long("issue", counts(branches=10)))


def test_atomics(long, counts):
    atomic = replace(counts().accesses[0], kind="atomic", hottest_address=320)
    assert "Up to 320 atomic operations meet" in _second(
        long("atomics", counts(atomic))
    )


def test_barriers(long, counts):
    second = _second(long("barriers", replace(counts(), barriers=5000)))
    assert "arrive 5,000 times at barriers" in second
    assert "takes in 16 threads a clock" in second


def test_lanes_that_meet_in_shared_memory_are_not_padded(long, counts):
    hot = replace(
        counts().accesses[0],
        array="h",
        space="shared",
        kind="atomic",
        wavefronts=320,
        ideal_wavefronts=10,
        serial_passes=320,
        bytes_used=40,
        hottest_address=256,
    )
    second = _second(long("shared memory", counts(hot)))
    assert "Up to 256 atomic operations meet at one address" in second
    assert "Pad" not in second


def test_wide_elements_are_not_padded(long, counts):
    """8 bytes for each lane take two passes however they lie."""
    wide = {"space": "shared", "wavefronts": 20, "ideal_wavefronts": 20}
    row = replace(counts().accesses[0], **wide)
    assert "hardly a bank conflict" in _second(long("shared memory", counts(row)))


def test_atomics_at_different_addresses(long, counts):
    apart = {"kind": "atomic", "hottest_address": 1, "serial_passes": 10}
    atomic = replace(counts().accesses[0], **apart)
    assert "at most 1 of them at one address" in _second(
        long("atomics", counts(atomic))
    )
    second = _second(long("memory", counts(atomic)))
    assert "atomic operation on `x` (line 3) brings its sector from DRAM" in second
    assert "tile" not in second


@pytest.mark.parametrize(
    ("blocks", "threads", "told"),
    [
        (1, 32, "1 block, which fills an SM to 3.1 %"),
        (40, 32, "40 blocks, which fill an SM to 3.1 %"),
        (41, 32, "41 blocks, which fill an SM to 6.2 %"),
        (1, 256, "1 block, which fills an SM to 25.0 %"),
        (400, 256, "400 blocks, which fill an SM to 100.0 %"),
    ],
)
def test_latency_tells_how_full_an_sm_is(long, counts, blocks, threads, told):
    fits = {"theoretical_occupancy": 0.5 if threads == 32 else 1.0}
    shape = {"grid": (blocks, 1, 1), "block": (threads, 1, 1)}
    second = _second(replace(long("latency", counts()), **shape, **fits))
    assert told in second
    assert ("more threads" in second) is ("100.0 %" not in second)


def test_latency_names_what_a_warp_waits_for(long, counts):
    loads = _second(long("latency", counts()))
    assert "Its warps wait for memory" in loads
    chain = counts(instructions=64_000, active_lanes=32 * 64_000)
    own = _second(long("latency", chain))
    assert "Its warps wait for their own instructions, each for the one before" in own
    assert "memory" not in own
    barriers = replace(counts(), accesses=(), barriers=64_000)
    assert "Its warps wait at barriers" in _second(long("latency", barriers))
