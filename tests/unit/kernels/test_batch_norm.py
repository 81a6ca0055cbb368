"""Batch normalisation against NumPy, and gradients against differences."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.batch_norm import (
    batch_norm,
    batch_norm_backward,
    batch_statistics,
)

SHAPES = [(4, 3), (3, 4, 3, 2), (2, 1, 5)]


def by_channel(v, ndim):
    return v.reshape(-1, *[1] * (ndim - 2))


def statistics(x):
    axes = tuple(i for i in range(x.ndim) if i != 1)
    return x.mean(axes), x.var(axes)


def normalised(x, weight, bias, mean, var, eps=1e-5):
    weight, bias, mean, var = (by_channel(v, x.ndim) for v in (weight, bias, mean, var))
    return (x - mean) / np.sqrt(var + eps) * weight + bias


@pytest.fixture
def operands(pair):
    def make(shape, dtype):
        channels = shape[1:2]
        arrays = [pair(shape, dtype, seed=s) for s in (0, 1)]
        arrays += [pair(channels, dtype, seed=s) for s in (2, 3, 4)]
        arrays.append(pair(channels, dtype, seed=5, low=1, high=2))
        hosts, devices = zip(*arrays, strict=True)
        return [h.astype("f8") for h in hosts], devices

    return make


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_training(shape, dtype, operands, close, slope):
    (a, g, w, b, *_), (x, grad, weight, bias, *_) = operands(shape, dtype)
    most = 3e-5 if dtype == "float32" else 1e-6
    mean, var = batch_statistics(x)
    close(mean, statistics(a)[0], dtype, 1e-5)
    close(var, statistics(a)[1], dtype, 1e-5)
    expected = normalised(a, w, b, *statistics(a))
    close(batch_norm(x, weight, bias), expected, dtype, 2e-5)
    by_x, by_weight, by_bias = batch_norm_backward(grad, x, weight, mean, var)
    rest = tuple(i for i in range(a.ndim) if i != 1)
    close(by_x, slope(lambda v: normalised(v, w, b, *statistics(v)), a, g), dtype, most)
    hat = normalised(a, np.ones_like(w), np.zeros_like(w), *statistics(a))
    close(by_weight, (g * hat).sum(rest), dtype, most)
    close(by_bias, g.sum(rest), dtype, most)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_evaluation(shape, operands, close):
    (a, g, w, b, m, v), (x, grad, weight, bias, mean, var) = operands(shape, "float64")
    close(batch_norm(x, weight, bias, mean, var), normalised(a, w, b, m, v))
    by_x, *_ = batch_norm_backward(grad, x, weight, mean, var, training=False)
    close(by_x, g * by_channel(w / np.sqrt(v + 1e-5), a.ndim))


@pytest.mark.parametrize("shape", [(6, 3), (2, 4, 5, 5)], ids=str)
def test_nothing_for_the_sanitizer_to_name(shape, clean, operands):
    _, (x, grad, weight, bias, *_) = operands(shape, "float32")
    clean(lambda: batch_norm(x, weight, bias))
    clean(lambda: batch_norm_backward(grad, x, weight))


def test_an_empty_batch(operands):
    weight = operands((1, 3), "float32")[1][2]
    x = cuda.device_array((0, 3), np.float32)
    assert batch_norm(x, weight, weight).shape == (0, 3)


def test_other_shapes_are_refused(pair):
    _, x = pair((2, 3))
    with pytest.raises(ShapeError, match="batch_norm"):
        batch_norm(x, pair((2,))[1], pair((2,))[1])
    with pytest.raises(ShapeError, match="channels are the second"):
        batch_norm(pair((3,))[1], x, x)
