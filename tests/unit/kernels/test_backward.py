"""Gradients of activations against formulas in float64, and against differences."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels import backward, unary

SLOPE = float(unary.GELU_SLOPE)


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


# name: op, forward step, what it keeps, the function in NumPy
OPS = {
    "relu": (backward.relu_backward, unary.relu, "x", lambda a: np.maximum(a, 0)),
    "gelu": (backward.gelu_backward, unary.gelu, "x", lambda a: a * sigmoid(SLOPE * a)),
    "sigmoid": (backward.sigmoid_backward, unary.sigmoid, "output", sigmoid),
    "tanh": (backward.tanh_backward, unary.tanh, "output", np.tanh),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (5,), (17, 33), (0, 3)], ids=str)
@pytest.mark.parametrize("op", OPS)
def test_gradients(op, shape, dtype, pair, close):
    ours, forward, kept, function = OPS[op]
    a, x = pair(shape, dtype)
    g, grad = pair(shape, dtype, seed=1)
    step = 1e-6
    wide = a.astype("f8")
    slope = (function(wide + step) - function(wide - step)) / (2 * step)
    result = ours(grad, x if kept == "x" else forward(x))
    close(result, g.astype("f8") * slope, dtype, 2e-6 if dtype == "float32" else 1e-8)


@pytest.mark.parametrize("op", OPS)
def test_transposed_gradient(op, pair, close):
    ours, *_ = OPS[op]
    _, x = pair((8, 9), low=0.1, high=0.9)
    g, grad = pair((8, 9), order=(1, 0), seed=1)
    same = cuda.to_device(np.ascontiguousarray(g))
    close(ours(grad, x), ours(same, x).copy_to_host())


@pytest.mark.parametrize("op", OPS)
def test_shapes_are_equal(op, launches, pair):
    ours, *_ = OPS[op]
    (_, x), (_, grad) = pair((8, 9)), pair((9,))

    def attempt():
        with pytest.raises(ShapeError, match=r"\(9,\) and \(8, 9\) differ"):
            ours(grad, x)

    assert not launches(attempt)


def test_relu_at_zero(close):
    x = cuda.to_device(np.float32([-1, 0, 1]))
    close(backward.relu_backward(x, x), [0, 0, 1])
