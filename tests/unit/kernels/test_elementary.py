"""sin, cos, log1p, expm1 and reciprocal against NumPy."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels import elementary

REAL = {
    "sin": (elementary.sin, np.sin),
    "cos": (elementary.cos, np.cos),
    "log1p": (elementary.log1p, np.log1p),
    "expm1": (elementary.expm1, np.expm1),
}
OPS = {**REAL, "reciprocal": (elementary.reciprocal, np.reciprocal)}
TINY = [1e-30, -1e-30, 1e-9, 0.0, -0.0]


@pytest.fixture(params=OPS)
def op(request):
    return OPS[request.param]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1000,), (17, 33), (3, 1, 5), (4, 0)], ids=str)
def test_shapes(op, shape, dtype, pair, close):
    ours, numpys = op
    a, x = pair(shape, dtype, low=-0.9)
    close(ours(x), numpys(a.astype("f8")), dtype, 1e-6 if dtype == "float32" else None)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_numbers_are_numpys(op, dtype):
    ours, numpys = op
    a = np.array([*TINY, np.inf, -np.inf, np.nan, -1.0, -2.0, 100.0], dtype)
    with np.errstate(all="ignore"):
        expected = numpys(a)
    found = ours(cuda.to_device(a)).copy_to_host()
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_views_and_in_place(op, pair, close):
    ours, numpys = op
    a, x = pair((20, 30), order=(1, 0), low=0.1)
    close(ours(x[::2, 1:]), numpys(a[::2, 1:].astype("f8")), tolerance=2e-6)
    assert ours(x, out=x) is x
    close(x, numpys(a.astype("f8")), tolerance=2e-6)


@pytest.mark.parametrize("op", REAL)
def test_integers_become_float64(op, close):
    ours, numpys = REAL[op]
    a = np.arange(5, dtype=np.int32)
    close(ours(cuda.to_device(a)), numpys(a), "float64")


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "bool"])
def test_reciprocal_keeps_the_dtype(dtype, close):
    a = np.array([1, 2, 7, -1 if dtype[0] == "i" else 1]).astype(dtype)
    expected = np.reciprocal(a)
    close(elementary.reciprocal(cuda.to_device(a)), expected, expected.dtype)


def test_contiguous_requests_need_four_sectors(op, launches, pair):
    ours, _ = op
    _, x = pair((64, 32), low=0.3)
    (record,) = launches(lambda: ours(x))
    assert {a.sectors_per_request for a in record.counts.accesses} == {4.0}
    assert record.counts.total("fp64") == 0
