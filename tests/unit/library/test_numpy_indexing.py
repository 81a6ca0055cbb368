"""Fancy indexing on device arrays is NumPy's: reads, writes, np.add.at, np.take."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.errors import (
    DtypeError,
    OutOfBoundsError,
    ShapeError,
    UnsupportedError,
)
from tinytorch_gpu.trace import CopyRecord

A = np.random.default_rng(0).normal(size=(4, 5, 6)).astype(np.float32)
I = np.array([[1, -1, 0], [3, 2, -4]])
J = np.array([0, 4, 1])
ROWS = A[:, 0, 0] > 0
ALL = slice(None)

KEYS = {
    "i": I,
    "i,": (I,),
    ":,i": (ALL, I),
    "i,1:3": (I, slice(1, 3)),
    "...,i": (..., I),
    "i,...,i": (I, ..., I),
    "0,:,j": (0, ALL, J),
    "i,i": (I, I),
    "i,i,i": (I, I, I),
    ":,0,i": (ALL, 0, I),
    "i,0": (I, 0),
    "row mask": ROWS,
    "row mask,0": (ROWS, 0),
    ":,list": (ALL, [0, 1, 0, 1, 1]),
    "mask": A > 0,
    "mask of two axes": A[:, :, 0] > 0,
    "None,i": (None, I),
    "i,None,j": (I, None, J),
    "list": [0, 2],
    "reversed,i": (slice(None, None, -1), I),
    "empty list": [],
    "no mask": A > 99,
}


def on_device(key):
    if isinstance(key, tuple):
        return tuple(on_device(part) for part in key)
    return cuda.to_device(key) if isinstance(key, np.ndarray) else key


@pytest.fixture(params=[False, True], ids=["host index", "device index"])
def key_of(request):
    return on_device if request.param else lambda key: key


def equal(x, expected):
    host = x.copy_to_host()
    assert host.dtype == expected.dtype
    np.testing.assert_allclose(host, expected, rtol=1e-6, atol=1e-6)
    assert host.shape == expected.shape


@pytest.mark.parametrize("name", KEYS)
def test_reads(name, key_of):
    key = KEYS[name]
    equal(cuda.to_device(A)[key_of(key)], A[key])
    equal(cuda.to_device(A.T.copy()).T[key_of(key)], A[key])


@pytest.mark.parametrize("name", KEYS)
def test_writes_and_additions(name, key_of):
    key = KEYS[name]
    x, host = cuda.to_device(A), A.copy()
    x[key_of(key)] = 7
    host[key] = 7
    equal(x, host)
    values = np.random.default_rng(1).normal(size=host[key].shape).astype("f4")
    np.add.at(x, key_of(key), cuda.to_device(values))
    np.add.at(host, key, values)
    equal(x, host)


@pytest.mark.parametrize("values", ["host", "device"])
def test_writes_of_arrays(values):
    for key in ([3, 0], (ALL, J), A > 0, A[:, :, 0] > 0, (slice(1, 3), J)):
        x, host = cuda.to_device(A), A.copy()
        new = np.random.default_rng(1).normal(size=A[key].shape).astype("f4")
        key_there = key if not isinstance(key, np.ndarray) else cuda.to_device(key)
        given_values = new if values == "host" else cuda.to_device(new)
        x[key_there] = given_values
        host[key] = new
        equal(x, host)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_mix_of_keys(data):
    part = st.one_of(
        st.integers(-4, 3),
        st.slices(4),
        st.none(),
        st.lists(st.integers(-4, 3), min_size=2, max_size=2).map(np.array),
    )
    host = np.arange(4**3, dtype=np.float32).reshape(4, 4, 4)
    key = tuple(data.draw(st.lists(part, max_size=3)))
    key += (np.array([[0], [3]]),) if sum(p is not None for p in key) < 3 else ()
    x = cuda.to_device(host)
    if any(isinstance(p, np.ndarray) for p in key):
        equal(x[key], host[key])
        x[key] = -1
        host[key] = -1
        equal(x, host)


def test_additions_to_slices():
    x, host = cuda.to_device(A), A.copy()
    for key in (0, (ALL, slice(1, 3)), (..., None)):
        np.add.at(x, key, 2.5)
        np.add.at(host, key, np.float32(2.5))
    equal(x, host)


def test_take():
    x = cuda.to_device(A)
    equal(np.take(x, I, axis=1), np.take(A, I, axis=1))
    equal(np.take(x, [0, 100, -1]), np.take(A, [0, 100, -1]))


def test_an_index_array_of_the_host_is_a_recorded_copy():
    x = cuda.to_device(A)
    with profiler.profile() as prof:
        x[:, J]
    reasons = [r.reason for r in prof.events() if isinstance(r, CopyRecord)]
    assert reasons == ["index array"]


def test_a_number_for_a_mask_copies_no_count():
    x = cuda.to_device(A)
    mask = x > 0
    with profiler.profile() as prof:
        x[mask] = 0
    assert not [r for r in prof.events() if isinstance(r, CopyRecord)]


def test_what_is_refused():
    x = cuda.to_device(A)
    with pytest.raises(DtypeError, match="float64"):
        x[np.array([0.5])]
    with pytest.raises(ShapeError, match="mask"):
        x[np.array([True, False])]
    with pytest.raises(ShapeError, match="mask"):
        x[:, np.ones(4, bool)]
    with pytest.raises(ShapeError, match="mask"):
        x[np.ones((5, 4), bool)] = 0
    with pytest.raises(ShapeError, match="4 indices"):
        x[J, 0, 0, 0]
    with pytest.raises(UnsupportedError, match="beside other indices"):
        x[A[:, :, 0] > 0, 0]
    with pytest.raises(UnsupportedError, match="follow one another"):
        x.T[(A > 0).T] = np.ones((A > 0).sum(), np.float32)
    with pytest.raises(OutOfBoundsError):
        x[[4]]
