"""Activations: values against float64, gradients, and extreme arguments."""

import math

import numpy as np
import pytest

from tinytorch_gpu.tinytorch.activations import (
    GELU,
    GELUFunction,
    ReLU,
    ReLUFunction,
    Sigmoid,
    SigmoidFunction,
    Softmax,
    SoftmaxFunction,
    Tanh,
    TanhFunction,
)
from tinytorch_gpu.tinytorch.tensor import Tensor

X = np.random.default_rng(4).uniform(-4, 4, (3, 5))
FUNCTIONS = [SigmoidFunction, ReLUFunction, TanhFunction, GELUFunction, SoftmaxFunction]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (Sigmoid(), sigmoid(X)),
        (ReLU(), np.maximum(X, 0)),
        (Tanh(), np.tanh(X)),
        (GELU(), X * sigmoid(1.702 * X)),
        (Softmax(), np.exp(X) / np.exp(X).sum(axis=-1, keepdims=True)),
    ],
)
def test_values(layer, expected):
    for made in (layer(Tensor(X)), layer.forward(Tensor(X))):
        assert made.data.dtype == np.float32
        np.testing.assert_allclose(made.data, expected, rtol=1e-5, atol=1e-7)
    assert layer.parameters() == []
    assert repr(layer) == f"{type(layer).__name__}()"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients(function, check_gradients, check_stays):
    check_gradients(function, X)
    check_stays(function, X)


def test_softmax_along_another_axis(check_gradients):
    made = Softmax()(Tensor(X), dim=0)
    np.testing.assert_allclose(made.data.sum(axis=0), np.ones(5), rtol=1e-6)
    check_gradients(SoftmaxFunction, X, dim=0)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_forward_works_on_a_bare_array(function):
    assert function().forward(X).shape == X.shape


def test_extreme_arguments_overflow_nowhere():
    far = Tensor([-1e4, -100.0, 0.0, 100.0, 1e4])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        np.testing.assert_allclose(Sigmoid()(far).data, [0, 0, 0.5, 1, 1], atol=1e-7)
        np.testing.assert_allclose(GELU()(far).data, [0, 0, 0, 100, 1e4], atol=1e-7)
        np.testing.assert_allclose(Softmax()(far).data, [0, 0, 0, 0, 1])


def test_small_sigmoids_keep_their_digits():
    np.testing.assert_allclose(Sigmoid()(Tensor(-20.0)).data, math.exp(-20), rtol=1e-5)


def test_softmax_of_masked_rows():
    rows = Tensor([[-np.inf, 0.0, 0.0], [-np.inf] * 3])
    with np.errstate(all="raise"):
        made = Softmax()(rows)
    np.testing.assert_allclose(made.data, [[0, 0.5, 0.5], [0, 0, 0]])


def test_relu_is_flat_at_zero():
    x = Tensor([-1.0, 0.0, 2.0], requires_grad=True)
    ReLU()(x).sum().backward()
    assert x.grad.tolist() == [0, 0, 1]


def test_gelu_of_what_is_far_below_is_0():
    out = GELU()(Tensor([-np.inf, -1e30, -1e5])).numpy()
    assert np.abs(out).tolist() == [0.0, 0.0, 0.0]
