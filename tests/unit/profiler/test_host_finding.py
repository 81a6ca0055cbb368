"""When the stated laptop (60 GFLOP/s, 12 GB/s, 1 µs a call) would be done earlier."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
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
    """Fixed 4.9 µs, of which the host has 1; 100 ns of work here, 1,067 there: × 5."""
    read = replace(counts().accesses[0], array_bytes=12_800)
    finding = found([launch(counts=counts(read), duration_ns=2600.0)])
    assert "break-even at arrays 5 times as large" in finding.sentence


def test_much_arithmetic_belongs_on_the_gpu(copy, launch, counts):
    assert found([copy(), launch(counts=counts(fp32=10**7))]) is None


def test_without_counts_nothing_is_said(copy, launch):
    assert found([copy(), launch(counts=None)]) is None
    assert found([copy()]) is None
