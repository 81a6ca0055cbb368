"""Running sums and places against NumPy."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels.scan import cumsum, flatnonzero


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 33), (2, 0), (2, 3, 4)], ids=str)
def test_running_sums(shape, dtype, close):
    host = np.random.default_rng(0).integers(0, 5, shape).astype(dtype)
    for axis in range(-1, len(shape)):
        expected = np.cumsum(host, axis, "f8" if dtype == "float64" else "i8")
        close(cumsum(cuda.to_device(host), axis), expected, expected.dtype)
        close(cumsum(cuda.to_device(host).T, axis), np.cumsum(host.T, axis))


def test_a_running_sum_of_n_takes_log_n_launches_and_a_copy(launches, pair):
    _, x = pair((33,))
    assert len(launches(lambda: cumsum(x))) == 1 + 6


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("shape", [(1,), (300,), (7, 9), (0,)], ids=str)
def test_places(shape, share, close):
    host = np.random.default_rng(0).random(shape) < share
    close(flatnonzero(cuda.to_device(host)), np.flatnonzero(host), "i8")
    close(flatnonzero(cuda.to_device(host).T), np.flatnonzero(host.T), "i8")


@pytest.mark.parametrize("shape", [(5,), (70, 3)], ids=str)
def test_nothing_for_the_sanitizer_to_name(shape, clean, pair):
    _, x = pair(shape)
    clean(lambda: (cumsum(x), flatnonzero(x)))
