"""Attention and a small GPT in generation B's form; written for these tests."""

import math

import numpy as np
from standin_b.core.activations import GELU, Softmax
from standin_b.core.embeddings import EmbeddingLayer
from standin_b.core.layers import Linear
from standin_b.core.tensor import Function, Tensor

MASK_VALUE = float("-inf")


def create_causal_mask(seq_len):
    return Tensor(np.tril(np.ones((seq_len, seq_len), dtype=np.float32))[None])


class LayerNormFunction(Function):
    def forward(self, x, gamma, beta):
        centred = x - np.mean(x, axis=-1, keepdims=True)
        variance = np.mean(centred**2, axis=-1, keepdims=True)
        self.std_data = np.sqrt(variance + self.eps)
        self.normalized_data = centred / self.std_data
        return gamma * self.normalized_data + beta

    def backward(self, grad):
        hat, scaled = self.normalized_data, grad * self.inputs[1].data
        mean = scaled.mean(axis=-1, keepdims=True)
        slope = (scaled * hat).mean(axis=-1, keepdims=True)
        by_x = (scaled - mean - hat * slope) / self.std_data
        axes = tuple(range(grad.ndim - 1))
        return by_x, (grad * hat).sum(axis=axes), grad.sum(axis=axes)


class LayerNorm:
    def __init__(self, normalized_shape, eps=1e-5):
        self.eps = eps
        self.gamma = Tensor(np.ones(normalized_shape), requires_grad=True)
        self.beta = Tensor(np.zeros(normalized_shape), requires_grad=True)

    def forward(self, x):
        return LayerNormFunction.apply(x, self.gamma, self.beta, eps=self.eps)

    def parameters(self):
        return [self.gamma, self.beta]


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q.matmul(k.transpose(-2, -1)) * Tensor(1.0 / math.sqrt(q.shape[-1]))
    if mask is not None:
        blocked = np.broadcast_to(mask.data == 0, scores.shape)
        scores = scores.masked_fill(blocked, MASK_VALUE)
    weights = Softmax().forward(scores, dim=-1)
    return weights.matmul(v), weights


class MultiHeadAttention:
    def __init__(self, embed_dim, num_heads):
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj, self.k_proj = (
            Linear(embed_dim, embed_dim),
            Linear(embed_dim, embed_dim),
        )
        self.v_proj, self.out_proj = (
            Linear(embed_dim, embed_dim),
            Linear(embed_dim, embed_dim),
        )

    def _split_heads(self, x):
        shape = (*x.shape[:2], self.num_heads, self.head_dim)
        return x.reshape(*shape).transpose(1, 2)

    def forward(self, x, mask=None):
        projections = (self.q_proj, self.k_proj, self.v_proj)
        q, k, v = (self._split_heads(p.forward(x)) for p in projections)
        out, _ = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj.forward(out.transpose(1, 2).reshape(*x.shape))

    def parameters(self):
        layers = (self.q_proj, self.k_proj, self.v_proj, self.out_proj)
        return [p for layer in layers for p in layer.parameters()]


class MLP:
    def __init__(self, embed_dim, hidden_dim=None):
        hidden = hidden_dim or 4 * embed_dim
        self.linear1, self.linear2 = (
            Linear(embed_dim, hidden),
            Linear(hidden, embed_dim),
        )
        self.gelu = GELU()

    def forward(self, x):
        return self.linear2.forward(self.gelu.forward(self.linear1.forward(x)))

    def parameters(self):
        return self.linear1.parameters() + self.linear2.parameters()


class TransformerBlock:
    def __init__(self, embed_dim, num_heads):
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.ln1, self.ln2, self.mlp = (
            LayerNorm(embed_dim),
            LayerNorm(embed_dim),
            MLP(embed_dim),
        )

    def forward(self, x, mask=None):
        x = x + self.attention.forward(self.ln1.forward(x), mask)
        return x + self.mlp.forward(self.ln2.forward(x))

    def parameters(self):
        layers = (self.attention, self.ln1, self.ln2, self.mlp)
        return [p for layer in layers for p in layer.parameters()]


class GPT:
    def __init__(self, vocab_size, embed_dim, num_layers, num_heads, max_seq_len=1024):
        self.embedding_layer = EmbeddingLayer(vocab_size, embed_dim, max_seq_len)
        self.blocks = [
            TransformerBlock(embed_dim, num_heads) for _ in range(num_layers)
        ]
        self.ln_f = LayerNorm(embed_dim)
        self.lm_head = Linear(embed_dim, vocab_size, bias=False)

    def forward(self, tokens):
        x = self.embedding_layer.forward(tokens)
        mask = create_causal_mask(tokens.shape[1])
        for block in self.blocks:
            x = block.forward(x, mask)
        return self.lm_head.forward(self.ln_f.forward(x))

    def parameters(self):
        layers = (self.embedding_layer, *self.blocks, self.ln_f, self.lm_head)
        return [p for layer in layers for p in layer.parameters()]
