"""A computed index that comes out negative is told once; `a[-1]` is not."""

import warnings

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import KernelWarning, OutOfBoundsError
from tinytorch_gpu.settings import override

LAST = -1
HALO = 2


@cuda.jit
def neighbour(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i - 1]


@cuda.jit
def in_a_loop(x, out, first):
    for k in range(first, x.shape[1]):
        out[0, k] = x[0, k] + x[0, k]


@cuda.jit
def store_left(x):
    i = cuda.grid(1)
    x[i - 2] = 1


@cuda.jit
def count_left(x):
    i = cuda.grid(1)
    cuda.atomic.add(x, i - 1, 1)


@cuda.jit
def on_purpose(x, y):
    end = -2
    x[-1] = x[LAST] + x[end] + x[-HALO] + x[2 - 4]
    y[cuda.threadIdx.x, -1] += 1
    cuda.atomic.add(y, (cuda.threadIdx.x, -2), 1)


@cuda.jit
def guarded(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i - 1] if i > 0 else 0


def warned(launch, *arguments):
    """Return the warnings of a launch."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        launch(*arguments)
    return [warning.message for warning in told]


def test_it_names_the_place_and_goes_on():
    out = np.zeros(6)
    (told,) = warned(neighbour[3, 2], np.arange(6.0), out)
    assert isinstance(told, KernelWarning)
    assert out.tolist() == [5, 0, 1, 2, 3, 4]
    assert (told.kind, told.argument, told.space) == ("negative_index", "x", "global")
    assert (told.index, told.axis, told.shape) == (-1, 0, (6,))
    assert (told.block, told.threads) == ((0, 0, 0), ((0, 0, 0),))
    assert told.lanes_at_fault == 1
    assert told.source_line.text == "out[i] = x[i - 1]"
    assert told.source_line.line == told.line
    assert "to element 5" in str(told)


def test_a_scalar_is_told_once_for_each_line_and_launch():
    x = np.ones((1, 4))
    for _ in range(2):
        told = warned(in_a_loop[1, 3], x, np.zeros((1, 4)), np.int64(-2))
        assert [t.argument for t in told] == ["x", "out"]
        assert (told[0].index, told[0].axis, told[0].lanes_at_fault) == (-2, 1, 3)


@pytest.mark.parametrize("kernel", [store_left, count_left])
def test_stores_and_atomics_are_told(kernel):
    (told,) = warned(kernel[1, 4], np.zeros(8, np.int64))
    assert str(told).startswith("store to the end of `x`, int64 of shape (8,)")


def test_constants_of_the_source_are_meant():
    x, y = np.arange(4.0), np.zeros((2, 3), np.int64)
    assert warned(on_purpose[1, 2], x, y) == []
    assert y.tolist() == [[0, 1, 1], [0, 1, 1]]


def test_lanes_that_do_not_take_part_are_not_judged():
    assert warned(guarded[1, 4], np.arange(4.0), np.zeros(4)) == []


def test_it_can_be_silenced():
    with override(warn_negative_index=False):
        assert warned(neighbour[1, 4], np.arange(4.0), np.zeros(4)) == []


def test_a_fault_comes_first():
    with pytest.raises(OutOfBoundsError, match="indices -2 to 1"):
        store_left[1, 4](np.zeros(1))
