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


# to_device.


def test_a_device_array_is_not_copied_again():
    array = cuda.to_device(np.ones(3))
    assert cuda.to_device(array) is array


def test_copy_false_only_allocates():
    array = cuda.to_device(np.ones((2, 3), np.float32).T, copy=False)
    assert (array.shape, array.strides) == ((3, 2), (4, 12))
    assert np.isnan(elements_of(array)).all()


def test_to_fills_an_array():
    to = cuda.device_array(3, np.int16)
    assert cuda.to_device(np.array([1, 2, 3], np.int16), to=to) is to
    assert to.copy_to_host().tolist() == [1, 2, 3]
    assert cuda.to_device(np.zeros(3, np.int16), copy=False, to=to) is to
    assert to.copy_to_host().tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="int32"):
        cuda.to_device(np.zeros(3, np.int32), to=to)


@pytest.mark.parametrize("axes", [(slice(None, None, 2),), (slice(None), slice(1, 3))])
def test_a_host_array_with_gaps_is_refused_as_in_numba(axes):
    with pytest.raises(ValueError, match="strides") as caught:
        cuda.to_device(np.zeros((4, 6))[axes])
    assert "ascontiguousarray" in caught.value.fix


@pytest.mark.parametrize(
    "host",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.zeros((0, 4)),
    ],
)
def test_any_order_and_repeated_axes_are_taken(host):
    array = cuda.to_device(host)
    np.testing.assert_array_equal(array.copy_to_host(), host)


# device_array and device_array_like.


def test_strides_can_be_given():
    array = cuda.device_array((2, 3), np.int16, strides=(2, 4))
    assert (array.strides, array.buffer.nbytes) == ((2, 4), 12)
    assert cuda.device_array(4, np.int16, strides=6).buffer.nbytes == 20


@pytest.mark.parametrize("strides", [(4,), (4, -4), (4, 3), (4.0, 4)])
def test_strides_that_do_not_go_with_the_shape_are_refused(strides):
    with pytest.raises(ValueError, match="strides"):
        cuda.device_array((2, 3), np.float32, strides=strides)


LIKE = {
    "C": np.zeros((2, 3, 4), np.int8),
    "F": np.zeros((2, 3, 4), np.int8, order="F"),
    "permuted": np.zeros((2, 3, 4), np.int8).transpose(1, 0, 2),
    "with gaps": np.zeros((2, 3, 4), np.int8)[:, :, ::2],
    "one axis": np.zeros(8, np.int8)[::2],
}


@pytest.mark.parametrize("host", LIKE.values(), ids=LIKE)
def test_device_array_like_keeps_the_order_of_axes_without_gaps(host):
    assert cuda.device_array_like(host).strides == np.empty_like(host).strides


# The CUDA Array Interface.


def test_the_interface_describes_the_array():
    array = cuda.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))
    told = array.__cuda_array_interface__
    address = array.buffer.address
    assert told == {
        "shape": (2, 3),
        "strides": None,
        "data": (address, False),
        "typestr": "<f4",
        "stream": None,
        "version": 3,
    }
    part = array[:, 1:].__cuda_array_interface__
    assert (part["data"][0], part["strides"]) == (address + 4, (12, 4))
    assert cuda.device_array(0).__cuda_array_interface__["data"][0] == 0


class Wrapped:
    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__


@pytest.mark.parametrize(
    "part", [np.s_[:], np.s_[1:, ::2], np.s_[::-1, 1], np.s_[2:2]], ids=str
)
def test_an_object_with_the_interface_shares_memory(part):
    array = cuda.to_device(np.arange(12).reshape(3, 4))
    view = cuda.as_cuda_array(Wrapped(array[part]))
    assert isinstance(view, DeviceArray)
    np.testing.assert_array_equal(view.copy_to_host(), array[part].copy_to_host())
    view[...] = -1
    np.testing.assert_array_equal(array[part].copy_to_host(), view.copy_to_host())


def test_the_view_keeps_the_memory_alive():
    array = cuda.to_device(np.arange(3))
    view = cuda.from_cuda_array_interface(array.__cuda_array_interface__, owner=array)
    del array
    assert view.copy_to_host().tolist() == [0, 1, 2]


def test_what_has_no_interface_is_refused():
    assert not cuda.is_cuda_array(np.zeros(3))
    assert cuda.is_cuda_array(cuda.device_array(3))
    with pytest.raises(TypeError, match="ndarray"):
        cuda.as_cuda_array(np.zeros(3))


def test_foreign_and_masked_memory_is_refused():
    told = cuda.device_array(3).__cuda_array_interface__
    with pytest.raises(NotImplementedError, match="address"):
        cuda.from_cuda_array_interface(told | {"data": (2**46, False)})
    with pytest.raises(NotImplementedError, match="mask"):
        cuda.from_cuda_array_interface(told | {"mask": object()})


# Pinned memory.


def test_copies_of_pinned_arrays_are_recorded_as_pinned():
    told = []
    host, plain = cuda.pinned_array(1000, np.float32), np.zeros(1000, np.float32)
    host[:] = 0
    current_device().timeline.listeners.append(told.append)
    try:
        array = cuda.to_device(host)
        array.copy_to_host(host)
        array.copy_to_host(plain)
        with cuda.pinned(plain):
            array.copy_to_device(plain)
    finally:
        current_device().timeline.listeners.clear()
    assert [record.is_pinned for record in told] == [True, True, False, True]
    assert told[0].duration_ns < told[2].duration_ns
