"""Embeddings: a trained vector for each token, and one for each position."""

import math
from typing import Any

import numpy as np

from tinytorch_gpu.tinytorch.functions import Function, Grads
from tinytorch_gpu.tinytorch.layers import Layer
from tinytorch_gpu.tinytorch.tensor import Tensor

__all__ = [
    "Embedding", "EmbeddingLayer", "PositionalEncoding", "create_sinusoidal_embeddings",
]  # fmt: skip

rng = np.random.default_rng(7)  # of weights; assign another one to reseed


class EmbeddingFunction(Function):
    """weight[indices]: a row of the weight for each index."""

    indices: Any = None

    def forward(self, weight: Any) -> Any:
        """Return (*indices.shape, features)."""
        return weight[self.indices]

    def backward(self, grad: Any) -> Grads:
        """Give each row the sum of the gradients of where it stands."""
        rows = np.zeros_like(self.inputs[0].data)
        np.add.at(rows, self.indices, grad)
        return (rows,)


class Embedding(Layer):
    """A row of `weight` for each token, drawn from ±sqrt(6 / (vocab + features)).

    Args:
        vocab_size: number of tokens.
        embed_dim: features of a row.

    Example:
        >>> layer = Embedding(10, 4)
        >>> layer(Tensor([[1, 2, 1]])).shape
        (1, 3, 4)
    """

    def __init__(self, vocab_size: int, embed_dim: int) -> None:
        self.vocab_size, self.embed_dim = vocab_size, embed_dim
        self.weight = _drawn(vocab_size, embed_dim)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return (..., embed_dim) of tokens (...).

        Raises:
            ValueError: a host token is no whole number from 0 to vocab_size - 1.
        """
        data, known = tokens.data, self.vocab_size
        if isinstance(data, np.ndarray) and not np.isin(data, np.arange(known)).all():
            raise ValueError(
                f"tokens from {data.min():g} to {data.max():g} for a vocabulary of "
                f"{known}; each must be a whole number from 0 to {known - 1}"
            )
        is_host = isinstance(data, np.ndarray)  # elsewhere, the kernel checks them
        indices = data.astype(np.int64) if is_host else data
        return EmbeddingFunction.apply(self.weight, indices=indices)

    def parameters(self) -> list[Tensor]:
        """Return the weight."""
        return [self.weight]


class PositionalEncoding(Layer):
    """Add a trained vector for each position.

    Args:
        max_seq_len: positions that there are vectors for.
        embed_dim: features.
    """

    def __init__(self, max_seq_len: int, embed_dim: int) -> None:
        self.max_seq_len, self.embed_dim = max_seq_len, embed_dim
        self.position_embeddings = _drawn(max_seq_len, embed_dim)

    def forward(self, x: Tensor, start_pos: int = 0) -> Tensor:
        """Return x (..., length, embed_dim) plus the vectors from `start_pos` on.

        Raises:
            ValueError: x reaches beyond the last position.
        """
        return x + _positions(self.position_embeddings, x.shape[-2], start_pos)

    def parameters(self) -> list[Tensor]:
        """Return the vectors."""
        return [self.position_embeddings]


class EmbeddingLayer(Layer):
    """Tokens and positions together.

    Args:
        vocab_size: number of tokens.
        embed_dim: features.
        max_seq_len: positions.
        pos_encoding: `"learned"`, `"sinusoidal"` (fixed), or None for no positions.
        scale_embeddings: multiply tokens by sqrt(embed_dim) first.

    Raises:
        ValueError: there is no such encoding of positions.
    """

    def __init__(
        self,
        vocab_size: int,
        embed_dim: int,
        max_seq_len: int = 512,
        pos_encoding: str | None = "learned",
        scale_embeddings: bool = False,
    ) -> None:
        if pos_encoding not in {"learned", "sinusoidal", None}:
            raise ValueError(
                f"pos_encoding={pos_encoding!r}: give 'learned', 'sinusoidal' or None"
            )
        self.token_embedding = Embedding(vocab_size, embed_dim)
        self.scale = math.sqrt(embed_dim) if scale_embeddings else 1.0
        self.pos_encoding: Any = None
        if pos_encoding == "learned":
            self.pos_encoding = PositionalEncoding(max_seq_len, embed_dim)
        elif pos_encoding == "sinusoidal":
            self.pos_encoding = create_sinusoidal_embeddings(max_seq_len, embed_dim)

    def forward(self, tokens: Tensor, start_pos: int = 0) -> Tensor:
        """Return (..., length, embed_dim) of tokens (..., length)."""
        embedded = self.token_embedding(tokens)
        if self.scale != 1.0:
            embedded = embedded * self.scale
        if self.pos_encoding is None:
            return embedded
        if isinstance(self.pos_encoding, PositionalEncoding):
            return self.pos_encoding(embedded, start_pos)
        return embedded + _positions(self.pos_encoding, tokens.shape[-1], start_pos)

    def parameters(self) -> list[Tensor]:
        """Return the weight and, if they are trained, the positions' vectors."""
        is_trained = isinstance(self.pos_encoding, PositionalEncoding)
        more = self.pos_encoding.parameters() if is_trained else []
        return [*self.token_embedding.parameters(), *more]


def create_sinusoidal_embeddings(max_seq_len: int, embed_dim: int) -> Tensor:
    """Return fixed vectors of positions: sines at even features, cosines at odd ones.

    Features 2i and 2i + 1 have the angle position / 10000^(2i / embed_dim).

    Args:
        max_seq_len: positions.
        embed_dim: features.

    Returns:
        Tensor (max_seq_len, embed_dim).

    Source: A. Vaswani et al., "Attention Is All You Need", section 3.5.
    """
    features = np.arange(embed_dim)
    slowness = 10000.0 ** ((features - features % 2) / embed_dim)
    angles = np.arange(max_seq_len)[:, None] / slowness
    return Tensor(np.where(features % 2 == 0, np.sin(angles), np.cos(angles)))


def _drawn(rows: int, features: int) -> Tensor:
    limit = math.sqrt(6.0 / (rows + features))
    return Tensor(rng.uniform(-limit, limit, (rows, features)), requires_grad=True)


def _positions(vectors: Tensor, length: int, start: int) -> Tensor:
    if start + length > vectors.shape[0]:
        raise ValueError(
            f"positions {start} to {start + length - 1} of {vectors.shape[0]}: take "
            "a shorter text, or a larger max_seq_len"
        )
    return vectors[start : start + length]
