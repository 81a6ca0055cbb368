"""Arrays as a trace knows them: elements to places in memory and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.trace import SourceLine
from tinytorch_gpu.trace.steps import KeptLanes, Step, TracedArray, at

LINE = SourceLine("add", "add.py", 3, "out[i] = x[i]")


def traced(view, whole):
    """Describe a NumPy view of a larger array as a trace does."""
    start = view.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    steps = tuple(stride // view.itemsize for stride in view.strides)
    name = view.dtype.name
    offset = start // view.itemsize
    return TracedArray("x", "global", name, view.shape, steps, offset, 512, whole.size)


def slices(length):
    bound = st.none() | st.integers(-length, length)
    step = st.sampled_from([1, 2, 3, -1, -2])
    return st.builds(slice, bound, bound, step)


@given(slices(5), slices(4), slices(3), st.permutations(range(3)))
def test_every_element_of_a_view_is_found(a, b, c, order):
    whole = np.arange(60).reshape(5, 4, 3)
    view = whole[a, b, c].transpose(order)
    array = traced(view, whole)
    assert (array.cells() == view).all()  # a cell's value is its place
    for index in np.ndindex(view.shape):
        assert array.cell(index) == view[index]
        assert array.index(int(view[index])) == index
    others = sorted(set(range(60)) - set(view.ravel().tolist()))
    assert [array.index(cell) for cell in others] == [None] * len(others)
    numbers = array.numbers(view.ravel())
    assert numbers.tolist() == list(range(view.size))
    assert (array.numbers(np.array(others, np.int64)) == -1).all()


def test_a_broadcast_axis_has_index_zero():
    array = TracedArray("x", "global", "int8", (3, 2), (0, 1), 4, 0, 6)
    assert array.cells().tolist() == [[4, 5]] * 3
    assert array.index(5) == (0, 1)


def test_an_array_without_axes_has_one_element():
    array = TracedArray("x", "global", "int8", (), (), 4, 0, 6)
    assert array.index(4) == ()
    assert array.index(5) is None


@pytest.fixture
def step():
    """Two blocks, 7 and 9, of 40 threads; lanes 0, 1 of the first and 33 of the other."""
    lanes = np.zeros((2, 64), np.bool_)
    lanes[0, :2] = lanes[1, 33] = True
    taken = lanes.copy()
    taken[0, 0] = False
    where = KeptLanes(np.array([7, 9]), np.arange(64), 40)
    bits = (np.packbits(part, axis=1) for part in (lanes, taken))
    return Step(3, "branch", LINE, "", where, next(bits), taken=next(bits))


def test_lanes_of_a_step(step):
    assert np.argwhere(step.active()).tolist() == [[0, 0], [0, 1], [1, 33]]
    assert np.argwhere(step.takes()).tolist() == [[0, 1], [1, 33]]
    assert [step.row(block) for block in (6, 7, 8, 9, 10)] == [None, 0, None, 1, None]
    assert step.column(33) == 33
    assert [step.has_lane(0, lane) for lane in (0, 1, 2)] == [True, True, False]
    assert [step.takes_lane(0, lane) for lane in (0, 1)] == [False, True]


def test_all_lanes_are_those_that_exist():
    where = KeptLanes(np.array([0]), np.arange(64), 40)
    step = Step(0, "barrier", LINE, "", where, None)
    assert step.active().sum() == 40
    assert step.has_lane(0, 39)
    assert not step.has_lane(0, 40)


def test_entry_of_one_lane():
    assert at(np.arange(6).reshape(2, 3), 1, 2) == 5
    assert at(np.array([[1], [2]]), 1, 2) == 2
    assert at(np.array([[1, 2, 3]]), 1, 2) == 3
    assert at(np.float32(4), 1, 2) == 4
