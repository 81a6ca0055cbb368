"""Attention: by its definition, with masks, by heads."""

import math

import numpy as np
import pytest

from tinytorch_gpu.tinytorch.attention import (
    MultiHeadAttention,
    scaled_dot_product_attention,
)
from tinytorch_gpu.tinytorch.tensor import Tensor

RNG = np.random.default_rng(3)
Q, K, V = (RNG.normal(size=(4, 6)) for _ in range(3))


def by_definition(q, k, v, is_seen):
    """Return each query's mean of values, by loops over queries and keys."""
    out = np.zeros((len(q), v.shape[1]))
    for i, query in enumerate(q):
        seen = [j for j in range(len(k)) if is_seen(i, j)]
        powers = [math.exp(query @ k[j] / math.sqrt(len(query))) for j in seen]
        for power, j in zip(powers, seen, strict=True):
            out[i] += power / sum(powers) * v[j]
    return out


@pytest.mark.parametrize("is_masked", [False, True])
def test_attention_is_a_weighted_mean_of_values(is_masked):
    mask = Tensor(np.tril(np.ones((4, 4)))) if is_masked else None
    out, weights = scaled_dot_product_attention(Tensor(Q), Tensor(K), Tensor(V), mask)
    expected = by_definition(Q, K, V, lambda i, j: j <= i or not is_masked)
    np.testing.assert_allclose(out.data, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(weights.data.sum(axis=-1), 1, rtol=1e-6)
    assert weights.data[np.triu_indices(4, 1)].any() != is_masked


def test_a_query_that_sees_nothing_gets_zeros():
    mask = Tensor([[0.0] * 4, [1.0] * 4, [1.0] * 4, [1.0] * 4])
    out, _ = scaled_dot_product_attention(Tensor(Q), Tensor(K), Tensor(V), mask)
    assert out.data[0].tolist() == [0.0] * 6


def test_heads_look_on_their_own():
    layer, x = MultiHeadAttention(6, 2), RNG.normal(size=(2, 4, 6))
    weights = {name: getattr(layer, f"{name}_proj").weight.data for name in "qkv"}
    heads = []
    for image in x:
        q, k, v = (image @ weights[name] for name in "qkv")
        parts = [slice(0, 3), slice(3, 6)]
        own = [
            by_definition(q[:, p], k[:, p], v[:, p], lambda i, j: True) for p in parts
        ]
        heads.append(np.concatenate(own, axis=1) @ layer.out_proj.weight.data)
    np.testing.assert_allclose(layer(Tensor(x)).data, heads, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(4, 4), (1, 4, 4), (2, 4, 4)])
def test_masks_of_any_rank_hide_what_comes_later(shape):
    layer, x = MultiHeadAttention(6, 3), RNG.normal(size=(2, 4, 6))
    mask = Tensor(np.broadcast_to(np.tril(np.ones((4, 4))), shape))
    whole = layer(Tensor(x), mask).data
    x[:, 3] += 1.0  # the last position changes
    changed = layer(Tensor(x), mask).data
    np.testing.assert_array_equal(changed[:, :3], whole[:, :3])
    assert not np.allclose(changed[:, 3], whole[:, 3])


def test_all_four_projections_learn():
    layer = MultiHeadAttention(6, 2)
    out = layer(Tensor(RNG.normal(size=(1, 3, 6))))
    (out * out).sum().backward()
    assert len(layer.parameters()) == 8
    weights = layer.parameters()[::2]
    assert all(np.abs(weight.grad).max() > 0 for weight in weights)


@pytest.mark.parametrize("heads", [0, 4])
def test_features_are_a_multiple_of_the_heads(heads):
    with pytest.raises(ValueError, match="multiple of the heads"):
        MultiHeadAttention(6, heads)
