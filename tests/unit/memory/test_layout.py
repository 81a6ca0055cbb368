"""Shape, strides and views are the host's to know, without a copy or a launch."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, memory_allocated
from tinytorch_gpu.runtime import current_device

HOST = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.fixture
def array():
    return cuda.to_device(HOST)


@pytest.fixture
def records(array):
    told = []
    current_device().timeline.listeners.append(told.append)
    yield told
    current_device().timeline.listeners.clear()


@pytest.mark.parametrize(
    "name", ["shape", "dtype", "ndim", "size", "strides", "itemsize", "nbytes"]
)
def test_it_is_described_as_numpy_describes_it(array, name):
    assert getattr(array, name) == getattr(HOST, name)


def test_len_is_axis_0(array):
    assert len(array) == 2


VIEWS = {
    "T": lambda a: a.T,
    "transpose": lambda a: a.transpose(),
    "transpose of axes": lambda a: a.transpose(1, 2, 0),
    "transpose of a tuple": lambda a: a.transpose((2, 0, 1)),
    "swapaxes": lambda a: a.swapaxes(0, -1),
    "row": lambda a: a[1],
    "slice": lambda a: a[:, 1:, ::2],
    "reversed": lambda a: a[::-1],
    "ellipsis": lambda a: a[..., 1],
    "new axis": lambda a: a[:, None],
    "negative": lambda a: a[-1, -2],
    "reshape": lambda a: a.reshape(6, 4),
    "reshape of a tuple": lambda a: a.reshape((4, 6)),
    "reshape with -1": lambda a: a.reshape(3, -1),
    "ravel": lambda a: a.ravel(),
    "of a view": lambda a: a.T[1:].swapaxes(0, 1)[:, ::-1],
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_has_numpys_elements_and_costs_nothing(array, records, view):
    before = memory_allocated()
    found, expected = view(array), view(HOST)
    assert not records
    assert memory_allocated() == before
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert found.buffer is array.buffer
    np.testing.assert_array_equal(found.copy_to_host(), expected)


def test_flatten_is_a_copy_as_in_numpy(array):
    flat = array.flatten()
    assert flat.buffer is not array.buffer
    np.testing.assert_array_equal(flat.copy_to_host(), HOST.ravel())


def test_broadcasting_repeats_with_stride_0(array):
    wide = array[:, :1].broadcast_to((5, 2, 3, 4))
    assert wide.shape == (5, 2, 3, 4)
    assert wide.strides == (0, 48, 0, 4)
    np.testing.assert_array_equal(
        wide.copy_to_host(), np.broadcast_to(HOST[:, :1], (5, 2, 3, 4))
    )


def test_what_does_not_broadcast_is_refused(array):
    with pytest.raises(ValueError, match="broadcast"):
        array.broadcast_to((2, 3, 5))


def test_a_write_through_a_view_is_seen_by_all(array):
    array.T[0] = cuda.to_device(np.full((3, 2), -1, np.float32))
    expected = HOST.copy()
    expected.T[0] = -1
    np.testing.assert_array_equal(array.copy_to_host(), expected)


def test_contiguity_is_told(array):
    assert array.is_c_contiguous()
    assert not array.T.is_c_contiguous()
    assert array[1].is_c_contiguous()


def test_a_view_keeps_the_memory_alive():
    before = memory_allocated()
    view = cuda.to_device(np.zeros(1000, np.float32))[10:20]
    assert memory_allocated() == before + 4096
    del view
    assert memory_allocated() == before
