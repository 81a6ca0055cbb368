"""Pooling against sliding windows of NumPy, and gradients against differences."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.pooling import (
    avg_pool2d,
    avg_pool2d_backward,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool2d_with_indices_backward,
)

WINDOWS = [(2, 2, 0), (3, 1, 1), (3, 2, 1), (2, 3, 0), (1, 1, 0)]


def reference(x, size, stride, padding, join, fill):
    sides = [(0, 0), (0, 0), (padding, padding), (padding, padding)]
    x = np.pad(x, sides, constant_values=fill)
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))
    return join(windows[:, :, ::stride, ::stride], axis=(4, 5))


def largest(x, *window):
    return reference(x, *window, np.max, -np.inf)


def mean(x, *window):
    return reference(x, *window, np.mean, 0)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2)])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_values(window, order, pair, close):
    a, x = pair((2, 3, 7, 8), order=order)
    close(max_pool2d(x, *window), largest(a, *window), "f4")
    close(avg_pool2d(x, *window), mean(a.astype("f8"), *window), "f4")


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_gradients(window, pair, close, slope):
    a, x = pair((2, 2, 5, 6), "float64")
    out, places = max_pool2d_with_indices(x, *window)
    g, grad = pair(out.shape, "float64")
    by_x = max_pool2d_with_indices_backward(grad, places, x.shape)
    close(by_x, slope(lambda v: largest(v, *window), a, g), "f8", 1e-7)
    by_x = avg_pool2d_backward(grad, x.shape, *window)
    close(by_x, slope(lambda v: mean(v, *window), a, g), "f8", 1e-7)


def test_indices_count_rows_and_the_first_of_equals_wins():
    x = cuda.to_device(np.float32([[[[1, 7, 7], [7, 2, np.nan]]]]))
    out, places = max_pool2d_with_indices(x, (2, 1), 1)
    np.testing.assert_array_equal(out.copy_to_host(), [[[[7, 7, np.nan]]]])
    assert places.copy_to_host().ravel().tolist() == [3, 1, 5]
    assert places.dtype == np.int64


def test_dilation_skips_neighbours():
    x = cuda.to_device(np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5))
    out = max_pool2d(x, 3, 1, 0, 2)
    assert out.item() == 24.0


def test_both_results_come_through_the_dispatcher(pair):
    _, x = pair((1, 1, 4, 4))
    out, places = library.call("max_pool2d_with_indices", x, kernel_size=2)
    assert out.shape == places.shape == (1, 1, 2, 2)


def test_an_empty_batch(close):
    x = cuda.device_array((0, 2, 4, 4), np.float32)
    out, places = max_pool2d_with_indices(x, 2)
    assert out.shape == (0, 2, 2, 2)
    assert max_pool2d_with_indices_backward(out, places, x.shape).shape == x.shape
    close(avg_pool2d_backward(out, x.shape, 2), np.zeros(x.shape))


@pytest.mark.parametrize("shape", [(2, 1, 6, 6), (1, 3, 5, 9)], ids=str)
def test_nothing_for_the_sanitizer_to_name(shape, clean, pair):
    _, x = pair(shape)

    def forth_and_back():
        out, places = max_pool2d_with_indices(x, 3, 1, 1)
        max_pool2d_with_indices_backward(out, places, x.shape)
        avg_pool2d_backward(avg_pool2d(x, 3, 2, 1), x.shape, 3, 2, 1)

    clean(forth_and_back)


def test_a_window_that_may_see_padding_only_is_refused(pair):
    _, x = pair((1, 1, 4, 4))
    for pool in (max_pool2d, avg_pool2d):
        with pytest.raises(ShapeError, match="padding"):
            pool(x, 2, 1, 2)
        with pytest.raises(ShapeError, match="window"):
            pool(x, 5)
    with pytest.raises(ShapeError, match="grad"):
        avg_pool2d_backward(x, (1, 2, 4, 4), 2)
