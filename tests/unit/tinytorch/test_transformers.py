"""Layer norm, blocks and GPT: values, gradients, what is hidden, what is drawn."""

import numpy as np
import pytest

from tinytorch_gpu.tinytorch import transformers as module
from tinytorch_gpu.tinytorch.tensor import Tensor
from tinytorch_gpu.tinytorch.transformers import (
    GPT,
    MLP,
    LayerNorm,
    LayerNormFunction,
    TransformerBlock,
    create_causal_mask,
)

RNG = np.random.default_rng(9)
X = RNG.normal(size=(2, 3, 4))


def test_layer_norm(check_gradients, check_stays):
    out = LayerNorm(4)(Tensor(X)).data
    np.testing.assert_allclose(out.mean(axis=-1), 0, atol=1e-6)
    np.testing.assert_allclose(out.std(axis=-1), 1, rtol=1e-3)
    arrays = X, RNG.normal(size=4), RNG.normal(size=4)
    check_gradients(LayerNormFunction, *arrays, eps=1e-5)
    check_stays(LayerNormFunction, *arrays)


def test_layer_norm_scales_and_shifts():
    layer = LayerNorm(2, eps=0.0)
    layer.gamma.data, layer.beta.data = np.float32([2, 3]), np.float32([1, 5])
    assert layer(Tensor([[1.0, 3.0]])).data.tolist() == [[-1, 8]]
    assert layer.parameters() == [layer.gamma, layer.beta]


def test_mlp_works_at_each_position_alone():
    layer = MLP(4, 6)
    whole = layer(Tensor(X)).data
    np.testing.assert_allclose(layer(Tensor(X[1, 2])).data, whole[1, 2], rtol=1e-5)
    assert [p.shape for p in layer.parameters()] == [(4, 6), (6,), (6, 4), (4,)]
    assert MLP(4).linear1.weight.shape == (4, 16)


def test_mlp_drops_in_training_only():
    layer = MLP(4, dropout_prob=1.0)
    assert not layer(Tensor(X)).data.any()
    assert layer(Tensor(X), training=False).data.any()


def test_block_adds_to_what_it_gets():
    block = TransformerBlock(4, 2)
    for layer in (block.attention.out_proj, block.mlp.linear2):
        layer.weight.data = np.zeros_like(layer.weight.data)
    np.testing.assert_array_equal(block(Tensor(X)).data, np.float32(X))
    assert len(block.parameters()) == 8 + 2 + 2 + 4


def test_gpt_does_not_see_what_comes_later():
    model = GPT(5, 8, num_layers=2, num_heads=2, max_seq_len=6)
    first = model(Tensor([[0, 1, 2, 3]])).data
    other = model(Tensor([[0, 1, 2, 4]])).data
    assert first.shape == (1, 4, 5)
    np.testing.assert_array_equal(first[:, :3], other[:, :3])
    assert not np.allclose(first[:, 3], other[:, 3])


def test_every_parameter_of_gpt_learns():
    model = GPT(5, 8, num_layers=2, num_heads=2, max_seq_len=4)
    out = model(Tensor([[0, 1, 2, 3], [4, 0, 1, 1]]))
    (out * out).sum().backward()
    assert len(model.parameters()) == 2 + 2 * 16 + 2 + 1
    assert all(param.grad is not None for param in model.parameters())


def test_generate_draws_by_the_logits(monkeypatch):
    monkeypatch.setattr(module, "rng", np.random.default_rng(0))
    model = GPT(3, 4, num_layers=1, num_heads=1, max_seq_len=5)
    logits = np.log([[[0.1, 0.2, 0.7]]])
    monkeypatch.setattr(
        model, "forward", lambda x: Tensor(logits.repeat(x.shape[1], 1))
    )
    drawn = model.generate(Tensor([[2.0, 0.0]]), max_new_tokens=2000).data
    assert drawn[0, :2].tolist() == [2, 0]
    shares = np.bincount(drawn[0, 2:].astype(int)) / 2000
    np.testing.assert_allclose(shares, [0.1, 0.2, 0.7], atol=0.03)
    cold = model.generate(Tensor([[0.0]]), 20, temperature=0.01).data
    assert cold.tolist() == [[0] + [2] * 20]


def test_generate_looks_at_the_last_tokens_only():
    model = GPT(3, 4, num_layers=1, num_heads=1, max_seq_len=2)
    assert model.generate(Tensor([[0, 1, 2]]), max_new_tokens=3).shape == (1, 6)


def test_the_temperature_is_positive():
    with pytest.raises(ValueError, match="above 0"):
        GPT(3, 4, 1, 1).generate(Tensor([[0]]), 1, temperature=0.0)


def test_the_causal_mask():
    expected = [[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]
    assert create_causal_mask(3).data.tolist() == expected
