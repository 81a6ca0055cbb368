"""Specs that a learner makes: every number is checked before it is used."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.arch.spec_check import check_spec
from tinytorch_gpu.errors import GPUNotFoundError, GpuSpecError
from tinytorch_gpu.runtime.device import all_devices, use_gpu, use_gpus

NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_passes(name):
    assert check_spec(PRESETS[name]) is PRESETS[name]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_sms", 0),
        ("num_sms", -1),
        ("num_sms", 1.5),
        ("num_sms", "40"),
        ("num_sms", True),
        ("clock_ghz", 0.0),
        ("clock_ghz", NAN),
        ("clock_ghz", INFINITE),
        ("dram_gb_per_s", -1.0),
        ("dram_gb_per_s", None),
        ("pinned_gb_per_s", 0),
        ("pageable_gb_per_s", INFINITE),
        ("dram_efficiency", 1.1),
        ("fp32_sustained", 0),
        ("copy_latency_ns", -1.0),
        ("memory_bytes", 0),
    ],
)
def test_a_number_that_no_model_can_use_is_refused_before_anything_changes(
    field, value
):
    spec, before = replace(PRESETS["t4"], **{field: value}), all_devices()
    for choose in (find_gpu, use_gpu, lambda gpu: use_gpus([gpu])):
        with pytest.raises(GpuSpecError, match=field) as caught:
            choose(spec)
        error = caught.value
        assert all((error.where, error.why, error.fix))
        assert error.field == field
    assert all_devices() == before
    assert before[0].spec == PRESETS["t4"]


@pytest.mark.parametrize("gpu", [3, None, 1.5])
def test_what_is_no_gpu_is_told_as_an_unknown_name(gpu):
    for choose in (find_gpu, use_gpu, use_gpus):
        with pytest.raises(GPUNotFoundError, match=str(gpu)):
            choose(gpu)
