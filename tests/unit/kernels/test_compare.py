"""Comparisons against NumPy: arrays, scalars on either side, other dtypes."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels import compare

OPS = {
    "gt": (compare.gt, np.greater),
    "ge": (compare.ge, np.greater_equal),
    "lt": (compare.lt, np.less),
    "le": (compare.le, np.less_equal),
    "eq": (compare.eq, np.equal),
    "ne": (compare.ne, np.not_equal),
}


@pytest.fixture(params=OPS)
def op(request):
    return OPS[request.param]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_arrays(op, dtype, pair, close):
    ours, numpys = op
    a, x = pair((7, 40), dtype)
    b, y = pair((40,), dtype, seed=1)
    a, b = np.round(a), np.round(b)  # so that some are equal
    x, y = cuda.to_device(a), cuda.to_device(b)
    close(ours(x, y), numpys(a, b), "bool")
    close(ours(x.T, y.reshape(-1, 1)), numpys(a.T, b.reshape(-1, 1)), "bool")


@pytest.mark.parametrize("value", [0, 1.0, 0.5, np.float32(2)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_scalars_on_either_side(op, value, dtype, close):
    ours, numpys = op
    a = np.arange(-3, 4).astype(dtype)
    x = cuda.to_device(a)
    close(ours(x, value), numpys(a, value), "bool")
    close(ours(value, x), numpys(value, a), "bool")


def test_nan_is_equal_to_nothing(op):
    ours, numpys = op
    a = np.float32([np.nan, 1])
    x = cuda.to_device(a)
    np.testing.assert_array_equal(ours(x, x).copy_to_host(), numpys(a, a))


def test_out(op, close):
    ours, numpys = op
    a = np.float32([1, 2, 3])
    x, out = cuda.to_device(a), cuda.device_array(3, np.bool_)
    assert ours(x, 2, out=out) is out
    close(out, numpys(a, 2))
