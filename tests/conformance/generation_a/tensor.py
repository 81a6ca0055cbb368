"""Generation A's Tensor before autograd; written for these tests, after the contract."""

import numpy as np


class Tensor:
    def __init__(self, data):
        self.data = np.array(data, dtype=np.float32)
        self.shape, self.size = self.data.shape, self.data.size
        self.dtype = self.data.dtype

    def __repr__(self):
        return f"Tensor({self.data})"

    def numpy(self):
        return self.data

    def __add__(self, other):
        return Tensor(self.data + (other.data if isinstance(other, Tensor) else other))

    def __sub__(self, other):
        return Tensor(self.data - (other.data if isinstance(other, Tensor) else other))

    def __mul__(self, other):
        return Tensor(self.data * (other.data if isinstance(other, Tensor) else other))

    def __truediv__(self, other):
        return Tensor(self.data / (other.data if isinstance(other, Tensor) else other))

    def matmul(self, other):
        a, b = self.data, other.data
        if len(a.shape) != 2 or len(b.shape) != 2:
            return Tensor(np.matmul(a, b))
        if a.shape[1] != b.shape[0]:
            raise ValueError(
                f"Inner dimensions don't match: {a.shape[1]} vs {b.shape[0]}"
            )
        out = np.zeros((a.shape[0], b.shape[1]))
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                out[i, j] = np.dot(a[i, :], b[:, j])
        return Tensor(out)

    def __getitem__(self, key):
        return Tensor(self.data[key])

    def reshape(self, *shape):
        shape = shape[0] if isinstance(shape[0], tuple) else shape
        return Tensor(np.reshape(self.data, shape))

    def transpose(self, dim0=None, dim1=None):
        axes = list(range(len(self.shape)))
        i, j = (-2, -1) if dim0 is None else (dim0, dim1)
        axes[i], axes[j] = axes[j], axes[i]
        return Tensor(np.transpose(self.data, axes))

    def sum(self, axis=None, keepdims=False):
        return Tensor(np.sum(self.data, axis=axis, keepdims=keepdims))

    def mean(self, axis=None, keepdims=False):
        return Tensor(np.mean(self.data, axis=axis, keepdims=keepdims))
