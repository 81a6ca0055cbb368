"""Passes over the banks of shared memory."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import bank_passes
from tinytorch_gpu.errors import ShapeError

T4 = find_gpu("t4")
LANES = np.arange(32)
EVERYONE = np.ones((1, 32), bool)


def _passes(addresses, itemsize=4, active=EVERYONE):
    return int(bank_passes(np.asarray(addresses)[None], itemsize, active, T4)[0])


def test_result_is_one_int64_for_each_request():
    addresses = np.stack([4 * LANES, 128 * LANES])
    result = bank_passes(addresses, 4, np.ones((2, 32), bool), T4)
    assert result.dtype == np.int64
    assert result.tolist() == [1, 32]


def test_no_requests():
    assert bank_passes(np.zeros((0, 32), int), 4, np.ones((0, 32), bool), T4).size == 0


def test_a_request_without_active_lanes_is_free():
    nobody = np.zeros((1, 32), bool)
    assert _passes(4 * LANES, active=nobody) == 0
    assert _passes(128 * LANES, active=nobody) == 0


@pytest.mark.parametrize(
    ("itemsize", "passes"), [(1, 1), (2, 1), (4, 1), (8, 2), (16, 4)]
)
def test_consecutive_elements_of_each_size(itemsize, passes):
    assert _passes(itemsize * LANES, itemsize) == passes


def test_bytes_of_one_word_share_a_pass():
    assert _passes(LANES % 4, itemsize=1) == 1
    assert _passes(LANES[::-1], itemsize=1) == 1


def test_a_permutation_of_the_banks_has_no_conflict():
    assert _passes(4 * (LANES * 7 % 32)) == 1


def test_two_words_of_one_bank_queue():
    assert _passes(4 * np.where(LANES == 31, 32, LANES)) == 2


def test_only_active_lanes_conflict():
    assert _passes(128 * LANES, active=(LANES < 5)[None]) == 5


def test_half_warps_of_8_byte_elements_queue_apart():
    one_bank = 128 * LANES  # both words of every element in banks 0 and 1
    assert _passes(one_bank, itemsize=8) == 32
    assert _passes(one_bank, itemsize=8, active=(LANES < 16)[None]) == 16


def test_wrong_shapes_are_refused():
    with pytest.raises(ShapeError):
        bank_passes(np.zeros((2, 16), int), 4, np.ones((2, 16), bool), T4)
