"""Slices of one axis follow Python's rules, for one value and for each lane."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.errors import KernelTypeError, UninitializedReadError
from tinytorch_gpu.executor.lanes import UNDEFINED
from tinytorch_gpu.executor.slices import cut, spread
from tinytorch_gpu.trace import Site, SourceLine

SITE = Site(SourceLine("k", "lesson.py", 3, "y = x[a:b]"), "x")
BOUND = st.none() | st.integers(-12, 12)
STEP = st.none() | st.integers(-4, 4).filter(bool)


def lane_value(value):
    return None if value is None else np.int64(value)


@given(BOUND, BOUND, STEP, st.integers(0, 9))
def test_one_value_for_all_lanes_is_cut_as_python_cuts(start, stop, step, length):
    part = slice(*map(lane_value, (start, stop, step)))
    chosen = range(length)[start:stop:step]
    first, count, stride = cut(part, length, SITE)
    assert (first, count, stride) == (chosen.start, len(chosen), chosen.step)
    assert type(count) is int


LANE_BOUNDS = st.lists(st.integers(-12, 12), min_size=4, max_size=4)


@given(st.none() | LANE_BOUNDS, st.none() | LANE_BOUNDS, STEP, st.integers(0, 9))
def test_each_lane_is_cut_as_python_cuts(starts, stops, step, length):
    bounds = [None if b is None else np.int32(b)[None] for b in (starts, stops)]
    first, count, stride = cut(slice(*bounds, lane_value(step)), length, SITE)
    for lane in range(4):
        start, stop = (None if b is None else b[lane] for b in (starts, stops))
        chosen = range(length)[start:stop:step]
        own = np.broadcast_to(count, (1, 4))[0, lane]
        assert own == len(chosen)
        if own:
            assert np.broadcast_to(first, (1, 4))[0, lane] == chosen.start
            assert stride == chosen.step


def test_a_length_of_each_lane_bounds_the_slice():
    lengths = np.array([[0, 3, 7]])
    first, count, step = cut(slice(None, np.int64(-1)), lengths, SITE)
    assert (first, count.tolist(), step) == (0, [[0, 2, 6]], 1)


def test_lanes_of_equal_length_give_a_plain_length():
    start = np.array([[0], [4]])
    assert cut(slice(start, start + 4), 8, SITE)[1] == 4
    assert type(cut(slice(start, start + 4), 8, SITE)[1]) is int


@pytest.mark.parametrize("bound", [np.float64(1), np.float32([[1, 2]]), (1, 2)])
def test_a_bound_that_is_no_integer_is_refused(bound):
    with pytest.raises(KernelTypeError, match="bound of type"):
        cut(slice(bound, None), 4, SITE)


@pytest.mark.parametrize("step", [np.int64(0), np.array([[1, 2]])])
def test_a_step_of_zero_or_by_lane_is_refused(step):
    with pytest.raises(KernelTypeError, match="step"):
        cut(slice(None, None, step), 4, SITE)


def test_a_bound_that_no_lane_assigned_is_named():
    with pytest.raises(UninitializedReadError):
        cut(slice(UNDEFINED, None), 4, SITE)


def test_dots_stand_for_the_axes_that_are_not_named():
    full = slice(None)
    assert spread((1, ...), 3) == (1, full, full)
    assert spread((..., 1), 1) == (1,)
    assert spread((..., None, 1), 2) == (full, None, 1)
    assert spread((1, 2), 3) == (1, 2)
