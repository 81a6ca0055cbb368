"""A GPU on paper: derived numbers, and specs of one's own."""

import dataclasses

import pytest

from tinytorch_gpu.arch import find_gpu


def test_peak_flops_of_a_t4_are_those_of_the_data_sheet():
    assert find_gpu("t4").peak_fp32_flops == pytest.approx(8.1e12, rel=0.01)


def test_peak_flops_of_an_a100_are_those_of_the_data_sheet():
    assert find_gpu("a100").peak_fp32_flops == pytest.approx(19.5e12, rel=0.01)


def test_the_ridge_of_the_toy_can_be_worked_out_by_hand():
    toy = find_gpu("toy")  # 2 × 32 lanes × 1 GHz = 64 Gflop/s over 32 GB/s
    assert (toy.peak_fp32_flops, toy.ridge_flops_per_byte) == (64e9, 2.0)


def test_a_learner_makes_a_gpu_by_replacing_a_field():
    wide = dataclasses.replace(find_gpu("toy"), num_sms=4)
    assert wide.peak_fp32_flops == 4 * find_gpu("toy").peak_fp32_flops


def test_a_spec_is_frozen_and_hashable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        find_gpu("toy").num_sms = 2
    assert hash(find_gpu("toy")) == hash(dataclasses.replace(find_gpu("toy")))
