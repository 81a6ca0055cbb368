"""Device arrays by numba.cuda's names: made, copied, exchanged and pinned."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.memory import DeviceArray, elements_of
from tinytorch_gpu.runtime import current_device


def test_to_device_keeps_shape_dtype_and_values():
    host = np.arange(6, dtype=np.int16).reshape(2, 3)
    array = cuda.to_device(host)
    assert isinstance(array, DeviceArray)
    assert (array.shape, array.dtype) == ((2, 3), np.int16)
    host[:] = 0
    assert array.copy_to_host().tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("given", [[1.5, 2.5], [[1], [2]], 3.0, (True, False)])
def test_to_device_takes_lists_and_numbers(given):
    assert cuda.to_device(given).copy_to_host().tolist() == np.asarray(given).tolist()


@pytest.mark.parametrize("shape", [4, (4,), (2, 3), np.int64(5), ()])
def test_device_array_is_poison_of_any_shape(shape):
    array = cuda.device_array(shape, np.float32)
    assert array.shape == np.empty(shape).shape
    assert np.isnan(elements_of(array)).all()


def test_device_array_is_float64_unless_told():
    assert cuda.device_array(3).dtype == np.float64


def test_fortran_order():
    assert cuda.device_array((2, 3), np.float32, order="F").strides == (4, 8)


@pytest.mark.parametrize("like", [np.zeros((2, 3), np.int8), None])
def test_device_array_like_takes_shape_and_dtype(like):
    given = cuda.device_array((2, 3), np.int8) if like is None else like
    array = cuda.device_array_like(given)
    assert (array.shape, array.dtype) == ((2, 3), np.int8)


def test_a_negative_length_is_refused():
    with pytest.raises(ValueError, match=r"-3|negative"):
        cuda.device_array(-3)


def test_streams_are_taken_where_numba_takes_them():
    array = cuda.to_device(np.ones(3), 0)
    assert array.copy_to_host(stream=0).tolist() == [1, 1, 1]
    assert cuda.device_array(3, stream=0).size == 3


def test_the_device_is_there_and_waits():
    timeline = current_device().timeline
    calls = timeline.synchronize_calls
    cuda.synchronize()
    assert cuda.is_available()
    assert timeline.synchronize_calls == calls + 1
    assert timeline.host_ns >= timeline.device_ns
