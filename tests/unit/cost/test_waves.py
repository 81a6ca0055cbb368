"""Rounds of blocks: how many SMs work, and laws of the last round."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.cost.waves import blocks_of_an_sm, effective_sms, rounds

T4 = find_gpu("t4")


@pytest.mark.parametrize(
    ("blocks", "most"), [(1, 1), (40, 1), (41, 2), (320, 8), (321, 321 / 40)]
)
def test_whole_blocks_up_to_eight_waves(blocks, most):
    assert blocks_of_an_sm(blocks, T4) == most


@given(st.integers(1, 10_000), st.sampled_from(sorted(PRESETS)))
def test_effective_sms_lie_between_one_and_all(blocks, gpu):
    spec = find_gpu(gpu)
    found = effective_sms(blocks, spec)
    assert 1 <= found <= min(blocks, spec.num_sms)


@given(st.integers(1, 5000), st.integers(1, 5000))
def test_more_blocks_never_leave_an_sm_fewer(blocks, more):
    assert blocks_of_an_sm(blocks, T4) <= blocks_of_an_sm(blocks + more, T4)


@pytest.mark.parametrize(
    ("waves", "share"), [(8.01, 0.89), (8.5, 0.944), (16.1, 0.947)]
)
def test_the_average_is_at_most_an_eighth_below_whole_rounds(waves, share):
    assert rounds(waves) / math.ceil(waves) == pytest.approx(share, abs=1e-3)


@given(st.floats(0.01, 100), st.floats(0, 100))
def test_more_waves_are_never_fewer_rounds(waves, more):
    assert rounds(waves) <= rounds(waves + more)
    assert waves <= rounds(waves) < waves + 1
