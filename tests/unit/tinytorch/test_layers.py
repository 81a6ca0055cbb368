"""Layers: shapes, initial values, training mode, and parameters."""

import numpy as np
import pytest

from tinytorch_gpu.tinytorch import layers as module
from tinytorch_gpu.tinytorch.activations import ReLU
from tinytorch_gpu.tinytorch.layers import Dropout, Layer, Linear, Sequential
from tinytorch_gpu.tinytorch.tensor import Tensor


@pytest.fixture(autouse=True)
def reseeded(monkeypatch):
    monkeypatch.setattr(module, "rng", np.random.default_rng(7))


def test_linear_computes_x_weight_plus_bias():
    layer = Linear(3, 2)
    layer.bias.data = np.array([1.0, -1.0], np.float32)
    for shape in ((3,), (4, 3), (2, 4, 3)):
        x = np.random.default_rng(0).normal(size=shape)
        expected = x @ layer.weight.data + layer.bias.data
        np.testing.assert_allclose(
            layer(Tensor(x)).data, expected, rtol=1e-4, atol=1e-6
        )


def test_linears_parameters_at_birth():
    layer = Linear(400, 100)
    assert (layer.weight.shape, layer.bias.shape) == ((400, 100), (100,))
    assert layer.weight.data.std() == pytest.approx(1 / 20, rel=0.02)
    assert not layer.bias.data.any()
    assert layer.parameters() == [layer.weight, layer.bias]
    assert all(p.requires_grad for p in layer.parameters())
    assert repr(layer) == "Linear(400, 100)"


def test_linear_without_bias():
    layer = Linear(3, 2, bias=False)
    assert layer.bias is None
    assert layer.parameters() == [layer.weight]
    assert layer(Tensor(np.zeros((1, 3)))).data.tolist() == [[0, 0]]


def test_linear_learns_both_parameters():
    layer = Linear(2, 1)
    layer(Tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert layer.weight.grad.tolist() == [[4], [6]]
    assert layer.bias.grad.tolist() == [2]


def test_the_modules_rng_reseeds_weights():
    first = Linear(4, 4).weight.data
    module.rng = np.random.default_rng(7)
    np.testing.assert_array_equal(Linear(4, 4).weight.data, first)


@pytest.mark.parametrize("lengths", [(0, 2), (2, -1)])
def test_linear_lengths_are_positive(lengths):
    with pytest.raises(ValueError, match="must be > 0"):
        Linear(*lengths)


def test_linear_of_another_length_names_both():
    with pytest.raises(ValueError, match="4 vs 3"):
        Linear(3, 2)(Tensor(np.ones((5, 4))))


def test_dropout_zeroes_and_scales():
    x = Tensor(np.ones((200, 50)), requires_grad=True)
    dropped = Dropout(0.25)(x)
    assert set(np.unique(dropped.data)) == {0.0, np.float32(1 / 0.75)}
    assert (dropped.data == 0).mean() == pytest.approx(0.25, abs=0.02)
    dropped.sum().backward()
    np.testing.assert_array_equal(x.grad, dropped.data)


def test_dropout_outside_of_training_is_the_identity():
    x = Tensor([1.0, 2.0])
    assert Dropout(0.5)(x, training=False) is x
    assert Dropout(0.0)(x) is x
    assert Dropout(1.0)(x).data.tolist() == [0, 0]


@pytest.mark.parametrize("p", [-0.1, 1.5])
def test_dropout_takes_a_probability(p):
    with pytest.raises(ValueError, match="from 0 to 1"):
        Dropout(p)


def test_sequential_runs_layers_in_order():
    first, last = Linear(2, 3), Linear(3, 1)
    for model in (Sequential(first, ReLU(), last), Sequential([first, ReLU(), last])):
        x = Tensor([[1.0, -2.0]])
        np.testing.assert_array_equal(
            model(x).data, last(ReLU()(first(x))).data, strict=True
        )
        assert len(model.parameters()) == 4


def test_sequential_hands_training_to_those_that_take_it():
    model = Sequential(Sequential(Dropout(1.0)), ReLU())
    x = Tensor([1.0])
    assert model(x).data.tolist() == [0]
    assert model(x, training=False).data.tolist() == [1]


def test_a_shared_parameter_counts_once():
    shared = Linear(2, 2)
    assert len(Sequential(shared, ReLU(), shared).parameters()) == 2


def test_a_layer_without_forward_names_itself():
    class Empty(Layer):
        pass

    assert (Empty().parameters(), repr(Empty())) == ([], "Empty()")
    with pytest.raises(NotImplementedError, match="Empty needs forward"):
        Empty()(Tensor([1.0]))
