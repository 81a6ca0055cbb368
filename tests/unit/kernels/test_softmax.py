"""softmax, log_softmax and their gradients against NumPy in float64."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels import softmax as ops


def softmax(a, axis):
    e = np.exp(a - a.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def softmax_gradient(g, y, axis):
    return y * (g - (g * y).sum(axis, keepdims=True))


def log_softmax_gradient(g, y, axis):
    return g - np.exp(y) * g.sum(axis, keepdims=True)


CASES = [
    ((1,), (0,)),
    ((40,), (0,)),
    ((32, 10), (0, 1)),
    ((9, 65), (0, 1)),
    ((33, 40), (1, 0)),
    ((3, 4, 5), (0, 1, 2)),
    ((3, 40, 2), (2, 0, 1)),
    ((2, 3, 4, 50), (0, 2, 1, 3)),
    ((2, 600), (0, 1)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "order"), CASES, ids=str)
def test_every_axis(shape, order, dtype, pair, close):
    a, x = pair(shape, dtype, order)
    g, grad = pair(shape, dtype, seed=1)
    wide, wide_g = a.astype("f8"), g.astype("f8")
    for dim in range(-1, len(shape)):
        y = softmax(wide, dim)
        close(ops.softmax(x, dim), y, dtype)
        close(ops.log_softmax(x, dim), np.log(y), dtype, 3e-6)
        kept = cuda.to_device(np.ascontiguousarray(y, dtype))
        close(
            ops.softmax_backward(grad, kept, dim),
            softmax_gradient(wide_g, y, dim),
            dtype,
            3e-6,
        )
        kept = cuda.to_device(np.ascontiguousarray(np.log(y), dtype))
        close(
            ops.log_softmax_backward(grad, kept, dim),
            log_softmax_gradient(wide_g, np.log(y), dim),
            dtype,
            2e-5 if dtype == "float32" else 1e-12,
        )


@pytest.mark.parametrize("length", [3, 70])
def test_large_and_infinite_logits(length, close):
    a = np.full((3, length), -np.inf, np.float32)
    a[:, 1] = [1e4, -1e4, 0]
    a[:, 2] = [1e4, -2e4, -np.inf]
    x = cuda.to_device(a)
    close(ops.softmax(x), softmax(a.astype("f8"), 1))
    assert np.isneginf(ops.log_softmax(x).copy_to_host()[0, 0])


@pytest.mark.parametrize("length", [3, 70])
def test_nan_stays_in_its_row(length):
    a = np.zeros((2, length), np.float32)
    a[0, 1] = np.nan
    result = ops.softmax(cuda.to_device(a)).copy_to_host()
    assert np.isnan(result[0]).all()
    assert np.isfinite(result[1]).all()


@pytest.mark.parametrize("length", [3, 70])
def test_unsigned_logits_do_not_wrap_around(length, close):
    a = (np.arange(2 * length, dtype=np.uint8) * 7 % 31).reshape(2, length)
    x = cuda.to_device(a)
    close(ops.softmax(x), softmax(a.astype("f8"), 1), "float64")
    close(ops.log_softmax(x), np.log(softmax(a.astype("f8"), 1)), "float64")


def test_integers_and_nothing(close):
    close(ops.softmax(cuda.to_device(np.array([1, 1]))), [0.5, 0.5], "float64")
    assert ops.softmax(cuda.device_array((0, 3), np.float32)).shape == (0, 3)


def test_refusals_come_before_any_launch(launches, pair):
    _, x = pair((3, 4))

    def attempt():
        with pytest.raises(ShapeError, match="axis 2"):
            ops.softmax(x, 2)
        with pytest.raises(ShapeError, match="differ"):
            ops.softmax_backward(x, x.T)

    assert not launches(attempt)


@pytest.mark.parametrize(
    ("shape", "dim", "kernel"),
    [
        ((32, 64), 1, "softmax_rows_kernel"),
        ((32, 64), 0, "softmax_columns_kernel"),
        ((32, 10), 1, "softmax_columns_kernel"),
    ],
)
def test_the_kernel_is_chosen_by_the_row(shape, dim, kernel, launches):
    x = cuda.to_device(np.ones(shape, np.float32))
    (record,) = launches(lambda: ops.softmax(x, dim))
    assert record.kernel.name == kernel
    assert record.counts.total("fp64") == 0
    assert launches(lambda: ops.softmax(x, dim))[0].is_replayed


@pytest.mark.parametrize("shape", [(3, 5), (3, 70)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_there_is_where_all_are_minus_infinity(dtype, shape):
    a = np.full(shape, -np.inf, dtype)
    a[1, 2] = 3.0
    for host, dim in ((a, -1), (np.ascontiguousarray(a.T), 0)):
        x = cuda.to_device(host)
        zeros = ops.softmax(x, dim).copy_to_host()
        nans = ops.softmax(x, dim, of_blank=float("nan")).copy_to_host()
        whole = np.isneginf(host).all(dim)
        assert (np.moveaxis(zeros, dim, -1)[whole] == 0).all()
        assert np.isnan(np.moveaxis(nans, dim, -1)[whole]).all()
        rest = np.moveaxis(nans, dim, -1)[~whole]
        np.testing.assert_array_equal(rest, np.moveaxis(zeros, dim, -1)[~whole])
        assert rest.sum() == 1


def test_a_nan_is_not_taken_for_nothing():
    x = cuda.to_device(np.float32([[np.nan, -np.inf], [-np.inf, np.nan]]))
    assert np.isnan(ops.softmax(x).copy_to_host()).all()


def test_counts_of_softmax_are_of_float32(launches):
    x = cuda.to_device(np.ones((4, 64), np.float32))
    for view in (x, x.T):
        (record,) = launches(lambda v=view: ops.softmax(v))
        assert record.counts.total("fp64") == 0
