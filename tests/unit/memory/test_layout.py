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


# numba's names for layouts and views.


def test_contiguity_is_told_by_order(array):
    assert (array.is_c_contiguous(), array.is_f_contiguous()) == (True, False)
    assert (array.T.is_c_contiguous(), array.T.is_f_contiguous()) == (False, True)
    assert array[:, ::2].flags == {"C_CONTIGUOUS": False, "F_CONTIGUOUS": False}
    assert array[0, 0].flags == {"C_CONTIGUOUS": True, "F_CONTIGUOUS": True}


def test_squeeze_drops_axes_of_length_1(array):
    wide = array[:, :1, None]
    assert wide.squeeze().shape == (2, 4)
    assert wide.squeeze(axis=1, stream=0).shape == (2, 1, 4)
    assert wide.squeeze((1, 2)).buffer is array.buffer
    with pytest.raises(ValueError, match="axis"):
        array.squeeze(0)


@pytest.mark.parametrize("dtype", [np.int32, "float64", np.uint8, np.float16])
def test_a_view_reads_the_same_bytes_as_another_dtype(array, dtype):
    view = array.view(dtype)
    assert view.buffer is array.buffer
    np.testing.assert_array_equal(view.copy_to_host(), HOST.view(dtype))


def test_a_view_of_another_width_needs_whole_aligned_elements(array):
    with pytest.raises(ValueError, match="no view"):
        array[:, :, ::2].view(np.int64)
    with pytest.raises(ValueError, match="no view"):
        array[:, :, :3].copy().view(np.int64)
    with pytest.raises(ValueError, match="no view"):
        array.reshape(-1)[1:3].view(np.int64)  # begins at byte 4
    with pytest.raises(TypeError):
        array.view(np.complex64)


def test_a_kernel_reads_a_view_of_another_dtype():
    @cuda.jit
    def copy(x, out):
        i = cuda.grid(1)
        out[i] = x[i]

    host = np.arange(1, 11, dtype=np.int8)  # 10 bytes: two int32 and a rest
    out = np.zeros(2, np.int32)
    copy[1, 2](cuda.to_device(host)[:8].view(np.int32), out)
    np.testing.assert_array_equal(out, host[:8].view(np.int32))


def test_split_gives_sections_and_a_shorter_last(array):
    parts = list(array.reshape(-1).split(10))
    assert [p.size for p in parts] == [10, 10, 4]
    assert [p.copy_to_host()[0] for p in parts] == [0, 10, 20]
    assert parts[1].buffer is array.buffer


@pytest.mark.parametrize("part", [np.s_[:], np.s_[0, 0, ::2]])
def test_split_takes_contiguous_vectors_only(array, part):
    with pytest.raises(ValueError, match="split"):
        next(array[part].split(2))


def test_bind_gives_the_same_memory(array):
    assert array.bind(cuda.stream()).buffer is array.buffer
    with pytest.raises(NotImplementedError):
        array.get_ipc_handle()
