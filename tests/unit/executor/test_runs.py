"""Runs: lanes grouped by cell in lane order; running totals within each group."""

import numpy as np
import pytest

from tinytorch_gpu.executor.runs import Runs, running, running_float_sum


def test_lanes_of_a_cell_stay_in_lane_order():
    runs = Runs(np.array([5, 2, 5, 2, 9]))
    assert runs.order.tolist() == [1, 3, 0, 2, 4]
    assert runs.cells.tolist() == [2, 5, 9]
    assert runs.lengths.tolist() == [2, 2, 1]
    assert runs.longest == 2


def test_sorted_cells_need_no_order():
    assert Runs(np.array([1, 1, 4])).order is None


@pytest.mark.parametrize("far", [1, 2**16, 2**40])
def test_cells_near_and_far(far):
    runs = Runs(np.array([far, 0, far, 0]))
    assert runs.order.tolist() == [1, 3, 0, 2]


def test_sort_and_unsort_are_inverse():
    runs = Runs(np.array([3, 1, 2, 1]))
    values = np.array([30, 10, 20, 11])
    assert runs.sort(values).tolist() == [10, 11, 20, 30]
    assert runs.unsort(runs.sort(values)).tolist() == values.tolist()


@pytest.mark.parametrize("count", [1, 2, 3, 31, 32, 33, 1000])
def test_a_running_maximum_of_two_cells(count):
    values = np.random.default_rng(count).integers(0, 10**6, 2 * count)
    storage = np.array([500_000, 0])
    cells = np.tile([0, 1], count)
    old = running(storage, cells, values, lambda a, b: np.where(a < b, b, a))
    for cell, start in ((0, 500_000), (1, 0)):
        mine = values[cell::2]
        totals = [start, *(max(start, *mine[: i + 1]) for i in range(count))]
        assert old[cell::2].tolist() == totals[:-1]
        assert storage[cell] == totals[-1]


@pytest.mark.parametrize("count", [1, 63, 64, 65])
def test_a_float_sum_adds_one_by_one(count):
    values = np.random.default_rng(count).normal(size=count).astype(np.float32)
    storage = np.float32([0.1, 7])
    old = running_float_sum(storage, np.zeros(count, np.int64), values)
    total = np.float32(0.1)
    for i in range(count):
        assert old[i] == total
        total += values[i]
    assert storage.tolist() == [total, 7]
