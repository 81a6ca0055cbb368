"""What a kernel would gain without each cause, by hand on a Tesla T4 (40 SMs)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.profiler.verdict import judge

T4 = find_gpu("t4")


@pytest.fixture
def found(launch):
    """Give the findings on one launch whose slowest pipe takes 100 µs."""

    def make(pipe, counts, second_ns=0.0, **changes):
        fields = {
            "counts": counts,
            "duration_ns": 100_000.0,
            "elapsed_ns": 100_000.0,
            "terms": (("floor", 2500.0), (pipe, 100_000.0), ("other", second_ns)),
            "bound": "memory",
            "theoretical_occupancy": 1.0,
            "grid": (4000, 1, 1),
        }
        record = launch(**(fields | changes))
        return {f.kind: f for f in judge([record], spec=T4).findings}

    return make


def only(findings, kind):
    """The finding, and no other one on the kernel."""
    assert set(findings) - {"do not move this"} == {kind}
    return findings[kind]


@pytest.mark.parametrize("pipe", ["dram", "l2"])
def test_scattered_lanes(found, counts, pipe):
    """32 sectors where 4 would do: an eighth of the time remains."""
    scattered = replace(counts().accesses[0], sectors=320, array_bytes=10_240)
    finding = only(found(pipe, counts(scattered)), "uncoalesced")
    assert finding.saves_ns == pytest.approx(100_000 * 7 / 8)
    assert "load of `x` (line 3) moves 32.0 sectors" in finding.sentence
    assert "uses 12.5 % of their bytes" in finding.sentence


def test_the_next_pipe_binds_then(found, counts):
    scattered = replace(counts().accesses[0], sectors=320, array_bytes=10_240)
    finding = only(found("dram", counts(scattered), second_ns=60_000.0), "uncoalesced")
    assert finding.saves_ns == pytest.approx(40_000)


def test_fetched_again(found, counts):
    """DRAM moves 100 µs × 278.4 GB/s = 27.84 MB of arrays of 6.96 MB: a quarter."""
    again = replace(counts().accesses[0], array_bytes=6_960_000)
    finding = only(found("dram", counts(again)), "cache-missing")
    assert finding.saves_ns == pytest.approx(75_000)
    assert "fetches 27.8 MB from DRAM of arrays that hold 6.96 MB" in finding.sentence


def test_what_barriers_expose_stays(found, counts):
    """90 µs of a pipe and 10 exposed; 45 and 10 remain, more than the latency."""
    terms = (("issue", 90_000.0), ("exposed", 10_000.0), ("latency", 40_000.0))
    work = counts(instructions=10, active_lanes=160)
    finding = only(found("issue", work, terms=terms), "divergence")
    assert finding.saves_ns == pytest.approx(45_000)


def test_latency_binds_then(found, counts):
    terms = (("issue", 90_000.0), ("exposed", 10_000.0), ("latency", 80_000.0))
    work = counts(instructions=10, active_lanes=160)
    finding = only(found("issue", work, terms=terms), "divergence")
    assert finding.saves_ns == pytest.approx(20_000)


def test_bank_conflicts(found, counts):
    column = replace(
        counts().accesses[0],
        space="shared",
        array="tile",
        wavefronts=40,
        ideal_wavefronts=10,
    )
    finding = only(found("shared", counts(column)), "bank conflicts")
    assert finding.saves_ns == pytest.approx(75_000)
    assert "takes 4.0 passes over the banks per request" in finding.sentence
    assert "conflicts it is 1.0" in finding.sentence


def test_float64(found, counts):
    """2 lanes for float64 against 64 for float32: a 32nd remains."""
    finding = only(found("fp64", counts(fp64=1000)), "float64")
    assert finding.saves_ns == pytest.approx(100_000 * 31 / 32)
    assert "1,000 float64 operations, each 32 times as dear" in finding.sentence


def test_special_functions(found, counts):
    finding = only(
        found("special", counts(special=500), second_ns=30_000.0), "special functions"
    )
    assert finding.saves_ns == pytest.approx(70_000)
    assert "500 divisions" in finding.sentence


def test_atomics(found, counts):
    atomic = replace(counts().accesses[0], kind="atomic", hottest_address=320)
    finding = only(found("atomic", counts(atomic)), "atomics")
    assert finding.saves_ns == pytest.approx(100_000 * 31 / 32)
    assert "320 atomic operations, up to 320 of them on one address" in finding.sentence


def test_divergence(found, counts):
    work = counts(instructions=10, active_lanes=160, branches=4, divergent_branches=2)
    finding = only(found("issue", work), "divergence")
    assert finding.saves_ns == pytest.approx(50_000)
    assert "16.0 of 32 lanes active on average; 2 of 4 branches" in finding.sentence


def test_few_blocks(found, counts):
    finding = only(found("latency", counts(), grid=(10, 1, 1)), "latency")
    assert finding.saves_ns == pytest.approx(75_000)
    assert "10 blocks for 40 SMs" in finding.sentence


@pytest.mark.parametrize(
    ("limiter", "fix"), [("registers", "max_registers"), ("threads", "[blocks, 256]")]
)
def test_low_occupancy(found, counts, limiter, fix):
    given = {"theoretical_occupancy": 0.25, "occupancy_limiter": limiter}
    finding = only(found("latency", counts(), **given), "latency")
    assert f"25.0 % of its warps, limited by {limiter}" in finding.sentence
    assert fix in finding.fix


def test_tail(found, counts):
    """1.25 waves take the time of 2: five eighths remain."""
    finding = only(found("fp32", counts(fp32=1000), waves=1.25), "tail")
    assert finding.saves_ns == pytest.approx(100_000 * 3 / 8)
    assert "1.25 waves of blocks: after 1 whole the last one fills" in finding.sentence
    assert "to 25.0 %" in finding.sentence
    assert "[2 * blocks, 128]" in finding.fix


@pytest.mark.parametrize("pipe", ["dram", "fp32", "issue", "latency", "shared"])
def test_a_kernel_without_a_cause(found, counts, pipe):
    whole = replace(counts().accesses[0], array_bytes=10**8)
    good = counts(whole, instructions=10, active_lanes=320)
    assert set(found(pipe, good, waves=4.0)) <= {"do not move this"}


def test_a_kernel_that_the_host_hides_has_nothing_to_gain(found, counts):
    scattered = replace(counts().accesses[0], sectors=320)
    hidden = {"issue_ns": 200_000.0, "elapsed_ns": 200_000.0}
    assert "uncoalesced" not in found("dram", counts(scattered), **hidden)
