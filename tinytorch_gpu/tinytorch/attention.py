"""Attention: each position takes a weighted mean of what others hold."""

import math

import numpy as np

from tinytorch_gpu.tinytorch.activations import Softmax
from tinytorch_gpu.tinytorch.layers import Layer, Linear
from tinytorch_gpu.tinytorch.tensor import Tensor

__all__ = ["MultiHeadAttention", "scaled_dot_product_attention"]

MASK_VALUE = float("-inf")  # a score that softmax makes 0


def scaled_dot_product_attention(
    Q: Tensor,  # noqa: N803  (TinyTorch's names)
    K: Tensor,  # noqa: N803
    V: Tensor,  # noqa: N803
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return softmax(Q Kᵀ / √d) V and the softmax itself.

    Args:
        Q: queries (..., Lq, d).
        K: keys (..., Lk, d).
        V: values (..., Lk, dv).
        mask: broadcasts to (..., Lq, Lk); a query does not see a key where it is 0.

    Returns:
        Output (..., Lq, dv) and weights (..., Lq, Lk).

    Example:
        >>> q, v = Tensor(np.zeros((2, 4))), Tensor([[2.0], [4.0]])
        >>> scaled_dot_product_attention(q, q, v)[0].numpy().tolist()
        [[3.0], [3.0]]
    """
    scores = Q.matmul(K.transpose(-2, -1)) * (1.0 / math.sqrt(Q.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill(np.equal(mask.data, 0), MASK_VALUE)
    weights = Softmax()(scores)
    return weights.matmul(V), weights


class MultiHeadAttention(Layer):
    """Attention by several heads, each with its share of the features.

    Args:
        embed_dim: features.
        num_heads: heads; they share the features evenly.

    Raises:
        ValueError: the features cannot be shared evenly.
    """

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(
                f"MultiHeadAttention({embed_dim}, {num_heads}): the features must be a "
                "multiple of the heads"
            )
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim)
        self.k_proj = Linear(embed_dim, embed_dim)
        self.v_proj = Linear(embed_dim, embed_dim)
        self.out_proj = Linear(embed_dim, embed_dim)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (batch, length, embed_dim) of x (batch, length, embed_dim).

        Args:
            x: what looks, and what is looked at.
            mask: (batch or 1, length, length), or (length, length); 0 hides a position.
        """
        if mask is not None and mask.ndim == 3:  # the same for all heads
            mask = mask.reshape(mask.shape[0], 1, *mask.shape[1:])
        layers = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (self._split_heads(layer(x)) for layer in layers)
        out, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(self._merge_heads(out))

    def parameters(self) -> list[Tensor]:
        """Return weights and biases of the four projections."""
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [param for layer in layers for param in layer.parameters()]

    def _split_heads(self, x: Tensor) -> Tensor:
        """Return (batch, heads, length, head_dim)."""
        shape = (*x.shape[:2], self.num_heads, self.head_dim)
        return x.reshape(shape).transpose(1, 2)

    def _merge_heads(self, x: Tensor) -> Tensor:
        """Return (batch, length, embed_dim)."""
        return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], self.embed_dim)
