"""A device array is closed to the host; every way to read it is a recorded copy."""

import pickle

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import HostAccessError, SimGPUError, UnsupportedError
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime import current_device

HOST = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def array():
    return cuda.to_device(HOST)


@pytest.fixture
def one():
    return cuda.to_device(np.array([2.5], np.float32))


@pytest.fixture
def records(array, one):
    told = []
    current_device().timeline.listeners.append(told.append)
    yield told
    current_device().timeline.listeners.clear()


def copies(records):
    return [(r.direction, r.bytes, r.reason) for r in records]


# Closed to the host.

HOST_READS = {
    "asarray": np.asarray,
    "array": np.array,
    "asarray of a list": lambda a: np.asarray([a, a]),
    "asanyarray": np.asanyarray,
    "ascontiguousarray": np.ascontiguousarray,
    "asarray with a dtype": lambda a: np.asarray(a, np.float64),
    "assignment into a host array": lambda a: HOST.copy().__setitem__(0, a[0]),
}


@pytest.mark.parametrize("read", HOST_READS.values(), ids=HOST_READS)
def test_numpy_cannot_read_it(array, records, read):
    with pytest.raises(HostAccessError) as caught:
        read(array)
    assert ".cpu()" in caught.value.fix
    assert "copy_to_host()" in caught.value.fix
    assert not records


def test_the_error_names_shape_dtype_and_device(array):
    with pytest.raises(HostAccessError) as caught:
        np.asarray(array)
    assert "float32 (2, 3) array on simgpu:0" in caught.value.what
    assert (caught.value.shape, caught.value.device) == ((2, 3), "simgpu:0")


def test_it_offers_no_buffer_and_no_array_interface(array):
    with pytest.raises(TypeError):
        memoryview(array)
    assert not hasattr(array, "__array_interface__")
    assert not hasattr(array, "__array_struct__")


# Copies to the host.

READS = {
    "copy_to_host": (lambda a: a.copy_to_host(), "copy_to_host"),
    "float": (float, "float()"),
    "int": (int, "int()"),
    "bool": (bool, "bool()"),
    "item": (lambda a: a.item(), "item()"),
    "format": (lambda a: f"{a:.3f}", "format()"),
    "str": (str, "printing"),
    "repr": (repr, "printing"),
    "plain format": (lambda a: f"{a}", "printing"),
    "one element": (lambda a: a[0], "element read"),
    "pickle": (pickle.dumps, "pickling"),
}


@pytest.mark.parametrize(("read", "reason"), READS.values(), ids=READS)
def test_a_read_is_one_recorded_copy(one, records, read, reason):
    read(one)
    assert copies(records) == [("d2h", 4, reason)]


def test_what_is_read_is_what_is_there(one):
    assert (float(one), int(one), bool(one), one.item()) == (2.5, 2, True, 2.5)
    assert type(one.item()) is float
    assert f"{one:.3f}" == "2.500"
    assert "2.5" in repr(one)
    assert "simgpu:0" in repr(one)


def test_an_element_is_a_numpy_scalar(array, records):
    assert array[1, -1] == 5
    assert isinstance(array[1, -1], np.float32)
    assert {c[:2] for c in copies(records)} == {("d2h", 4)}


def test_iterating_gives_rows_without_a_copy(array, records):
    rows = list(array)
    assert [r.shape for r in rows] == [(3,), (3,)]
    assert not records


def test_iterating_a_vector_copies_each_element(one, records):
    assert list(one) == [2.5]
    assert len(records) == 1


def test_float_of_many_elements_is_refused(array):
    with pytest.raises((ValueError, TypeError)):
        float(array)


def test_an_index_outside_is_an_index_error(array, records):
    with pytest.raises(IndexError):
        array[2, 0]
    assert not records


# copy_to_host(ary) and copy_to_device.


def test_copy_to_host_fills_a_given_array(array, records):
    into = np.zeros((2, 3), np.float32)
    assert array.copy_to_host(into) is into
    np.testing.assert_array_equal(into, HOST)
    assert copies(records) == [("d2h", 24, "copy_to_host")]


def test_copy_to_host_fills_a_view(array):
    into = np.zeros((3, 4), np.float32)
    array.copy_to_host(into[:, ::2].T)
    np.testing.assert_array_equal(into[:, ::2].T, HOST)


@pytest.mark.parametrize(
    "ary", [np.zeros((3, 2), np.float32), np.zeros((2, 3)), np.zeros(6, np.float32)]
)
def test_copy_to_host_refuses_another_shape_or_dtype(array, records, ary):
    with pytest.raises(ValueError, match="same shape and dtype") as caught:
        array.copy_to_host(ary=ary)
    assert all((caught.value.where, caught.value.why, caught.value.fix))
    assert not records


@pytest.mark.parametrize("ary", [[0.0] * 6, "text"])
def test_copy_to_host_refuses_what_is_no_array(array, records, ary):
    with pytest.raises((TypeError, ValueError)):
        array.copy_to_host(ary)
    assert not records


