"""What every array in a kernel has: lengths, steps, and views over one storage."""

import numpy as np
import pytest

from tinytorch_gpu.executor.kernel_array import ChosenArray, KernelArray, row_major

LANES = np.array([[0, 3]])


@pytest.fixture
def whole():
    return KernelArray(np.zeros(6, np.int16), np.int64(0), (2, 3), (3, 1))


def test_attributes_are_int64(whole):
    assert (whole.shape, whole.size, whole.ndim) == ((2, 3), 6, 2)
    assert whole.strides == (6, 2)
    numbers = (*whole.shape, whole.size, whole.ndim, *whole.strides)
    assert {number.dtype for number in numbers} == {np.dtype("int64")}


def test_a_view_is_of_the_same_kind_and_storage(whole):
    row = whole.view(np.int64(3), (3,), (1,))
    assert type(row) is KernelArray
    assert row.storage is whole.storage
    assert (row.offset, row.shape, row.nbytes) == (3, (3,), 6)
    assert (whole.offset, whole.shape) == (0, (2, 3))


def test_a_view_that_differs_by_lane_reaches_what_its_array_reaches(whole):
    rows = whole.view(LANES, (3,), (1,))
    assert rows.nbytes == 12
    assert rows.view(rows.offset + 1, (2,), (1,)).nbytes == 12


def test_lengths_of_each_lane_are_multiplied(whole):
    part = whole.view(LANES, (2, np.array([[1, 3]])), (3, 1))
    assert part.size.tolist() == [[2, 6]]
    assert part.shape[1].tolist() == [[1, 3]]
    assert part.nbytes == 12


@pytest.mark.parametrize(
    ("shape", "steps"), [((), ()), ((5,), (1,)), ((2, 3, 4), (12, 4, 1))]
)
def test_the_last_axis_is_contiguous(shape, steps):
    assert row_major(shape) == steps


LOW = np.array([[True, False]])


def test_views_of_one_array_are_joined_lane_by_lane(whole):
    first, second = (whole.view(np.int64(3 * i), (3,), (1,)) for i in range(2))
    both = second.joined(LOW, first)
    assert (both.offset.tolist(), both.lengths, both.nbytes) == ([[3, 0]], (3,), 6)


def test_lengths_are_joined_too(whole):
    short, long = whole.view(np.int64(2), (1,), (1,)), whole.view(LANES, (3,), (1,))
    both = short.joined(LOW, long)
    assert (both.offset.tolist(), both.lengths[0].tolist()) == ([[2, 3]], [[1, 3]])
    assert both.nbytes == 12


def test_other_arrays_and_other_steps_are_chosen_by_lane(whole):
    row, column = whole.view(np.int64(0), (2,), (1,)), whole.view(0, (2,), (3,))
    other = KernelArray(np.zeros(6, np.int16), np.int64(0), (2,), (1,))
    for second in (column, other):
        both = row.joined(LOW, second)
        assert isinstance(both, ChosenArray)
        assert [array for _, array in both.parts] == [row, second]
        assert both.joined(LOW, row) is row
