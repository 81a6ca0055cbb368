"""Generation A's layers, one of them a convolution with a node; for these tests."""

import numpy as np
from standin_a.core.autograd import Conv2dBackward, EmbeddingBackward
from standin_a.core.tensor import Tensor


def takes_training(layer):
    return isinstance(layer, Dropout)


class Layer:
    def __call__(self, x, *args, **options):
        return self.forward(x, *args, **options)

    def parameters(self):
        return []


class Linear(Layer):
    def __init__(self, in_features, out_features, bias=True):
        rng = np.random.default_rng(7)
        self.weight = Tensor(rng.normal(size=(in_features, out_features)))
        self.bias = Tensor(np.zeros(out_features)) if bias else None

    def forward(self, x):
        out = x.matmul(self.weight)
        return out if self.bias is None else out + self.bias

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]


class Dropout(Layer):
    def __init__(self, p=0.5):
        self.p, self.rng = p, np.random.default_rng(7)

    def forward(self, x, training=True):
        if not training or self.p == 0:
            return x
        if self.p == 1:
            return Tensor(np.zeros(x.shape))
        return x * Tensor((self.rng.random(x.shape) >= self.p) / (1 - self.p))


class Conv2d(Layer):
    def __init__(self, inputs, outputs, kernel_size, stride=1, padding=0, bias=True):
        self.kernel_size, self.stride, self.padding = (
            (kernel_size,) * 2,
            stride,
            padding,
        )
        size = (outputs, inputs, *self.kernel_size)
        self.weight = Tensor(np.random.default_rng(7).normal(size=size))
        self.bias = Tensor(np.zeros(outputs)) if bias else None

    def forward(self, x):
        n, s, (kh, kw) = self.padding, self.stride, self.kernel_size
        data = np.pad(x.data, ((0, 0), (0, 0), (n, n), (n, n)))
        size = [
            (length - k) // s + 1
            for length, k in zip(data.shape[2:], (kh, kw), strict=True)
        ]
        out = np.zeros((data.shape[0], self.weight.shape[0], *size))
        for i in range(size[0]):
            for j in range(size[1]):
                patch = data[:, None, :, i * s : i * s + kh, j * s : j * s + kw]
                out[:, :, i, j] = np.sum(patch * self.weight.data[None], axis=(2, 3, 4))
        if self.bias is not None:
            out += self.bias.data.reshape(1, -1, 1, 1)
        result = Tensor(out)
        if x.requires_grad or self.weight.requires_grad:
            result.requires_grad = True
            result._grad_fn = Conv2dBackward(
                x, self.weight, self.bias, s, n, self.kernel_size, data.shape
            )
        return result

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]


class Embedding(Layer):
    def __init__(self, vocab_size, embed_dim):
        rng = np.random.default_rng(7)
        self.weight = Tensor(rng.normal(size=(vocab_size, embed_dim)))

    def forward(self, indices):
        result = Tensor(self.weight.data[indices.data.astype(int)])
        if self.weight.requires_grad:
            result.requires_grad = True
            result._grad_fn = EmbeddingBackward(self.weight, indices)
        return result

    def parameters(self):
        return [self.weight]
