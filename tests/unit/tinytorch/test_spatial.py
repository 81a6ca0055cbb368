"""Convolution, pooling and batch normalisation: by hand, and by differences."""

import numpy as np
import pytest

from tinytorch_gpu.tinytorch.spatial import (
    AvgPool2d,
    AvgPool2dFunction,
    BatchNorm2d,
    BatchNorm2dFunction,
    Conv2d,
    Conv2dFunction,
    Flatten,
    MaxPool2d,
    MaxPool2dFunction,
)
from tinytorch_gpu.tinytorch.tensor import Tensor

RNG = np.random.default_rng(5)
IMAGES = RNG.permutation(2 * 2 * 5 * 6).reshape(2, 2, 5, 6) / 60.0  # no two are equal
WEIGHT = RNG.normal(size=(3, 2, 3, 2))
BIAS = RNG.normal(size=3)
RAMP = np.arange(16.0).reshape(1, 1, 4, 4)


def sliding_sum(x, weight, bias, stride, padding):
    """The definition of a convolution: a sum over each place's window."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    (down, right), (height, width) = stride, weight.shape[2:]
    rows = (x.shape[2] - height) // down + 1
    columns = (x.shape[3] - width) // right + 1
    out = np.empty((x.shape[0], weight.shape[0], rows, columns))
    for image, channel, i, j in np.ndindex(out.shape):
        top, left = i * down, j * right
        window = x[image, :, top : top + height, left : left + width]
        out[image, channel, i, j] = (window * weight[channel]).sum() + bias[channel]
    return out


@pytest.mark.parametrize(
    ("stride", "padding"), [((1, 1), 0), ((2, 1), 0), ((1, 1), 1), ((2, 3), 2)]
)
def test_convolution_is_a_sum_over_each_window(stride, padding, check_gradients):
    layer = Conv2d(2, 3, (3, 2), stride, padding)
    got = Conv2dFunction(layer=layer).forward(IMAGES, WEIGHT, BIAS)
    expected = sliding_sum(IMAGES, WEIGHT, BIAS, stride, padding)
    np.testing.assert_allclose(got, expected, rtol=1e-12, strict=True)
    check_gradients(Conv2dFunction, IMAGES, WEIGHT, BIAS, layer=layer)


@pytest.mark.parametrize("pool", [MaxPool2d, AvgPool2d])
@pytest.mark.parametrize("window", [(2, None, 0), (3, 1, 1), ((2, 3), (3, 2), 0)])
def test_gradients_of_pooling(pool, window, check_gradients):
    check_gradients(pool.function, IMAGES, layer=pool(*window))


def test_pools_of_a_ramp():
    x = Tensor(RAMP)
    assert MaxPool2d(2)(x).data.tolist() == [[[[5, 7], [13, 15]]]]
    assert AvgPool2d(2)(x).data.tolist() == [[[[2.5, 4.5], [10.5, 12.5]]]]
    assert MaxPool2d(3, stride=1)(x).data.tolist() == [[[[10, 11], [14, 15]]]]


def test_padding_never_wins_a_maximum_but_counts_in_a_mean():
    x = Tensor(-np.ones((1, 1, 2, 2)))
    assert MaxPool2d(2, padding=1)(x).data.tolist() == [[[[-1, -1], [-1, -1]]]]
    assert AvgPool2d(2, padding=1)(x).data.tolist() == [[[[-0.25] * 2] * 2]]


def test_of_equal_elements_the_first_gets_the_gradient():
    x = Tensor(np.ones((1, 1, 2, 2)), requires_grad=True)
    MaxPool2d(2)(x).sum().backward()
    assert x.grad.tolist() == [[[[1, 0], [0, 0]]]]


@pytest.mark.parametrize("training", [True, False])
def test_gradients_of_batch_norm(training, check_gradients):
    """In training the statistics depend on x; the check needs them anew for each x."""

    class OfThisBatch(BatchNorm2dFunction):
        def forward(self, x, gamma, beta):
            if training:
                self.mean, self.var = x.mean(axis=(0, 2, 3)), x.var(axis=(0, 2, 3))
            return super().forward(x, gamma, beta)

    params = {"mean": np.array([0.3, 0.4]), "var": np.array([0.2, 0.1])}
    gamma, beta = np.array([1.5, -0.5]), np.array([0.1, 0.2])
    check_gradients(OfThisBatch, IMAGES, gamma, beta, training=training, **params)


def test_batch_norm_in_training_and_after():
    layer, x = BatchNorm2d(2, momentum=0.25), Tensor(IMAGES)
    out = layer(x).data
    np.testing.assert_allclose(out.mean(axis=(0, 2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(out.std(axis=(0, 2, 3)), 1, rtol=1e-3)
    mean, var = IMAGES.mean(axis=(0, 2, 3)), IMAGES.var(axis=(0, 2, 3))
    np.testing.assert_allclose(layer.running_mean, 0.25 * mean, rtol=1e-5)
    np.testing.assert_allclose(layer.running_var, 0.75 + 0.25 * var, rtol=1e-5)
    kept = layer.running_mean
    by_hand = IMAGES - layer.running_mean.reshape(1, 2, 1, 1)
    by_hand /= np.sqrt(layer.running_var + 1e-5).reshape(1, 2, 1, 1)
    np.testing.assert_allclose(layer.eval()(x).data, by_hand, rtol=1e-5, atol=1e-6)
    assert layer.running_mean is kept
    assert layer.train().training


def test_ops_stay_where_their_arrays_are(check_stays):
    conv, pool = Conv2d(2, 3, (3, 2), 2, 1), MaxPool2d(3, 2, 1)
    check_stays(Conv2dFunction, IMAGES, WEIGHT, BIAS, layer=conv)
    check_stays(MaxPool2dFunction, IMAGES, layer=pool)
    check_stays(AvgPool2dFunction, IMAGES, layer=pool)


def test_parameters_at_birth():
    layer = Conv2d(8, 64, 5)
    assert (layer.weight.shape, layer.bias.shape) == ((64, 8, 5, 5), (64,))
    assert layer.weight.data.std() == pytest.approx((2 / 200) ** 0.5, rel=0.02)
    assert layer.parameters() == [layer.weight, layer.bias]
    bare = Conv2d(1, 2, 3, bias=False)
    assert (bare.bias, bare.parameters()) == (None, [bare.weight])
    assert MaxPool2d(2).parameters() == []
    norm = BatchNorm2d(3)
    assert norm.parameters() == [norm.gamma, norm.beta]


def test_conv_without_bias_learns_its_weight():
    layer = Conv2d(1, 1, 3, bias=False)
    layer(Tensor(RAMP)).sum().backward()
    sums = [
        [RAMP[0, 0, i : i + 2, j : j + 2].sum() for j in range(3)] for i in range(3)
    ]
    assert layer.weight.grad.tolist() == [[sums]]


def test_flatten_joins_all_axes_after_the_first():
    x = Tensor(IMAGES)
    np.testing.assert_array_equal(Flatten()(x).data, x.data.reshape(2, 60), strict=True)


@pytest.mark.parametrize(
    ("layer", "shape", "message"),
    [
        (Conv2d(3, 1, 2), (2, 2, 5, 5), r"\(N, 3, H, W\), got \(2, 2, 5, 5\)"),
        (MaxPool2d(2), (5, 5), r"MaxPool2d takes images \(N, C, H, W\)"),
        (BatchNorm2d(2), (4, 2), "BatchNorm2d takes images"),
        (AvgPool2d(4), (1, 1, 3, 8), "larger than images"),
    ],
)
def test_wrong_images(layer, shape, message):
    with pytest.raises(ValueError, match=message):
        layer(Tensor(np.ones(shape)))
