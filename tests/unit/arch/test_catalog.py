"""Presets are found by forgiving names, and their numbers fit together."""

import pytest

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.errors import GPUNotFoundError


@pytest.mark.parametrize("name", ["t4", "T4", " t 4", "t-4", "T_4"])
def test_case_and_spaces_do_not_matter(name):
    assert find_gpu(name) is PRESETS["t4"]


def test_a_spec_is_its_own_answer():
    assert find_gpu(PRESETS["toy"]) is PRESETS["toy"]


@pytest.mark.parametrize(
    ("wrong", "hint"), [("a10", "'a100'"), ("rtx-3080", "'rtx3090'"), ("", "t4")]
)
def test_a_wrong_name_is_answered_with_the_right_ones(wrong, hint):
    with pytest.raises(GPUNotFoundError) as caught:
        find_gpu(wrong)
    assert hint in caught.value.fix
    assert all(name in caught.value.why for name in PRESETS)


@pytest.mark.parametrize("spec", PRESETS.values(), ids=PRESETS)
def test_limits_fit_together(spec):
    assert spec.warp_size == 32
    assert spec.max_threads_per_sm % spec.warp_size == 0
    assert spec.max_threads_per_block <= spec.max_threads_per_sm
    assert spec.shared_bytes_per_block <= spec.shared_bytes_per_sm
    assert spec.pageable_gb_per_s <= spec.pinned_gb_per_s < spec.dram_gb_per_s
    assert spec.fp64_lanes_per_sm <= spec.fp32_lanes_per_sm
    assert 0 < spec.dram_efficiency <= 1
    assert 0 < spec.fp32_sustained <= 1


@pytest.mark.parametrize("spec", PRESETS.values(), ids=PRESETS)
def test_every_preset_names_its_sources(spec):
    assert len(spec.sources) > 10


@pytest.mark.parametrize(
    ("name", "sms", "dram", "gib", "capability"),
    [
        ("t4", 40, 320, 15, (7, 5)),
        ("a100", 108, 1555, 40, (8, 0)),
        ("rtx3090", 82, 936, 24, (8, 6)),
        ("p100", 56, 732, 16, (6, 0)),
        ("v100", 80, 898, 16, (7, 0)),
        ("RTX A6000", 84, 768, 48, (8, 6)),
        ("h100", 132, 3350, 80, (9, 0)),
    ],
)
def test_data_sheet_numbers(name, sms, dram, gib, capability):
    spec = find_gpu(name)
    assert (spec.num_sms, spec.dram_gb_per_s, spec.compute_capability) == (
        sms,
        dram,
        capability,
    )
    assert spec.memory_bytes == gib * 2**30