def test_a_host_copy_is_independent(array):
    copy = array.copy_to_host()
    copy[:] = -1
    np.testing.assert_array_equal(array.copy_to_host(), HOST)


def test_copy_to_device_takes_host_and_device_arrays(array, records):
    array.copy_to_device(HOST + 1)
    assert copies(records) == [("h2d", 24, "copy_to_device")]
    np.testing.assert_array_equal(array.copy_to_host(), HOST + 1)
    array.copy_to_device(cuda.to_device(HOST * 2))
    np.testing.assert_array_equal(array.copy_to_host(), HOST * 2)


def test_copy_to_device_refuses_another_shape(array, records):
    with pytest.raises(SimGPUError):
        array.copy_to_device(np.zeros((3, 2), np.float32))
    assert not records
    np.testing.assert_array_equal(array.copy_to_host(), HOST)


# Views and copies on the device.


def test_reshape_is_a_view_where_strides_allow(array):
    assert array.reshape(3, 2).buffer is array.buffer
    assert array[:, :1].reshape(2).buffer is array.buffer


def test_reshape_copies_only_where_they_do_not(array):
    turned = array.T.reshape(6)
    assert turned.buffer is not array.buffer
    np.testing.assert_array_equal(turned.copy_to_host(), HOST.T.reshape(6))


def test_reshape_to_another_size_is_refused(array):
    with pytest.raises(ValueError, match="reshape"):
        array.reshape(4)


@pytest.mark.parametrize("key", [[0, 1], np.array([0]), (slice(None), [1])])
def test_gathers_and_scatters_are_launches(array, key):
    np.testing.assert_array_equal(array[key].copy_to_host(), HOST[key])
    array[key] = 0
    expected = HOST.copy()
    expected[key] = 0
    np.testing.assert_array_equal(array.copy_to_host(), expected)
    with pytest.raises(UnsupportedError, match="view"):
        array.part(key)


def test_an_assignment_to_a_slice_broadcasts(array):
    array[:, 1] = 9
    array[0] = cuda.to_device(np.array([7], np.float32))
    np.testing.assert_array_equal(array.copy_to_host(), [[7, 7, 7], [3, 9, 5]])


def test_pickling_brings_the_elements_back_to_the_device(array, records):
    again = pickle.loads(pickle.dumps(array))
    assert isinstance(again, DeviceArray)
    np.testing.assert_array_equal(again.copy_to_host(), HOST)
    assert copies(records)[:2] == [("d2h", 24, "pickling"), ("h2d", 24, "unpickling")]


def test_pickling_a_view_keeps_only_its_elements(array):
    again = pickle.loads(pickle.dumps(array.T[1:]))
    np.testing.assert_array_equal(again.copy_to_host(), HOST.T[1:])


def test_data_is_the_array_itself_and_can_be_set(array):
    assert array.data is array
    array.data = 3
    assert (array.copy_to_host() == 3).all()


# numba's parameters.


@pytest.mark.parametrize("host", [HOST, HOST.T, HOST[:, ::2], HOST[:1]])
@pytest.mark.parametrize("order", ["C", "F"])
def test_reshape_and_ravel_count_in_an_order(host, order):
    array = cuda.to_device(HOST)
    parts = {(2, 3): array, (3, 2): array.T, (2, 2): array[:, ::2], (1, 3): array[:1]}
    given = parts[host.shape]
    shape = host.shape[::-1]
    for found, expected in (
        (given.reshape(shape, order=order), host.reshape(shape, order=order)),
        (given.reshape(*shape, order=order), host.reshape(shape, order=order)),
        (given.ravel(order), host.ravel(order)),
    ):
        np.testing.assert_array_equal(found.copy_to_host(), expected)


def test_a_fortran_ravel_of_a_fortran_array_is_a_view(array):
    assert array.T.ravel("F").buffer is array.buffer
    assert array.ravel("F").buffer is not array.buffer


def test_elements_by_numbas_names(array):
    array.setitem((0, 1), 9, stream=cuda.stream())
    assert array.getitem((0, 1), stream=cuda.stream()) == 9
    assert array.getitem(1).shape == (3,)


@pytest.mark.parametrize("ary", [np.zeros((2, 3)), np.zeros((2, 3), np.int32)])
@pytest.mark.parametrize("where", ["host", "device"])
def test_copy_to_device_converts_nothing(array, records, ary, where):
    given = cuda.to_device(ary) if where == "device" else ary
    records.clear()
    with pytest.raises(TypeError, match=str(ary.dtype)):
        array.copy_to_device(given)
    assert not records
    np.testing.assert_array_equal(array.copy_to_host(), HOST)


def test_a_copy_to_the_host_keeps_the_order_of_axes():
    array = cuda.to_device(np.asfortranarray(HOST))
    assert array.copy_to_host().strides == (4, 8)
