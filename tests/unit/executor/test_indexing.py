"""Indices are checked axis by axis; a negative one wraps once; masked lanes are free."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import OutOfBoundsError
from tinytorch_gpu.settings import override


@cuda.jit
def gather(x, index, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[index[i]]


@cuda.jit
def scatter(index, out):
    i = cuda.grid(1)
    if i < index.size:
        out[index[i]] = i + 1


X = np.arange(10, dtype=np.float32) * 10


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_indices_of_any_integer_type(dtype):
    index, out = np.array([3, 0, 9], dtype), np.zeros(3, np.float32)
    gather[1, 32](X, index, out)
    assert out.tolist() == [30, 0, 90]


def test_a_bool_is_an_index():
    out = np.zeros(2, np.float32)
    gather[1, 32](X, np.array([True, False]), out)
    assert out.tolist() == [10, 0]


def test_a_negative_index_wraps_once():
    out = np.zeros(3, np.float32)
    with override(warn_negative_index=False):
        gather[1, 32](X, np.array([-1, -10, -3]), out)
    assert out.tolist() == [90, 0, 70]


@pytest.mark.parametrize("index", [-11, 10, 2**40, -(2**63), 2**63 - 1])
def test_beyond_the_wrap_is_out_of_bounds(index):
    with pytest.raises(OutOfBoundsError) as caught:
        gather[1, 32](X, np.array([0, index]), np.zeros(2, np.float32))
    assert caught.value.index == (index, index)
    assert caught.value.threads == ((1, 0, 0),)


def test_an_unsigned_index_does_not_wrap():
    with pytest.raises(OutOfBoundsError):
        gather[1, 32](X, np.array([2**64 - 1], np.uint64), np.zeros(1, np.float32))


def test_of_lanes_that_store_to_one_element_the_highest_wins():
    out = np.zeros(4, np.int32)
    scatter[3, 40](np.array([1, 2, 1, 1, 3, 2] * 20), out)
    assert out.tolist() == [0, 118, 120, 119]


@cuda.jit
def all_to_one(out):
    out[0] = cuda.grid(1)
    if cuda.threadIdx.x < 5:
        out[1] = cuda.grid(1)


def test_all_lanes_store_to_one_element():
    out = np.zeros(2, np.int32)
    all_to_one[3, 40](out)
    assert out.tolist() == [119, 84]


@cuda.jit
def unguarded_lanes_are_out(x, out):
    i = cuda.grid(1)
    if i < 3:
        out[i, i] = x[i * 1000 % 10, i] if i != 1 else x[i - 1, 0]


def test_masked_lanes_are_never_checked():
    x, out = np.arange(6.0).reshape(2, 3), np.zeros((3, 3))
    unguarded_lanes_are_out[1, 64](x, out)
    assert np.diag(out).tolist() == [0, 0, 2]


@cuda.jit
def copy_2d(x, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = x[i, j]


VIEWS = {
    "plain": lambda a: a,
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::-1],
    "every second": lambda a: a[::2, 1::3],
    "a corner": lambda a: a[3:, 2:5],
    "a repeated row": lambda a: a[:1].broadcast_to((6, 8)),
    "a repeated column": lambda a: a[:, 2:3].broadcast_to((7, 4)),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_strided_views_are_read(view):
    x = view(cuda.to_device(np.arange(56, dtype=np.int32).reshape(7, 8)))
    out = np.zeros(x.shape, np.int32)
    copy_2d[(1, 1), (8, 8)](x, out)
    assert (out == x.copy_to_host()).all()


@pytest.mark.parametrize("name", ["plain", "transposed", "reversed", "every second"])
def test_strided_views_are_written(name):
    base = cuda.to_device(np.full((7, 8), -1, np.int32))
    out = VIEWS[name](base)
    x = np.arange(out.size, dtype=np.int32).reshape(out.shape)
    copy_2d[(1, 1), (8, 8)](x, out)
    expected = np.full((7, 8), -1, np.int32)
    VIEWS[name](expected)[...] = x
    assert (base.copy_to_host() == expected).all()


def test_a_fortran_array_keeps_its_order():
    x = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    out = np.zeros((3, 4), order="F")
    copy_2d[(1, 1), (4, 4)](x, out)
    assert (out == x).all()


@cuda.jit
def attributes(x, out):
    out[0] = x.size
    out[1] = x.ndim
    out[2] = x.shape[0] * 100 + x.shape[1]
    out[3] = x.strides[0] * 100 + x.strides[1]
    out[4] = x.itemsize
    out[5] = len(x) + len(x[0])
    out[6] = x[1].size
    m, n = x.shape
    out[7] = m - n


def test_attributes_are_what_the_host_sees():
    x, out = np.zeros((3, 5), np.float32), np.zeros(8, np.int64)
    attributes[1, 1](x, out)
    assert out.tolist() == [15, 2, 305, 2004, 4, 8, 5, -2]


@cuda.jit
def zero_axes(x, out):
    out[0] = x.ndim + x.size


def test_an_array_without_axes_is_taken():
    out = np.zeros(1, np.int64)
    zero_axes[1, 1](np.array(3.0), out)
    assert out[0] == 1


def test_an_index_that_overflows_the_offset_is_caught():
    with pytest.raises(OutOfBoundsError):
        gather[1, 32](X[:2], np.array([2**62]), np.zeros(1, np.float32))
