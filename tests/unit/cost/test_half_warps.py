"""Coalescing of half-warps, as compute capability 1.x does it."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost.half_warps import half_warp_transactions

LANES = np.arange(32)
EVERYONE = np.ones(32, bool)
C870, C1060 = find_gpu("c870"), find_gpu("c1060")


def count(spec, addresses, itemsize=4, active=EVERYONE):
    """Transactions and sectors of one request."""
    found = half_warp_transactions(
        np.asarray(addresses)[None], itemsize, active[None], spec
    )
    return tuple(int(part[0]) for part in found)


@pytest.mark.parametrize("spec", [C870, C1060])
def test_results_are_int64_for_each_request(spec):
    rows, active = np.stack([4 * LANES, 4 * LANES]), np.stack([EVERYONE, ~EVERYONE])
    transactions, sectors = half_warp_transactions(rows, 4, active, spec)
    assert transactions.dtype == sectors.dtype == np.int64
    assert (transactions.tolist(), sectors.tolist()) == ([2, 0], [4, 0])


@pytest.mark.parametrize("spec", [C870, C1060])
def test_no_requests(spec):
    none = np.zeros((0, 32), int)
    transactions, sectors = half_warp_transactions(none, 4, none.astype(bool), spec)
    assert transactions.size == sectors.size == 0


# 16 elements of 4, 8 and 16 bytes: 64, 128 and 2 × 128 bytes for each half.
@pytest.mark.parametrize(
    ("itemsize", "expected"), [(4, (2, 4)), (8, (2, 8)), (16, (4, 16))]
)
@pytest.mark.parametrize("spec", [C870, C1060])
def test_rows_of_each_size(spec, itemsize, expected):
    assert count(spec, itemsize * LANES, itemsize) == expected


def test_1_0_takes_one_lane_out_of_place_for_all():
    swapped = np.where(LANES == 3, 4, np.where(LANES == 4, 3, LANES))
    assert count(C870, 4 * swapped) == (16 + 1, 16 + 2)
    active = EVERYONE.copy()
    active[[3, 4]] = False  # the others are in place
    assert count(C870, 4 * swapped, active=active) == (2, 4)


def test_1_3_shrinks_a_segment_to_the_half_and_the_quarter_in_use():
    first = LANES < 16
    two_lanes = (LANES < 2) & first
    for far, sectors in ((4, 1), (28, 1), (32, 2), (60, 2), (64, 4), (124, 4)):
        assert count(C1060, far * LANES, active=two_lanes) == (1, sectors)
    assert count(C1060, 32 + 32 * LANES, active=two_lanes) == (1, 4)  # the middle
    assert count(C1060, 64 + 32 * LANES, active=two_lanes) == (1, 2)  # the upper half
    assert count(C1060, 96 + 32 * LANES, active=two_lanes) == (2, 2)  # two segments


def test_1_3_has_smaller_segments_for_smaller_elements():
    two_lanes = LANES < 2
    assert count(C1060, 32 * LANES, 2, two_lanes) == (1, 2)  # of 64 bytes
    assert count(C1060, 64 * LANES, 2, two_lanes) == (2, 2)
    assert count(C1060, 32 * LANES, 1, two_lanes) == (2, 2)  # of 32 bytes
    assert count(C1060, 31 * LANES, 1, two_lanes) == (1, 1)
