"""logaddexp against NumPy: far apart, equal, infinite, integers, scalars."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels.logaddexp import logaddexp

VALUES = [0.0, 1.0, -1.0, 88.0, 1000.0, -1000.0, 1e30, 1e-30, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_pair(dtype, close):
    a, b = np.meshgrid(np.array(VALUES, dtype), np.array(VALUES, dtype))
    x, y = (cuda.to_device(np.ascontiguousarray(grid)) for grid in (a, b))
    with np.errstate(invalid="ignore"):
        close(logaddexp(x, y), np.logaddexp(a, b), dtype)


@pytest.mark.parametrize("value", [0, 2.5, -np.inf])
def test_scalars_on_either_side(value, pair, close):
    a, x = pair((7, 30), low=-50, high=50)
    expected = np.logaddexp(a.astype("f8"), value)
    close(logaddexp(x, value), expected, "float32")
    close(logaddexp(value, x), expected, "float32")


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_integers(dtype, close):
    a, b = np.array([1, 2, 200], "i8").astype(dtype), np.array([3, 2, 1], dtype)
    x, y = cuda.to_device(a), cuda.to_device(b)
    wide = np.logaddexp(a.astype("f8"), b.astype("f8"))
    close(logaddexp(x, y), wide, "float64")
    close(logaddexp(x, 1.5), np.logaddexp(a.astype("f8"), 1.5), "float32")


def test_broadcast_views_and_out(pair, close):
    (a, x), (b, y) = pair((20, 30), order=(1, 0)), pair((30,), seed=1)
    close(logaddexp(x[::2], y), np.logaddexp(a[::2].astype("f8"), b))
    assert logaddexp(x, y, out=x) is x
    close(x, np.logaddexp(a.astype("f8"), b))


def test_no_float64_arithmetic_on_float32(launches, pair):
    (_, x), (_, y) = pair((64, 32)), pair((64, 32), seed=1)
    (record,) = launches(lambda: logaddexp(x, y))
    assert record.counts.total("fp64") == 0
