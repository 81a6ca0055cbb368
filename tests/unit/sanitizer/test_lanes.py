"""Lanes are picked, split and packed without a change."""

import numpy as np
import pytest

from tinytorch_gpu.sanitizer.lanes import Packed, Touched


def touched(cells, threads):
    return Touched(np.array(cells), np.array(threads, np.int32), key=3)


def test_some_of_the_lanes():
    of = touched([5, 6, 7], [0, 1, 2])
    assert of.at(np.array([2, 0])).cells.tolist() == [7, 5]
    assert of.at(np.array([True, False, True])).threads.tolist() == [0, 2]


def test_finer_elements_lie_side_by_side():
    fine = touched([1, 4], [8, 9]).split(2)
    assert fine.cells.tolist() == [2, 3, 8, 9]
    assert fine.threads.tolist() == [8, 8, 9, 9]
    assert fine.key == 3


@pytest.mark.parametrize(
    ("cells", "threads", "is_small"),
    [
        ([4, 5, 6], [1, 2, 3], True),
        ([4], [9], True),
        ([4, 6, 5], [1, 2, 3], False),
        ([4, 5, 6], [1, 1, 3], False),
        ([4, 4, 6], [1, 2, 3], False),
    ],
)
def test_packed_lanes_come_out_as_they_went_in(cells, threads, is_small):
    packed = Packed(touched(cells, threads))
    assert packed.unpacked().cells.tolist() == cells
    assert packed.unpacked().threads.tolist() == threads
    assert packed.unpacked().threads.dtype == np.int32
    assert (packed.nbytes == 0) == is_small
