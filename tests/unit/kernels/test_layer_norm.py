"""Layer normalisation against NumPy, and gradients against differences."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.layer_norm import layer_norm, layer_norm_backward

SHAPES = [(3, 1), (4,), (2, 3, 7), (5, 40), (2, 300)]


def reference(x, weight, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * weight + bias


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values(shape, dtype, pair, close):
    a, x = pair(shape, dtype)
    (w, weight), (b, bias) = (pair(shape[-1:], dtype, seed=s) for s in (1, 2))
    expected = reference(*(v.astype("f8") for v in (a, w, b)))
    close(layer_norm(x, weight, bias), expected, dtype, 1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(4,), (2, 3, 7), (3, 40)], ids=str)
def test_gradients(shape, dtype, pair, close, slope):
    (a, x), (g, grad) = pair(shape, dtype), pair(shape, dtype, seed=3)
    w, weight = pair(shape[-1:], dtype, seed=1)
    a, g, w = (v.astype("f8") for v in (a, g, w))
    by_x, by_weight, by_bias = layer_norm_backward(grad, x, weight)
    rest = tuple(range(len(shape) - 1))
    most = 2e-5 if dtype == "float32" else 1e-7
    close(by_x, slope(lambda v: reference(v, w, 0), a, g), dtype, most)
    close(by_weight, slope(lambda v: reference(a, v, 0), w, g), dtype, most)
    close(by_bias, g.sum(rest), dtype, most)


def test_a_transposed_array(pair, close):
    a, x = pair((40, 50), order=(1, 0))
    one, zero = (cuda.to_device(np.full(50, v, np.float32)) for v in (1, 0))
    close(layer_norm(x, one, zero), reference(a.astype("f8"), 1, 0), None, 1e-5)


def test_integers_are_computed_in_float64(close):
    a = np.arange(14, dtype=np.uint8).reshape(2, 7) ** 2
    x, one, zero = map(cuda.to_device, (a, np.ones(7), np.zeros(7)))
    close(layer_norm(x, one, zero), reference(a.astype("f8"), 1, 0), "float64")
    slopes = np.arange(14.0).reshape(2, 7)
    by_x, _, _ = layer_norm_backward(cuda.to_device(slopes), x, one)
    same = layer_norm_backward(cuda.to_device(slopes), x.astype(np.float64), one)
    close(by_x, same[0].copy_to_host(), "float64")


def test_large_means_cancel_nothing(close):
    a = np.float32([[10_000, 10_001, 10_002, 10_003]])
    one, zero = (cuda.to_device(np.full(4, v, np.float32)) for v in (1, 0))
    expected = reference(a.astype("f8"), 1, 0)
    close(layer_norm(cuda.to_device(a), one, zero), expected, None, 1e-5)


def test_no_rows(pair):
    _, weight = pair((3,))
    x = cuda.device_array((0, 3), np.float32)
    assert layer_norm(x, weight, weight).shape == (0, 3)
    by_x, by_weight, _ = layer_norm_backward(x, x, weight)
    assert by_x.shape == (0, 3)
    assert by_weight.copy_to_host().tolist() == [0, 0, 0]


@pytest.mark.parametrize("shape", [(6, 5), (6, 70)], ids=str)
def test_nothing_for_the_sanitizer_to_name(shape, clean, pair):
    (_, x), (_, weight) = pair(shape), pair(shape[-1:])
    clean(lambda: layer_norm_backward(layer_norm(x, weight, weight), x, weight))


def test_no_float64_and_one_launch(launches, pair):
    for width in (8, 64):
        (_, x), (_, weight) = pair((4, width)), pair((width,))
        (record,) = launches(lambda x=x, w=weight: layer_norm(x, w, w))
        assert record.counts.total("fp64") == 0


def test_other_shapes_are_refused(pair):
    _, x = pair((2, 3))
    with pytest.raises(ShapeError, match="layer_norm"):
        layer_norm(x, x, x)
    with pytest.raises(ShapeError, match="differ"):
        layer_norm_backward(pair((3, 3))[1], x, pair((3,))[1])
