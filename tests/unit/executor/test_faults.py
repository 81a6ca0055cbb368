"""A fault is told in the learner's terms: where, which threads, how many, both numbers."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import OutOfBoundsError
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.faults import place_of


@cuda.jit
def vector_add(x, y, out):
    i = cuda.grid(1)
    out[i] = x[i] + y[i]


@cuda.jit
def store_only(out, shift):
    out[cuda.grid(1) + shift] = 1


@cuda.jit
def matrix_store(out, i, j):
    out[i, j + cuda.threadIdx.x] = 1


@cuda.jit
def coordinates(out):
    x, y, z = cuda.grid(3)
    out[x + 4 * y + 12 * z] = 1


@cuda.jit
def some_lanes(out):
    i = cuda.grid(1)
    if i % 7 == 3:
        out[i] = 1


def fault(kernel, grid, block, *arguments):
    with pytest.raises(OutOfBoundsError) as caught:
        kernel[grid, block](*arguments)
    return caught.value


def test_the_kernel_without_a_guard():
    x, y, out = np.ones((3, 1000), np.float32)
    error = fault(vector_add, 4, 256, x, y, out)
    assert error.what.startswith(
        "load from past the end of `x`, float32 of shape (1000,)"
    )
    assert "vector_add, line" in error.where
    assert "out[i] = x[i] + y[i]" in error.where
    assert "block (3, 0, 0), threads (232, 0, 0) to (255, 0, 0)" in error.where
    assert "24 lanes, warp 7, lanes 8 to 31" in error.where
    assert error.why == "these lanes have indices 1000 to 1023; the last element is 999"
    assert "4 blocks × 256 threads = 1024 threads, 1000 elements" in error.fix
    assert "if i < x.size:" in error.fix


def test_the_facts_are_attributes():
    error = fault(store_only, 4, 256, np.zeros(1000, np.float32), 0)
    assert (error.kernel, error.argument, error.axis) == ("store_only", "out", 0)
    assert (error.index, error.shape) == ((1000, 1023), (1000,))
    assert error.block == (3, 0, 0)
    assert (error.threads[0], error.threads[-1]) == ((232, 0, 0), (255, 0, 0))
    assert len(error.threads) == error.lanes_at_fault == 24
    with open(__file__, encoding="utf-8") as file:  # noqa: PTH123
        assert "shift] = 1" in file.readlines()[error.line - 1]


def test_one_lane_is_told_as_one():
    error = fault(store_only, 1, 33, np.zeros(32, np.float32), 0)
    assert "thread (32, 0, 0): 1 lane, warp 1, lane 0" in error.where
    assert error.why == "this lane has index 32; the last element is 31"


def test_lanes_of_other_blocks_are_counted():
    error = fault(store_only, 4, 32, np.zeros(8, np.float32), 0)
    assert error.block == (0, 0, 0)
    assert error.lanes_at_fault == 24 + 3 * 32
    assert "96 more lanes in other blocks" in error.where


@pytest.mark.parametrize("lanes", [32, 16_384])
def test_the_first_block_at_fault_is_named_whatever_the_batch(lanes):
    with settings.override(batch_lanes=lanes):
        error = fault(store_only, 6, 32, np.zeros(100, np.float32), 0)
    assert error.block == (3, 0, 0)
    assert error.threads[0] == (4, 0, 0)


@pytest.mark.parametrize(
    ("i", "j", "axis", "index"),
    [(8, 0, 0, (8, 8)), (0, 4, 1, (4, 7)), (-9, 0, 0, (-9, -9))],
)
def test_the_axis_that_was_overrun_is_named(i, j, axis, index):
    error = fault(matrix_store, 1, 4, np.zeros((8, 4), np.float32), i, j)
    assert (error.axis, error.index) == (axis, index)
    assert f"on axis {axis}" in error.why
    if index[0] > 0:
        assert f"out.shape[{axis}]" in error.fix


def test_before_the_start():
    error = fault(store_only, 1, 4, np.zeros(10, np.float32), -12)
    assert "before the start of `out`" in error.what
    assert error.index == (-12, -11)
    assert len(error.threads) == 2


def test_threads_and_blocks_have_three_coordinates():
    error = fault(coordinates, (1, 1, 2), (4, 3, 2), np.zeros(40, np.float32))
    assert error.block == (0, 0, 1)
    assert (error.threads[0], error.threads[-1]) == ((0, 1, 1), (3, 2, 1))


def test_only_active_lanes_are_told():
    error = fault(some_lanes, 1, 64, np.zeros(32, np.float32))
    assert error.threads == ((38, 0, 0), (45, 0, 0), (52, 0, 0), (59, 0, 0))


def test_an_empty_array_has_no_last_element():
    assert "empty" in fault(store_only, 1, 4, np.zeros(0, np.float32), 0).why


@pytest.mark.parametrize(
    ("threads", "text"),
    [([40], "thread (0, 1, 0)"), ([3, 7, 45], "threads (3, 0, 0) to (5, 1, 0)")],
)
def test_a_place_is_the_first_block_and_its_threads(threads, text):
    batch = Batch((4, 2, 1), (40, 2, 1), first=3, count=4)
    lanes = np.zeros(batch.shape, bool)
    lanes[2, threads] = lanes[3] = True
    place = place_of(batch, lanes)
    assert (place.row, place.threads.tolist()) == (2, threads)
    assert place.text == f"block (1, 1, 0), {text}"
