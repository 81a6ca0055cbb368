"""clamp against np.clip, and its gradient against differences."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.clip import clamp, clamp_backward

LIMITS = [(-1, 1), (None, 0.5), (0.5, None), (None, None), (2, -2)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_values(limits, dtype, pair, close):
    a, x = pair((5, 7), dtype, order=(1, 0))
    numbers = [n if n is None or dtype != "int32" else int(n) for n in limits]
    close(clamp(x, *numbers), np.clip(a, *numbers), dtype, 0)


def test_nan_stays_and_booleans_and_out():
    x = cuda.to_device(np.float32([np.nan, -5, 5]))
    assert clamp(x, 0, 1, out=x) is x
    np.testing.assert_array_equal(x.copy_to_host(), np.float32([np.nan, 0, 1]))
    flags = cuda.to_device(np.array([True, False]))
    assert clamp(flags).copy_to_host().tolist() == [True, False]


@pytest.mark.parametrize("limits", LIMITS[:4], ids=str)
def test_gradients(limits, pair, close, slope):
    (a, x), (g, grad) = pair((4, 5), "float64"), pair((4, 5), "float64", seed=1)
    expected = slope(lambda v: np.clip(v, *limits), a, g)
    close(clamp_backward(grad, x, *limits), expected, "f8", 1e-8)


def test_on_a_limit_the_gradient_passes():
    x, grad = (cuda.to_device(np.float32(v)) for v in ([0, 1, 2], [3, 4, 5]))
    assert clamp_backward(grad, x, 0, 1).copy_to_host().tolist() == [3, 4, 0]


def test_other_shapes_are_refused(pair):
    with pytest.raises(ShapeError):
        clamp_backward(pair((2,))[1], pair((3,))[1])


@pytest.mark.parametrize("shape", [(3,), (40, 9)], ids=str)
def test_nothing_for_the_sanitizer_to_name(shape, clean, pair):
    _, x = pair(shape)
    clean(lambda: (clamp(x, -1, 1), clamp_backward(x, x, -1, 1)))
