"""argmax and argmin against NumPy: ties, NaN, any axis, short and long rows."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.argreduce import argmax, argmin

SHAPES = [(1,), (3, 5), (4, 40), (2, 700), (3, 40, 4)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_places(shape, dtype, close):
    host = np.random.default_rng(0).integers(0, 9, shape).astype(dtype)
    x = cuda.to_device(host)
    for axis in (None, *range(-1, len(shape))):
        for keepdims in (False, True):
            for op, numpy_op in ((argmax, np.argmax), (argmin, np.argmin)):
                expected = numpy_op(host, axis, keepdims=keepdims)
                close(op(x, axis, keepdims), expected, "i8")
                expected = numpy_op(host.T, axis, keepdims=keepdims)
                close(op(x.T, axis, keepdims), expected, "i8")


@pytest.mark.parametrize("width", [8, 300])
@pytest.mark.parametrize("places", [[3], [0, 5], [7, 3, 2]])
def test_the_first_nan_wins(places, width, close):
    host = np.random.default_rng(0).normal(size=(2, width)).astype("f4")
    host[:, places] = np.nan
    host[1] = np.nan
    x = cuda.to_device(host)
    close(argmax(x, 1), np.argmax(host, 1))
    close(argmin(x, 1), np.argmin(host, 1))


def test_infinities_tie_with_nothing():
    host = np.float32([[-np.inf] * 40, [np.inf] * 40])
    assert argmax(cuda.to_device(host), 1).copy_to_host().tolist() == [0, 0]


def test_nothing_to_choose_from_is_refused():
    x = cuda.device_array((3, 0), np.float32)
    with pytest.raises(ShapeError, match="argmax"):
        argmax(x, 1)
    with pytest.raises(ShapeError, match="argmin"):
        argmin(x)
    with pytest.raises(ShapeError, match="axis"):
        argmax(x, 2)


@pytest.mark.parametrize("shape", [(3, 5), (4, 70)], ids=str)
def test_nothing_for_the_sanitizer_to_name(shape, clean, pair):
    _, x = pair(shape)
    clean(lambda: (argmax(x, 1), argmin(x, 0), argmax(x)))
