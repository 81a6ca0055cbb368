"""Arithmetic intensity and the two roofs."""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import arithmetic_intensity, attainable_flops

T4 = find_gpu("t4")


def test_vector_add_has_one_flop_for_12_bytes(access, counts):
    add = counts(access("x"), access("y"), access("out", kind="store"), fp32=32)
    assert arithmetic_intensity(add, T4) == pytest.approx(1 / 12)


def test_float64_counts_as_flops_too(access, counts):
    assert arithmetic_intensity(counts(access(), fp64=64), T4) == 0.5


def test_no_traffic_is_no_intensity(counts):
    assert arithmetic_intensity(counts(fp32=10), T4) == 0


def test_the_roofs_meet_at_the_ridge():
    ridge = T4.ridge_flops_per_byte
    assert attainable_flops(ridge, T4) == pytest.approx(T4.peak_fp32_flops)
    assert attainable_flops(ridge / 2, T4) == pytest.approx(T4.peak_fp32_flops / 2)
    assert attainable_flops(10 * ridge, T4) == T4.peak_fp32_flops
