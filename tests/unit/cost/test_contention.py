"""Most lanes of a request at one address."""

from __future__ import annotations

import numpy as np

from tinytorch_gpu.cost.contention import most_at_one_address

LANES = np.arange(32)
EVERYONE = np.ones((1, 32), bool)


def most(addresses, active=EVERYONE):
    return most_at_one_address(np.asarray(addresses)[None], active).tolist()


def test_lanes_apart_and_together():
    assert most(4 * LANES) == [1]
    assert most(0 * LANES) == [32]
    assert most(LANES % 5) == [7]  # 32 lanes: two addresses have 7, three have 6


def test_inactive_lanes_do_not_meet():
    assert most(0 * LANES, (LANES < 3)[None]) == [3]
    assert most(0 * LANES, ~EVERYONE) == [0]


def test_requests_are_counted_apart():
    rows = np.stack([LANES // 16, LANES // 8, LANES])
    assert most_at_one_address(rows, np.ones((3, 32), bool)).tolist() == [16, 8, 1]
    assert most_at_one_address(rows[:0], np.ones((0, 32), bool)).size == 0
