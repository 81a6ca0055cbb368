"""A preset is a row of limits, a host link and what is its own."""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch.presets import GIB, HOST_LINKS, preset
from tinytorch_gpu.cost.transfer import pcie_peak_gb_per_s

OWN = {"sms": 4, "ghz": 1.0, "dram": 100.0, "memory_bytes": GIB, "l2_kib": 512}
OWN |= {"sources": "made up", "link": "PCIe 4 x16"}


def test_the_link_tells_the_copies():
    spec = preset("mine", (8, 6), **OWN)
    # Pageable: copied at 12 GB/s, then carried at 25: 25 × 12 ÷ 37.
    assert (spec.pinned_gb_per_s, spec.pageable_gb_per_s) == (25.0, 8.1)
    assert (spec.host_link, spec.l2_bytes) == ("PCIe 4 x16", 512 * 1024)


@pytest.mark.parametrize(("generation", "as_fast"), [(1, 3), (5, 4)])
def test_links_that_nobody_measured_reach_what_their_neighbours_do(generation, as_fast):
    reached = HOST_LINKS[f"PCIe {as_fast} x16"][0] / pcie_peak_gb_per_s(as_fast)
    derived = reached * pcie_peak_gb_per_s(generation)
    pinned, _ = HOST_LINKS[f"PCIe {generation} x16"]
    assert pinned == pytest.approx(derived, rel=0.02)


def test_own_fields_win():
    assert preset("mine", (8, 6), **OWN, fp32_sustained=0.5).fp32_sustained == 0.5


@pytest.mark.parametrize("wrong", [{"link": "string"}, {"capability": (4, 2)}])
def test_what_is_in_no_table_is_refused(wrong):
    with pytest.raises(KeyError):
        preset("mine", **{"capability": (8, 6)} | OWN | wrong)
