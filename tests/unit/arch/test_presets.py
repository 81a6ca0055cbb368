"""A preset is a row of limits, a host link and what is its own."""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch.presets import GIB, preset

OWN = {"sms": 4, "ghz": 1.0, "dram": 100.0, "memory_bytes": GIB, "l2_kib": 512}
OWN |= {"sources": "made up", "link": "PCIe 4 x16"}


def test_the_link_tells_the_copies():
    spec = preset("mine", (8, 6), **OWN)
    assert (spec.pinned_gb_per_s, spec.pageable_gb_per_s) == (25.0, 10.0)
    assert (spec.host_link, spec.l2_bytes) == ("PCIe 4 x16", 512 * 1024)


def test_own_fields_win():
    assert preset("mine", (8, 6), **OWN, fp32_sustained=0.5).fp32_sustained == 0.5


@pytest.mark.parametrize("wrong", [{"link": "string"}, {"capability": (4, 2)}])
def test_what_is_in_no_table_is_refused(wrong):
    with pytest.raises(KeyError):
        preset("mine", **{"capability": (8, 6)} | OWN | wrong)
