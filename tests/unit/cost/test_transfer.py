"""Copies: latency and bandwidth."""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.cost import (
    achieved_gb_per_s,
    available_gb_per_s,
    copy_ns,
    device_copy_ns,
    pcie_peak_gb_per_s,
)

T4 = find_gpu("t4")


def test_an_empty_copy_costs_the_latency():
    assert copy_ns(0, is_pinned=False, spec=T4) == T4.copy_latency_ns


def test_large_copy_approaches_the_bandwidth():
    duration = copy_ns(10**9, is_pinned=True, spec=T4)
    assert achieved_gb_per_s(10**9, duration) == pytest.approx(12.0, rel=1e-3)


def test_half_of_the_bandwidth_is_reached_at_latency_times_bandwidth():
    nbytes = int(T4.copy_latency_ns * T4.pageable_gb_per_s)  # 48 kB
    assert achieved_gb_per_s(
        nbytes, copy_ns(nbytes, is_pinned=False, spec=T4)
    ) == pytest.approx(3.0)


@pytest.mark.parametrize("gpu", sorted(PRESETS))
def test_pinned_memory_is_never_slower(gpu):
    spec = find_gpu(gpu)
    assert copy_ns(10**6, is_pinned=True, spec=spec) < copy_ns(
        10**6, is_pinned=False, spec=spec
    )


def test_copy_within_the_device_reads_and_writes():
    assert device_copy_ns(10**6, T4) == pytest.approx(2500 + 2e6 / (320 * 0.87))


def test_copy_that_takes_no_time():
    assert achieved_gb_per_s(10, 0.0) == 0


def test_what_is_available_leaves_the_latency_out():
    nbytes = 12_000
    for is_pinned in (False, True):
        without = copy_ns(nbytes, is_pinned, T4) - T4.copy_latency_ns
        assert available_gb_per_s("d2h", is_pinned, T4) == nbytes / without
    assert available_gb_per_s("d2d", is_pinned=False, spec=T4) == 320 * 0.87 / 2


def test_a_link_carries_its_lanes():
    assert pcie_peak_gb_per_s(2) == 8  # 5 GT/s x 16 lanes x 8/10 / 8 bits
    assert pcie_peak_gb_per_s(3) == pytest.approx(15.754, abs=1e-3)
    assert pcie_peak_gb_per_s(4, lanes=8) == pcie_peak_gb_per_s(3, lanes=16)
    with pytest.raises(KeyError):
        pcie_peak_gb_per_s(0)


@pytest.mark.parametrize("gpu", sorted(PRESETS))
def test_a_preset_reaches_most_of_its_link_and_not_all(gpu):
    spec = find_gpu(gpu)
    words = spec.host_link.split()
    if words[0] != "PCIe":
        pytest.skip(f"host link: {spec.host_link}")
    peak = pcie_peak_gb_per_s(int(words[1]), int(words[2].removeprefix("x")))
    assert 0.6 * peak <= spec.pinned_gb_per_s <= 0.85 * peak
