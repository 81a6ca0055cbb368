"""Sectors of requests: the fast count and the sorting one agree."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import sectors_touched
from tinytorch_gpu.errors import ShapeError

T4 = find_gpu("t4")
LANES = np.arange(32)
EVERYONE = np.ones((1, 32), bool)


def _sectors(addresses, itemsize=4, active=EVERYONE):
    return int(sectors_touched(np.asarray(addresses)[None], itemsize, active, T4)[0])


def test_result_is_one_int64_for_each_request():
    addresses = 4 * np.arange(96).reshape(3, 32)
    result = sectors_touched(addresses, 4, np.ones((3, 32), bool), T4)
    assert result.dtype == np.int64
    assert result.tolist() == [4, 4, 4]


def test_no_requests():
    assert (
        sectors_touched(np.zeros((0, 32), int), 4, np.ones((0, 32), bool), T4).sum()
        == 0
    )


@pytest.mark.parametrize(
    ("itemsize", "sectors"), [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16)]
)
def test_consecutive_elements_of_each_size(itemsize, sectors):
    assert _sectors(itemsize * LANES, itemsize) == sectors


def test_descending_lanes_cost_the_same_as_ascending_ones():
    assert _sectors(4 * LANES[::-1]) == 4


def test_inactive_lanes_hold_anything():
    active = (LANES < 8)[None]
    addresses = np.where(LANES < 8, 4 * LANES, -(10**12) * (LANES % 2))
    assert _sectors(addresses, active=active) == 1


@pytest.mark.parametrize("first", [0, 8, 24])
def test_one_run_of_active_lanes_is_counted_without_sorting(first):
    active = ((first <= LANES) & (first + 8 > LANES))[None]
    assert _sectors(4 * LANES, active=active) == 1


def test_two_runs_of_active_lanes_may_share_a_sector():
    assert _sectors(4 * LANES, active=(LANES % 2 == 0)[None]) == 4


def test_lanes_out_of_order_within_a_partial_warp():
    active = (LANES < 4)[None]
    addresses = np.where(LANES < 4, 32 * (LANES % 2), 0)  # sectors 0 1 0 1
    assert _sectors(addresses, active=active) == 2


def test_an_element_across_two_sectors_counts_both():
    addresses = np.full(32, 28)
    assert _sectors(addresses, itemsize=4) == 1
    assert _sectors(addresses + 2, itemsize=4) == 2


def test_requests_of_a_batch_are_independent():
    addresses = np.stack([4 * LANES, 128 * LANES, np.zeros(32, int), 4 * LANES])
    active = np.ones((4, 32), bool)
    active[3] = False
    assert sectors_touched(addresses, 4, active, T4).tolist() == [4, 32, 1, 0]


def test_a_fortran_ordered_batch_counts_as_a_c_ordered_one():
    addresses = np.asfortranarray(4 * np.arange(128).reshape(4, 32))
    active = np.asfortranarray(np.ones((4, 32), bool))
    assert sectors_touched(addresses, 4, active, T4).tolist() == [4] * 4


def test_wrong_shapes_are_refused():
    with pytest.raises(ShapeError):
        sectors_touched(np.zeros((2, 16), int), 4, np.ones((2, 16), bool), T4)
