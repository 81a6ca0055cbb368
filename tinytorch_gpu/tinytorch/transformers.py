"""Transformers: layer normalisation, blocks, and a GPT of characters or words."""

from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.activations import GELU
from tinytorch_gpu.tinytorch.attention import MultiHeadAttention
from tinytorch_gpu.tinytorch.autograd import no_grad
from tinytorch_gpu.tinytorch.embeddings import EmbeddingLayer
from tinytorch_gpu.tinytorch.functions import Function, Grads, placed_like
from tinytorch_gpu.tinytorch.layers import Dropout, Layer, Linear
from tinytorch_gpu.tinytorch.tensor import Tensor
from tinytorch_gpu.tinytorch.training import on_host

__all__ = ["GPT", "MLP", "LayerNorm", "TransformerBlock", "create_causal_mask"]

rng = np.random.default_rng(7)  # of generated tokens; assign another one to reseed


class LayerNormFunction(Function):
    """x̂ gamma + beta, with x̂ = (x - mean) / sqrt(var + eps) along the last axis."""

    eps = 1e-5

    def forward(self, x: Any, gamma: Any, beta: Any) -> Any:
        """Return x's shape."""
        normal, _ = self._normal(x)
        return normal * gamma + beta

    def backward(self, grad: Any) -> Grads:
        """Return (g - mean(g) - x̂ mean(g x̂)) / sqrt(var + eps), and the sums."""
        x, gamma, _ = (tensor.data for tensor in self.inputs)
        normal, root = self._normal(x)
        slope = grad * gamma
        mean = np.mean(slope, axis=-1, keepdims=True)
        tilt = np.mean(slope * normal, axis=-1, keepdims=True)
        rows = tuple(range(grad.ndim - 1))
        by_gamma, by_beta = np.sum(grad * normal, axis=rows), np.sum(grad, axis=rows)
        return (slope - mean - normal * tilt) / root, by_gamma, by_beta

    def _normal(self, x: Any) -> tuple[Any, Any]:
        """Return x̂, and the root that it was divided by."""
        centred = x - np.mean(x, axis=-1, keepdims=True)
        var = np.mean(centred * centred, axis=-1, keepdims=True)
        root = np.sqrt(var + self.eps)
        return centred / root, root


class LayerNorm(Layer):
    """Give each position mean beta and standard deviation gamma over its features.

    Args:
        normalized_shape: features.
        eps: keeps the division finite.
    """

    def __init__(self, normalized_shape: int, eps: float = 1e-5) -> None:
        self.normalized_shape, self.eps = normalized_shape, eps
        self.gamma = Tensor(np.ones(normalized_shape), requires_grad=True)
        self.beta = Tensor(np.zeros(normalized_shape), requires_grad=True)

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised x (..., features)."""
        return LayerNormFunction.apply(x, self.gamma, self.beta, eps=self.eps)

    def parameters(self) -> list[Tensor]:
        """Return gamma and beta."""
        return [self.gamma, self.beta]


class MLP(Layer):
    """Two Linear layers with a GELU between, at each position alone.

    Args:
        embed_dim: features.
        hidden_dim: features between; 4 embed_dim if None.
        dropout_prob: of the output, in training.
    """

    def __init__(
        self, embed_dim: int, hidden_dim: int | None = None, dropout_prob: float = 0.0
    ) -> None:
        hidden = 4 * embed_dim if hidden_dim is None else hidden_dim
        self.linear1, self.linear2 = (
            Linear(embed_dim, hidden),
            Linear(hidden, embed_dim),
        )
        self.gelu, self.dropout = GELU(), Dropout(dropout_prob)

    def forward(self, x: Tensor, training: bool = True) -> Tensor:
        """Return (..., embed_dim) of x (..., embed_dim)."""
        out = self.linear2(self.gelu(self.linear1(x)))
        return self.dropout(out, training=training)

    def parameters(self) -> list[Tensor]:
        """Return weights and biases of both layers."""
        return self.linear1.parameters() + self.linear2.parameters()


class TransformerBlock(Layer):
    """x + attention(norm(x)), and to that + MLP(norm(...)).

    Args:
        embed_dim: features.
        num_heads: heads of the attention.
        mlp_ratio: features between the MLP's layers, as a multiple.
        dropout_prob: of the MLP.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        mlp_ratio: int = 4,
        dropout_prob: float = 0.0,
    ) -> None:
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.ln1, self.ln2 = LayerNorm(embed_dim), LayerNorm(embed_dim)
        self.mlp = MLP(embed_dim, mlp_ratio * embed_dim, dropout_prob)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, training: bool = True
    ) -> Tensor:
        """Return (batch, length, embed_dim) of x; `mask` as in the attention."""
        x = x + self.attention(self.ln1(x), mask)
        return x + self.mlp(self.ln2(x), training=training)

    def parameters(self) -> list[Tensor]:
        """Return the parameters of attention, norms and MLP."""
        layers = (self.attention, self.ln1, self.ln2, self.mlp)
        return [param for layer in layers for param in layer.parameters()]


