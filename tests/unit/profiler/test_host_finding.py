"""When the stated laptop (60 GFLOP/s, 12 GB/s, 1 µs a call) would be done earlier."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import kernel_time
from tinytorch_gpu.profiler.verdict import judge

T4 = find_gpu("t4")


def found(records):
    return {f.kind: f for f in judge(records, spec=T4).findings}.get("do not move this")


def test_a_small_addition(copy, launch, counts):
    """The host: 1 µs + 1280 B ÷ 12 GB/s = 1,107 ns of 14,000."""
    finding = found([copy(), launch(counts=counts())])
    assert finding.saves_ns == pytest.approx(14_000 - 1_000 - 1280 / 12)
    assert "would take 1.11 µs, Tesla T4 with its copies takes 14.0 µs" in (
        finding.sentence
    )
    assert "larger arrays never change that" in finding.sentence


def test_break_even_of_resident_data(launch, counts):
    """1 µs and 4 × 1,067 ns are more than 5 µs of issue, which hide the kernel."""
    read = replace(counts().accesses[0], array_bytes=12_800)
    finding = found([launch(counts=counts(read), duration_ns=2600.0)])
    assert "break-even at arrays 4 times as large" in finding.sentence


def chains(launch, counts, blocks):
    """Blocks of one warp that do 2,000 dependent products each, timed as modelled."""
    work = counts(
        replace(counts().accesses[0], requests=0, sectors=0, array_bytes=128 * blocks),
        instructions=2000 * blocks,
        active_lanes=64_000 * blocks,
        fp32=64_000 * blocks,
    )
    shape = {"grid": (blocks, 1, 1), "block": (32, 1, 1)}
    time = kernel_time(work, **shape, shared_bytes=0, spec=T4)
    ns = time.duration_ns
    fits = time.occupancy.theoretical_occupancy
    times = {"duration_ns": ns, "elapsed_ns": ns + 5000, "theoretical_occupancy": fits}
    return launch(counts=work, **shape, **times)


def test_idle_sms_take_larger_arrays_for_nothing(launch, counts):
    """What one block takes, 40 blocks take too, so that the GPU wins: from there on."""
    small = found([chains(launch, counts, 1)])
    assert "larger arrays never" not in small.sentence
    times = int(re.search(r"arrays (\d+) times", small.sentence)[1])
    assert 1 < times <= 40
    assert found([chains(launch, counts, times - 1)]) is not None
    assert found([chains(launch, counts, times)]) is None


def test_never_is_told_of_a_gpu_that_is_full(copy, launch, counts):
    """A copy costs each byte more than the host's addition does."""
    full = counts(
        replace(
            counts().accesses[0],
            requests=10**6,
            sectors=4 * 10**6,
            bytes_used=128 * 10**6,
            array_bytes=128 * 10**6,
        )
    )
    much = launch(counts=full, grid=(125_000, 1, 1), theoretical_occupancy=1.0)
    sent = copy(nbytes=128 * 10**6, elapsed_ns=21.3e6)
    ratio = re.search(r"never .* ([\d.]+) times", found([sent, much]).sentence)[1]
    assert 2 < float(ratio) < 2.2  # 6 GB/s against 12, and the kernel's bytes


def test_atomic_operations_are_work_of_the_host_too(launch, counts):
    atomic = replace(counts().accesses[0], kind="atomic", active_lanes=6 * 10**6)
    slow = launch(counts=counts(atomic), duration_ns=5e6, elapsed_ns=5e6)
    assert "would take 101 µs" in found([slow]).sentence  # 6 M ÷ 60 GFLOP/s


def test_much_arithmetic_belongs_on_the_gpu(copy, launch, counts):
    assert found([copy(), launch(counts=counts(fp32=10**7))]) is None


def test_without_counts_nothing_is_said(copy, launch):
    assert found([copy(), launch(counts=None)]) is None
    assert found([copy()]) is None
