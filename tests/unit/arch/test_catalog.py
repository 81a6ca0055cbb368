"""Presets are found by forgiving names, and their numbers fit together."""

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.errors import GPUNotFoundError


@pytest.mark.parametrize("name", ["t4", "T4", " t 4", "t-4", "T_4"])
def test_case_and_spaces_do_not_matter(name):
    assert find_gpu(name) is PRESETS["t4"]


def test_a_spec_is_its_own_answer():
    assert find_gpu(PRESETS["toy"]) is PRESETS["toy"]


@pytest.mark.parametrize(
    ("wrong", "hint"), [("a10", "'a100'"), ("rtx-3085", "'rtx3080'"), ("", "t4")]
)
def test_a_wrong_name_is_answered_with_the_right_ones(wrong, hint):
    with pytest.raises(GPUNotFoundError) as caught:
        find_gpu(wrong)
    assert hint in caught.value.fix
    assert all(name in caught.value.why for name in PRESETS)
    assert max(map(len, caught.value.why.splitlines())) <= 84


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
        ("p100 pcie", 56, 732, 16, (6, 0)),
        ("v100 pcie", 80, 900, 16, (7, 0)),
        ("a100 80gb", 108, 2039, 80, (8, 0)),
        ("a100 80gb pcie", 108, 1935, 80, (8, 0)),
        ("h100 pcie", 114, 2039, 80, (9, 0)),
        ("gh200", 132, 3350, 80, (9, 0)),
        ("l4", 58, 300, 24, (8, 9)),
        ("rtx 2080 super", 48, 496, 8, (7, 5)),
        ("rtx 3060", 28, 360, 12, (8, 6)),
        ("rtx 3080", 68, 760, 10, (8, 6)),
        ("rtx 4090", 128, 1008, 24, (8, 9)),
        ("rtx 5090", 170, 1792, 32, (12, 0)),
        ("jetson orin nano", 8, 68, 8, (8, 7)),
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


# Peak float32 Tflop/s of the data sheets: 2 × SMs × lanes × boost clock.
@pytest.mark.parametrize(
    ("name", "tflops"),
    [
        ("t4", 8.14),
        ("p100", 10.6),
        ("p100pcie", 9.3),
        ("v100", 15.7),
        ("v100pcie", 14.1),
        ("a100", 19.5),
        ("h100", 66.9),
        ("h100pcie", 51.2),
        ("gh200", 66.9),
        ("l4", 30.3),
        ("rtx2080super", 11.2),
        ("rtx3060", 12.7),
        ("rtx3080", 29.8),
        ("rtx3090", 35.6),
        ("rtx4090", 82.6),
        ("rtxa6000", 38.7),
        ("rtx5090", 104.8),
        ("jetsonorinnano", 1.28),
    ],
)
def test_peaks(name, tflops):
    assert find_gpu(name).peak_fp32_flops / 1e12 == pytest.approx(tflops, rel=0.006)


@pytest.mark.parametrize("spec", PRESETS.values(), ids=PRESETS)
def test_every_preset_names_its_host_link(spec):
    assert spec.host_link
    assert spec.l1_latency_ns <= spec.l2_latency_ns <= spec.dram_latency_ns


def test_a_custom_gpu_is_a_changed_preset():
    wide = replace(find_gpu("t4"), name="wide T4", dram_gb_per_s=640.0)
    assert find_gpu(wide).dram_gb_per_s == 2 * find_gpu("t4").dram_gb_per_s


def test_a_grace_hopper_is_an_h100_on_another_link():
    grace, h100 = find_gpu("GH200"), find_gpu("h100")
    own = ("name", "sources", "host_link", "pinned_gb_per_s", "pageable_gb_per_s")
    assert replace(grace, **{name: getattr(h100, name) for name in own}) == h100
    assert grace.host_link == "NVLink-C2C"
    assert 350 <= grace.pinned_gb_per_s <= 400
    assert "H100-SXM5-80GB" in grace.sources


def test_no_x86_host_has_nvlink():
    linked = [n for n, spec in PRESETS.items() if "NVLink" in spec.host_link]
    assert linked == ["gh200"]


def test_a_gpu_is_found_by_the_name_that_reports_print():
    for name, spec in PRESETS.items():
        assert find_gpu(spec.name) is find_gpu(name) is spec
