"""conv2d and its gradients against sums over windows in float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError, UnsupportedError
from tinytorch_gpu.kernels.conv2d import conv2d, conv2d_backward
from tinytorch_gpu.kernels.conv2d_kernels import VERSIONS

NAMES = [version.name for version in VERSIONS]
WINDOWS = [
    ((1, 1), (0, 0), (1, 1)),
    ((2, 1), (1, 2), (1, 2)),
    ((3, 2), (2, 0), (2, 1)),
]


def reference(x, weight, stride=(1, 1), padding=(0, 0), dilation=(1, 1)):
    """Sum shifted images: one shift for each element of the window."""
    sides = [(p, p) for p in padding]
    x = np.pad(x, [(0, 0), (0, 0), *sides])
    rows, columns = (
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(
            x.shape[2:], weight.shape[2:], stride, dilation, strict=True
        )
    )
    out = np.zeros((len(x), len(weight), rows, columns))
    for i, j in np.ndindex(weight.shape[2:]):
        top, left = i * dilation[0], j * dilation[1]
        part = x[:, :, top :: stride[0], left :: stride[1]][:, :, :rows, :columns]
        out += np.einsum("ncyx,oc->noyx", part, weight[:, :, i, j])
    return out


@pytest.mark.parametrize("version", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_values_and_gradients(window, dtype, version, pair, close, slope):
    a, x = pair((2, 3, 7, 6), dtype)
    w, weight = pair((4, 3, 3, 2), dtype, order=(1, 2, 0, 3))
    b, bias = pair((4,), dtype)
    a, w = a.astype("f8"), w.astype("f8")
    expected = reference(a, w, *window)
    tolerance = 1e-5 if dtype == "float32" else 1e-7  # of the differences
    out = conv2d(x, weight, bias, *window, version=version)
    close(out, expected + b.reshape(-1, 1, 1), dtype, 1e-5)
    g, grad = pair(expected.shape, dtype, seed=1)
    by = conv2d_backward(grad, x, weight, *window, version=version)
    g = g.astype("f8")
    close(by[0], slope(lambda v: reference(v, w, *window), a, g), dtype, tolerance)
    close(by[1], slope(lambda v: reference(a, v, *window), w, g), dtype, tolerance)
    close(by[2], g.sum((0, 2, 3)), dtype, 1e-5)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_shape_gives_what_sums_give(pair, close, data):
    def draw(low, high):
        return data.draw(st.integers(low, high))

    batch, channels, filters = draw(0, 2), draw(1, 3), draw(1, 3)
    size = (draw(1, 3), draw(1, 3))
    window = [(draw(1, 3), draw(1, 3)), (draw(0, 2), draw(0, 2)), (draw(1, 2), 1)]
    image = (draw(5, 8), draw(3, 8))
    a, x = pair((batch, channels, *image), order=data.draw(st.permutations(range(4))))
    w, weight = pair((filters, channels, *size))
    expected = reference(a.astype("f8"), w.astype("f8"), *window)
    for version in NAMES:
        close(conv2d(x, weight, None, *window, version), expected, "f4", 1e-4)
    grad = cuda.to_device(np.ones(expected.shape, np.float32))
    results = [conv2d_backward(grad, x, weight, *window, v) for v in NAMES]
    for first, second in zip(*results, strict=True):
        close(first, second.copy_to_host(), "f4", 1e-4)


@pytest.mark.parametrize("version", NAMES)
def test_of_integers_the_result_is_float64(version, close):
    x = cuda.to_device(np.full((1, 1, 2, 2), 200, np.uint8))
    weight = cuda.to_device(np.full((1, 1, 2, 2), 3, np.uint8))
    close(conv2d(x, weight, version=version), [[[[2400.0]]]], "float64")


def test_no_channels_sum_to_nothing(close):
    x = cuda.device_array((2, 0, 4, 4), np.float32)
    weight = cuda.device_array((3, 0, 2, 2), np.float32)
    for version in NAMES:
        close(conv2d(x, weight, version=version), np.zeros((2, 3, 3, 3)))


@pytest.mark.parametrize("version", NAMES)
@pytest.mark.parametrize("shape", [(2, 3, 6, 5), (1, 1, 9, 9)], ids=str)
def test_nothing_for_the_sanitizer_to_name(shape, version, clean, pair):
    _, x = pair(shape)
    _, weight = pair((2, shape[1], 3, 3))

    def forth_and_back():
        out = conv2d(x, weight, None, 2, 1, version=version)
        conv2d_backward(out, x, weight, 2, 1, version=version)

    clean(forth_and_back)


@pytest.mark.parametrize("version", VERSIONS, ids=NAMES)
def test_the_table_of_versions_tells_what_is_launched_and_loaded(
    version, launches, pair
):
    (_, x), (_, weight) = pair((1, 1, 18, 18)), pair((8, 1, 3, 3))
    first, *_ = launches(lambda: conv2d(x, weight, version=version.name))
    assert first.kernel.name == version.kernel.__name__
    loads = [a.requests for a in first.counts.global_accesses if a.kind == "load"]
    assert sum(loads) == version.global_loads


def test_a_shape_that_does_not_fit_is_refused(pair):
    _, x = pair((1, 3, 5, 5))
    for shape in [(2, 4, 3, 3), (3, 3), (2, 3, 6, 1)]:
        with pytest.raises(ShapeError, match="conv2d"):
            conv2d(x, pair(shape)[1])
    _, weight = pair((2, 3, 3, 3))
    with pytest.raises(ShapeError, match="grad has shape"):
        conv2d_backward(x, x, weight)
    with pytest.raises(UnsupportedError, match="version"):
        conv2d(x, weight, version="fast")
    with pytest.raises(UnsupportedError, match="version"):
        conv2d_backward(pair((1, 2, 3, 3))[1], x, weight, version="fast")


def test_it_is_an_op(pair):
    _, x = pair((1, 1, 4, 4))
    assert library.call("conv2d", x, pair((2, 1, 3, 3))[1], padding=1).shape[1] == 2


@pytest.mark.parametrize("version", NAMES)
def test_addresses_do_not_depend_on_data(version, launches, pair):
    (_, x), (_, weight) = pair((2, 3, 6, 6)), pair((4, 3, 3, 3))

    def forth_and_back():
        out = conv2d(x, weight, padding=1, version=version)
        conv2d_backward(out, x, weight, padding=1, version=version)

    launches(forth_and_back)
    assert all(record.is_replayed for record in launches(forth_and_back))