class GPT(Layer):
    """Tells of each position which token comes next.

    Args:
        vocab_size: number of tokens.
        embed_dim: features.
        num_layers: blocks.
        num_heads: heads of each attention.
        max_seq_len: longest text.

    Example:
        >>> GPT(11, 8, num_layers=1, num_heads=2)(Tensor([[1, 2, 3]])).shape
        (1, 3, 11)
    """

    def __init__(
        self,
        vocab_size: int,
        embed_dim: int,
        num_layers: int,
        num_heads: int,
        max_seq_len: int = 1024,
    ) -> None:
        self.vocab_size, self.max_seq_len = vocab_size, max_seq_len
        self.embedding_layer = EmbeddingLayer(vocab_size, embed_dim, max_seq_len)
        blocks = (TransformerBlock(embed_dim, num_heads) for _ in range(num_layers))
        self.blocks = list(blocks)
        self.ln_f = LayerNorm(embed_dim)
        self.lm_head = Linear(embed_dim, vocab_size, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (batch, length, vocab_size) of tokens (batch, length)."""
        x = self.embedding_layer(tokens)
        mask = create_causal_mask(tokens.shape[1])
        for block in self.blocks:
            x = block(x, mask)
        return self.lm_head(self.ln_f(x))

    def parameters(self) -> list[Tensor]:
        """Return the parameters of embeddings, blocks, last norm and head."""
        layers = (self.embedding_layer, *self.blocks, self.ln_f, self.lm_head)
        return [param for layer in layers for param in layer.parameters()]

    def generate(
        self, prompt_tokens: Tensor, max_new_tokens: int = 50, temperature: float = 1.0
    ) -> Tensor:
        """Return the prompt (1, length) with new tokens, each drawn by its probability.

        Args:
            prompt_tokens: on any device.
            max_new_tokens: how many to add.
            temperature: above 0; small ones make the likeliest token likelier.

        Returns:
            Tensor (1, length + max_new_tokens), on the CPU.

        Raises:
            ValueError: the temperature is not positive.
        """
        if temperature <= 0:
            raise ValueError(f"temperature={temperature}: it must be above 0")
        tokens, weight = on_host(prompt_tokens), self.lm_head.weight.data
        with no_grad():
            for _ in range(max_new_tokens):
                seen = placed_like(tokens[:, -self.max_seq_len :], weight)
                scores = on_host(self(Tensor(seen))[0, -1])
                chances = np.exp((scores - scores.max()) / temperature, dtype=float)
                drawn = rng.choice(self.vocab_size, p=chances / chances.sum())
                tokens = np.append(tokens, [[np.float32(drawn)]], axis=1)
        return Tensor(tokens)


def create_causal_mask(seq_len: int) -> Tensor:
    """Return (1, seq_len, seq_len): 1 where a position is not later than the row's.

    Example:
        >>> create_causal_mask(2).numpy().tolist()
        [[[1.0, 0.0], [1.0, 1.0]]]
    """
    return Tensor(np.tril(np.ones((1, seq_len, seq_len), np.float32)))
