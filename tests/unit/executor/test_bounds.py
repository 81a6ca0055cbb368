"""Each lane's index is checked against its axis; a negative one wraps once."""

import numpy as np
import pytest

from tinytorch_gpu.errors import KernelTypeError, OutOfBoundsError
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.bounds import in_bounds, wrong_index
from tinytorch_gpu.executor.kernel_array import KernelArray
from tinytorch_gpu.settings import override
from tinytorch_gpu.trace import Site, SourceLine

SITE = Site(SourceLine("k", "lesson.py", 3, "y = x[i]"), "x")
T = np.arange(32)[None]
VECTOR = KernelArray(np.zeros(10), np.int64(0), (10,), (1,))
BY_LANE = VECTOR.view(np.int64(0), (T % 4 + 1,), (1,))


@pytest.fixture
def batch():
    return Batch((1, 1, 1), (32, 1, 1), first=0, count=1)


@pytest.fixture
def allow_negative():
    with override(warn_negative_index=False):
        yield


def check(batch, array, index, mask=None):
    return in_bounds(batch, mask or batch.entry, array, 0, index, SITE, "load from")


@pytest.mark.parametrize(("index", "place"), [(0, 0), (9, 9), (-1, 9), (-10, 0)])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_signed_indices_wrap_once(batch, index, place, dtype, allow_negative):
    assert check(batch, VECTOR, np.dtype(dtype).type(index)) == place
    lanes = np.full((1, 32), index, dtype)
    assert (check(batch, VECTOR, lanes) == place).all()
    assert check(batch, VECTOR, lanes).dtype == np.int64


@pytest.mark.parametrize("index", [-11, 10, 2**62, -(2**63)])
def test_beyond_that_is_a_fault(batch, index):
    for given in (np.int64(index), np.full((1, 32), index)):
        with pytest.raises(OutOfBoundsError) as caught:
            check(batch, VECTOR, given)
        assert caught.value.index == (index, index)
        assert caught.value.lanes_at_fault == 32


@pytest.mark.parametrize("index", [np.uint8(255), np.uint64(2**64 - 1)])
def test_unsigned_indices_never_wrap(batch, index):
    for given in (index, np.full((1, 32), index)):
        with pytest.raises(OutOfBoundsError):
            check(batch, VECTOR, given)


def test_lanes_that_do_not_take_part_may_be_outside(batch):
    low, _ = batch.entry.split(T < 10)
    assert (check(batch, VECTOR, T, low)[0, :10] == T[0, :10]).all()
    assert check(batch, VECTOR, np.int64(99), batch.entry.none()) is not None


def test_each_lane_has_a_length_of_its_own(batch, allow_negative):
    assert (check(batch, BY_LANE, T % 4) == T % 4).all()
    assert (check(batch, BY_LANE, np.int64(-1)) == T % 4).all()
    with pytest.raises(OutOfBoundsError) as caught:
        check(batch, BY_LANE, np.int64(2))
    assert caught.value.lanes_at_fault == 16
    assert (caught.value.shape, caught.value.threads[0]) == ((1,), (0, 0, 0))


def test_nothing_is_inside_an_empty_axis(batch):
    with pytest.raises(OutOfBoundsError, match="past the end"):
        check(batch, VECTOR.view(np.int64(0), (0,), (1,)), np.int64(0))


@pytest.mark.parametrize("index", [np.float32(1), T * 0.5, 1.0])
def test_an_index_that_is_no_integer_is_refused(batch, index):
    with pytest.raises(KernelTypeError, match="index of type float"):
        check(batch, VECTOR, index)


def test_the_refusal_tells_the_shape():
    assert "shape (10,)" in str(wrong_index(VECTOR, "2 indices", SITE))
    assert "no array" in str(wrong_index(3, "a int", SITE))
