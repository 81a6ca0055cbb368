"""Embedding and positions in generation B's form; written for these tests."""

import numpy as np
from standin_b.core.tensor import Function, Tensor


class EmbeddingFunction(Function):
    def forward(self, weight):
        return weight[self.indices]

    def backward(self, grad):
        out = np.zeros_like(self.inputs[0].data)
        np.add.at(out, self.indices.reshape(-1), grad.reshape(-1, grad.shape[-1]))
        return (out,)


class Embedding:
    def __init__(self, vocab_size, embed_dim):
        values = np.random.default_rng(7).normal(size=(vocab_size, embed_dim))
        self.weight = Tensor(values, requires_grad=True)

    def forward(self, indices):
        return EmbeddingFunction.apply(self.weight, indices=indices.data.astype(int))

    def parameters(self):
        return [self.weight]


class PositionalEncoding:
    def __init__(self, max_seq_len, embed_dim):
        values = np.random.default_rng(8).normal(size=(max_seq_len, embed_dim))
        self.position_embeddings = Tensor(values, requires_grad=True)

    def forward(self, x):
        return x + self.position_embeddings[: x.shape[1]].reshape(1, *x.shape[1:])

    def parameters(self):
        return [self.position_embeddings]


class EmbeddingLayer:
    def __init__(self, vocab_size, embed_dim, max_seq_len=512, pos_encoding="learned"):
        self.token_embedding = Embedding(vocab_size, embed_dim)
        self.pos_encoding = PositionalEncoding(max_seq_len, embed_dim)
        if pos_encoding == "sinusoidal":
            angles = np.arange(max_seq_len)[:, None] / 10 ** np.arange(embed_dim)
            self.pos_encoding = Tensor(np.sin(angles))

    def forward(self, tokens):
        embedded = self.token_embedding.forward(tokens)
        if isinstance(self.pos_encoding, PositionalEncoding):
            return self.pos_encoding.forward(embedded)
        return embedded + self.pos_encoding[: tokens.shape[1]]

    def parameters(self):
        more = getattr(self.pos_encoding, "parameters", list)()
        return self.token_embedding.parameters() + more
