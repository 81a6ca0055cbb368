"""Both sides of an offload, by hand on the toy GPU."""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost.breakeven import (
    Host,
    Work,
    find_host,
    host_ns,
    roofline_ns,
    work_ns,
)
from tinytorch_gpu.errors import UnsupportedError

TOY = find_gpu("toy")  # copies 1 µs + 1 or 2 GB/s, launch 1 µs, floor 1 µs, 32 GB/s
HOST = Host("stated", gflop_per_s=10.0, gb_per_s=2.0, call_ns=500.0, source="")


def test_the_host_waits_for_the_slower_of_arithmetic_and_memory():
    assert host_ns(Work(1e5, 1000, 2, (), (), ()), HOST) == 2 * 500 + 10_000
    assert host_ns(Work(10, 1000, 1, (), (), ()), HOST) == 500 + 500


def test_the_gpu_copies_in_launches_and_copies_out():
    work = Work(0, 0, 1, (1000, 2000), (3000,), (4000.0, 5000.0))
    kernels = 1000 + 4000 + 1000 + 5000
    assert work_ns(work, TOY) == 3 * 1000 + 6000 / 1 + kernels
    assert work_ns(work, TOY, is_pinned=True) == 3 * 1000 + 6000 / 2 + kernels
    assert work_ns(work, TOY, is_resident=True) == kernels


def test_a_kernel_is_bound_by_dram_or_by_arithmetic():
    assert roofline_ns(0, 3200, TOY) == 1000 + 100
    flops = TOY.peak_fp32_flops * TOY.fp32_sustained * 1e-6  # in 1 µs
    assert roofline_ns(flops, 0, TOY) == pytest.approx(2000)


def test_a_host_that_is_not_stated():
    with pytest.raises(UnsupportedError, match="cray") as caught:
        find_host("cray")
    assert 'host="measure"' in str(caught.value)
