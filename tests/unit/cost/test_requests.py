"""Warp-wide requests: what is refused, and the moves that both rules share."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost.requests import (
    check_requests,
    count_distinct,
    row_sums,
    steps,
)
from tinytorch_gpu.errors import ShapeError

T4 = find_gpu("t4")


@pytest.mark.parametrize("shape", [(32,), (2, 31), (2, 64), (2, 2, 32)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ShapeError, match="one request") as caught:
        check_requests(np.zeros(shape, int), np.ones(shape, bool), T4)
    assert caught.value.shape == shape


def test_differing_shapes_are_refused():
    with pytest.raises(ShapeError):
        check_requests(np.zeros((2, 32), int), np.ones((1, 32), bool), T4)


def test_steps_do_not_cross_requests():
    assert steps(np.array([[1, 2], [9, 7]])).tolist() == [[0, 1], [0, -2]]


def test_steps_of_no_requests():
    assert steps(np.zeros((0, 32), int)).shape == (0, 32)


def test_row_sums_of_a_view_that_is_not_contiguous():
    flags = np.ones((32, 3), bool).T
    assert row_sums(flags).tolist() == [32, 32, 32]


def test_count_distinct_leaves_inactive_values_out():
    values = np.array([[0, 0, 5, -7], [1, 2, 3, 4], [1, 1, 1, 1]])
    active = np.array([[1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], bool)
    assert count_distinct(values, active).tolist() == [2, 0, 1]
