"""Embeddings: rows by token, positions, and gradients of repeated tokens."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu.tinytorch.embeddings import (
    Embedding,
    EmbeddingFunction,
    EmbeddingLayer,
    PositionalEncoding,
    create_sinusoidal_embeddings,
)
from tinytorch_gpu.tinytorch.tensor import Tensor

TABLE = np.arange(12.0).reshape(4, 3)
TOKENS = np.array([[1, 3, 1], [0, 1, 1]])


def test_a_row_for_each_token(check_gradients, check_stays):
    out = EmbeddingFunction(indices=TOKENS).forward(TABLE)
    np.testing.assert_array_equal(out, TABLE[TOKENS])
    check_gradients(EmbeddingFunction, TABLE, indices=TOKENS)
    check_stays(EmbeddingFunction, TABLE, indices=TOKENS)


def test_a_token_that_comes_often_gets_all_its_gradients():
    layer = Embedding(4, 3)
    layer(Tensor(TOKENS)).sum().backward()
    assert layer.weight.grad.tolist() == [[1] * 3, [4] * 3, [0] * 3, [1] * 3]
    assert layer.parameters() == [layer.weight]


def test_weights_at_birth_fill_the_range():
    weight = Embedding(50, 100).weight.data
    limit = (6 / 150) ** 0.5
    assert limit * 0.99 < np.abs(weight).max() <= limit
    assert weight.std() == pytest.approx(limit / 3**0.5, rel=0.05)


def test_positions_are_added_from_the_start_position_on():
    layer, x = PositionalEncoding(6, 3), Tensor(np.zeros((2, 4, 3)))
    vectors = layer.position_embeddings.data
    np.testing.assert_array_equal(layer(x).data, np.stack([vectors[:4]] * 2))
    np.testing.assert_array_equal(layer(x, 2).data[1], vectors[2:])
    layer(x).sum().backward()
    assert layer.position_embeddings.grad[:, 0].tolist() == [2, 2, 2, 2, 0, 0]


def test_sinusoidal_positions():
    got = create_sinusoidal_embeddings(3, 4).data
    expected = [
        [np.sin(p), np.cos(p), np.sin(p / 100), np.cos(p / 100)] for p in range(3)
    ]
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)
    assert create_sinusoidal_embeddings(3, 5).shape == (3, 5)


def test_the_whole_layer():
    tokens = Tensor(TOKENS)
    learned = EmbeddingLayer(4, 3, 5, scale_embeddings=True)
    table, places = (p.data for p in learned.parameters())
    expected = table[TOKENS] * 3**0.5 + places[:3]
    np.testing.assert_allclose(learned(tokens).data, expected, rtol=1e-6)
    fixed = EmbeddingLayer(4, 3, 5, pos_encoding="sinusoidal")
    (weight,) = fixed.parameters()
    expected = weight.data[TOKENS] + create_sinusoidal_embeddings(5, 3).data[1:4]
    np.testing.assert_allclose(fixed(tokens, 1).data, expected, rtol=1e-6)
    bare = EmbeddingLayer(4, 3, pos_encoding=None)
    (weight,) = bare.parameters()
    np.testing.assert_array_equal(bare(tokens).data, weight.data[TOKENS])


@pytest.mark.parametrize("token", [-1.0, 4.0, 0.5])
def test_a_token_is_a_whole_number_of_the_vocabulary(token):
    with pytest.raises(ValueError, match="from 0 to 3"):
        Embedding(4, 3)(Tensor([token]))


def test_a_text_beyond_the_last_position():
    with pytest.raises(ValueError, match="positions 3 to 6 of 6"):
        PositionalEncoding(6, 3)(Tensor(np.zeros((1, 4, 3))), start_pos=3)


def test_an_unknown_encoding_of_positions():
    with pytest.raises(ValueError, match="'learned', 'sinusoidal' or None"):
        EmbeddingLayer(4, 3, pos_encoding="rotary")


@pytest.mark.parametrize("wrong", [4.0, -1.0, 1.5, np.nan])
def test_a_token_that_is_none_is_refused_on_both(wrong):
    layer, tokens = Embedding(4, 3), Tensor([[0.0, wrong]])
    with pytest.raises(ValueError, match="vocabulary of 4"):
        layer(tokens)
    with simgpu.installed("t4", "tinytorch_gpu.tinytorch"):
        layer.to("simgpu")
        with pytest.raises(IndexError, match="none of 4 rows"):
            layer(tokens.to("simgpu"))
