"""Unary ops against NumPy in float64: shapes, strides, dtypes, extremes, `out`."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels import unary
from tinytorch_gpu.kernels.threads import neg


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


OPS = {
    "neg": (neg, np.negative),
    "exp": (unary.exp, np.exp),
    "log": (unary.log, np.log),
    "sqrt": (unary.sqrt, np.sqrt),
    "abs": (unary.absolute, np.abs),
    "square": (unary.square, np.square),
    "relu": (unary.relu, lambda a: np.maximum(a, 0)),
    "sigmoid": (unary.sigmoid, sigmoid),
    "tanh": (unary.tanh, np.tanh),
    "gelu": (unary.gelu, lambda a: a * sigmoid(float(unary.GELU_SLOPE) * a)),
}
SHAPES = [(), (1,), (7,), (1000,), (17, 33), (3, 1, 5), (0,), (4, 0)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("op", OPS)
def test_shapes(op, shape, dtype, pair, close):
    ours, numpys = OPS[op]
    a, x = pair(shape, dtype, low=0.1 if op in ("log", "sqrt") else -3.0)
    close(ours(x), numpys(a.astype("f8")), dtype)


@pytest.mark.parametrize("op", OPS)
def test_views_and_in_place(op, pair, close):
    ours, numpys = OPS[op]
    a, x = pair((20, 30), order=(1, 0), low=0.1)
    close(ours(x[::2, 1:]), numpys(a[::2, 1:].astype("f8")))
    assert ours(x, out=x) is x
    close(x, numpys(a.astype("f8")))


@pytest.mark.parametrize("op", ["exp", "log", "sqrt", "sigmoid", "tanh", "gelu"])
def test_integers_become_float64(op, pair, close):
    ours, numpys = OPS[op]
    a, x = pair((4, 5), "int64", low=1, high=5)
    close(ours(x), numpys(a.astype("f8")), "float64", 1e-7 if op == "gelu" else None)


@pytest.mark.parametrize("op", ["neg", "abs", "square", "relu"])
def test_integers_stay_integers(op, pair, close):
    ours, numpys = OPS[op]
    a, x = pair((4, 5), "int32")
    close(ours(x), numpys(a), "int32")


def test_sigmoid_and_gelu_far_out(close):
    a = np.float32([-1e4, -200, -90, -20, 0, 20, 200, 1e4])
    x = cuda.to_device(a)
    close(unary.sigmoid(x), [0, 0, 0, sigmoid(-20.0), 0.5, 1, 1, 1])
    close(unary.gelu(x), np.maximum(a, 0), tolerance=1e-6)


def test_relu_keeps_nan():
    x = cuda.to_device(np.float32([np.nan, -1, 2]))
    np.testing.assert_array_equal(unary.relu(x).copy_to_host(), [np.nan, 0, 2])


def test_logarithm_of_zero_and_below():
    x = cuda.to_device(np.float32([0, -1]))
    np.testing.assert_array_equal(unary.log(x).copy_to_host(), [-np.inf, np.nan])


def test_isfinite_and_logical_not(close):
    a = np.float32([0, 1, np.nan, np.inf, -np.inf])
    x = cuda.to_device(a)
    close(unary.isfinite(x), np.isfinite(a), "bool")
    close(unary.logical_not(x), np.logical_not(a), "bool")
    close(unary.logical_not(unary.isfinite(x)), ~np.isfinite(a), "bool")


@pytest.mark.parametrize("op", OPS)
def test_contiguous_requests_need_four_sectors(op, launches, pair):
    ours, _ = OPS[op]
    _, x = pair((64, 32), low=0.3)
    (record,) = launches(lambda: ours(x))
    assert {a.sectors_per_request for a in record.counts.accesses} == {4.0}
    assert record.counts.total("fp64") == 0


def test_isnan(close):
    host = np.float32([np.nan, np.inf, 0])
    close(unary.isnan(cuda.to_device(host)), np.isnan(host), "bool")


def test_gelu_of_minus_infinity_is_its_limit_or_what_the_formula_gives(launches):
    x = cuda.to_device(np.float32([-np.inf, np.inf, -1e30, np.nan, 1.0]))
    limit = unary.gelu(x).copy_to_host()
    formula = unary.gelu(x, at_minus_inf=float("nan")).copy_to_host()
    assert limit[0] == 0
    assert np.isnan(formula[0])
    np.testing.assert_array_equal(limit[1:], formula[1:])
    (record,) = launches(lambda: unary.gelu(x))
    assert record.counts.total("fp64") == 0
