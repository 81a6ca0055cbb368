"""copy and fill: contiguous results, casts as a GPU makes them, broadcast into out."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.copying import copy, fill, in_reals


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_copies_are_contiguous(order, pair, close):
    a, x = pair((3, 4, 5), order=order)
    made = copy(x)
    assert made.is_c_contiguous()
    assert made.buffer is not x.buffer
    close(made, a, "float32")


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool", "float16"])
def test_casts(dtype, close):
    a = np.float32([0, 1.5, -2.5, 100])
    close(copy(cuda.to_device(a), dtype), a.astype(dtype), dtype)


def test_broadcast_into_out(close):
    out = cuda.device_array((3, 4), np.float64)
    row = np.arange(4, dtype=np.float32)
    assert copy(cuda.to_device(row), out=out) is out
    close(out, np.broadcast_to(row, (3, 4)), "float64")
    copy(cuda.to_device(np.float32(7)), out=out[1:, ::2])
    assert out.copy_to_host()[1].tolist() == [7, 1, 7, 3]


def test_overlapping_copy(close):
    x = cuda.to_device(np.arange(600, dtype=np.float32))
    copy(x[:-1], out=x[1:])
    close(x, np.r_[0, np.arange(599)])


def test_reals_of_integers(close):
    whole, real = (cuda.to_device(np.arange(3, dtype=d)) for d in ("uint8", "float32"))
    for made in in_reals(whole, whole):
        close(made, [0, 1, 2], "float64")
    kept = in_reals(whole, real)
    assert kept[0] is whole
    assert kept[1] is real


@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (5, 4)])
def test_what_does_not_fit_is_refused(shape, launches):
    x = cuda.to_device(np.zeros(shape, np.float32))
    out = cuda.to_device(np.ones((3, 4), np.float32))

    def attempt():
        with pytest.raises(ShapeError, match="does not broadcast to"):
            copy(x, out=out)

    assert not launches(attempt)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool"])
def test_fill(dtype, close):
    out = cuda.device_array((3, 300), dtype)
    assert fill(out, 1) is out
    close(out, np.ones((3, 300)), dtype)
    fill(out[:, ::2], 0)
    assert out.copy_to_host().sum() == 450


def test_fill_of_nothing_and_of_one(close):
    fill(cuda.device_array((0, 3), np.float32), 1)
    close(fill(cuda.device_array((), np.float32), 2.5), 2.5)
