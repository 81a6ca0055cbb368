"""Convolution, pooling and batch norm in generation B's form: a Function with `layer`.

Written for these tests, after the contract: the package's own loops run in `forward` and
`backward`, so that simgpu is compared with plain NumPy.
"""

import numpy as np
from standin_b.core.tensor import Function, Tensor


def windows(layer, height, width):
    """Yield each output place with the slices of its window."""
    (kh, kw), s = layer.kernel_size, layer.stride
    s = s if isinstance(s, int) else s[0]
    for i in range((height - kh) // s + 1):
        for j in range((width - kw) // s + 1):
            yield i, j, slice(i * s, i * s + kh), slice(j * s, j * s + kw)


def padded(x, n):
    """Return x with a border of n zeros."""
    return np.pad(x, ((0, 0), (0, 0), (n, n), (n, n)))


class Conv2dFunction(Function):
    def forward(self, x, weight, bias=None):
        layer, x = self.layer, padded(x, self.layer.padding)
        places = list(windows(layer, *x.shape[2:]))
        out = np.zeros(
            (x.shape[0], weight.shape[0], places[-1][0] + 1, places[-1][1] + 1)
        )
        for i, j, rows, columns in places:
            patch = x[:, None, :, rows, columns]
            out[:, :, i, j] = np.sum(patch * weight[None], axis=(2, 3, 4))
        return out if bias is None else out + bias.reshape(1, -1, 1, 1)

    def backward(self, grad):
        x, weight = (t.data for t in self.inputs[:2])
        n = self.layer.padding
        x = padded(x, n)
        by_x, by_weight = np.zeros(x.shape), np.zeros(weight.shape)
        for i, j, rows, columns in windows(self.layer, *x.shape[2:]):
            one = grad[:, :, i, j][:, :, None, None, None]
            by_weight += (one * x[:, None, :, rows, columns]).sum(axis=0)
            by_x[:, :, rows, columns] += (one * weight[None]).sum(axis=1)
        by_x = by_x[:, :, n : by_x.shape[2] - n, n : by_x.shape[3] - n]
        return (by_x, by_weight, grad.sum(axis=(0, 2, 3)))[: len(self.inputs)]


class MaxPool2dFunction(Function):
    def forward(self, x):
        places = list(windows(self.layer, *x.shape[2:]))
        out = np.zeros((*x.shape[:2], places[-1][0] + 1, places[-1][1] + 1))
        for i, j, rows, columns in places:
            out[:, :, i, j] = x[:, :, rows, columns].max(axis=(2, 3))
        return out

    def backward(self, grad):
        x = self.inputs[0].data
        by_x = np.zeros(x.shape)
        for i, j, rows, columns in windows(self.layer, *x.shape[2:]):
            patch = x[:, :, rows, columns]
            flat = patch.reshape(*x.shape[:2], -1)
            first = np.eye(flat.shape[2])[flat.argmax(axis=2)].reshape(patch.shape)
            by_x[:, :, rows, columns] += first * grad[:, :, i, j][:, :, None, None]
        return (by_x,)


class AvgPool2dFunction(Function):
    def forward(self, x):
        places = list(windows(self.layer, *x.shape[2:]))
        out = np.zeros((*x.shape[:2], places[-1][0] + 1, places[-1][1] + 1))
        for i, j, rows, columns in places:
            out[:, :, i, j] = x[:, :, rows, columns].mean(axis=(2, 3))
        return out

    def backward(self, grad):
        by_x = np.zeros(self.inputs[0].data.shape)
        kh, kw = self.layer.kernel_size
        for i, j, rows, columns in windows(self.layer, *by_x.shape[2:]):
            by_x[:, :, rows, columns] += grad[:, :, i, j][:, :, None, None] / (kh * kw)
        return (by_x,)


class BatchNorm2dFunction(Function):
    def forward(self, x, gamma, beta):
        x, gamma, beta = np.asarray(x), np.asarray(gamma), np.asarray(beta)
        mean, var = (v.reshape(1, -1, 1, 1) for v in (self.mean, self.var))
        self.inv_std = 1.0 / np.sqrt(var + self.eps)
        self.normalized_data = (x - mean) * self.inv_std
        return gamma.reshape(1, -1, 1, 1) * self.normalized_data + beta.reshape(
            1, -1, 1, 1
        )

    def backward(self, grad):
        axes, hat = (0, 2, 3), self.normalized_data
        scaled = grad * self.inputs[1].data.reshape(1, -1, 1, 1)
        if self.training:
            mean = scaled.mean(axis=axes, keepdims=True)
            slope = (scaled * hat).mean(axis=axes, keepdims=True)
            scaled = scaled - mean - hat * slope
        by_gamma, by_beta = (grad * hat).sum(axis=axes), grad.sum(axis=axes)
        return scaled * self.inv_std, by_gamma, by_beta


class Conv2d:
    def __init__(self, inputs, outputs, kernel_size, stride=1, padding=0, bias=True):
        self.kernel_size, self.stride, self.padding = (
            (kernel_size,) * 2,
            stride,
            padding,
        )
        rng = np.random.default_rng(7)
        size = (outputs, inputs, *self.kernel_size)
        self.weight = Tensor(rng.normal(size=size), requires_grad=True)
        self.bias = Tensor(np.zeros(outputs), requires_grad=True) if bias else None

    def forward(self, x):
        return Conv2dFunction.apply(x, *self.parameters(), layer=self)

    def parameters(self):
        return [self.weight] if self.bias is None else [self.weight, self.bias]


class MaxPool2d:
    function = MaxPool2dFunction

    def __init__(self, kernel_size, stride=None):
        self.kernel_size, self.padding = (kernel_size,) * 2, 0
        self.stride = (stride or kernel_size,) * 2

    def forward(self, x):
        return self.function.apply(x, layer=self)

    def parameters(self):
        return []


class AvgPool2d(MaxPool2d):
    function = AvgPool2dFunction


class BatchNorm2d:
    def __init__(self, num_features, eps=1e-5, momentum=0.1):
        self.eps, self.momentum, self.training = eps, momentum, True
        self.gamma = Tensor(np.ones(num_features), requires_grad=True)
        self.beta = Tensor(np.zeros(num_features), requires_grad=True)
        self.running_mean, self.running_var = (
            np.zeros(num_features),
            np.ones(num_features),
        )

    def eval(self):
        self.training = False
        return self

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = np.mean(x.data, axis=(0, 2, 3)), np.var(x.data, axis=(0, 2, 3))
            old, new = 1 - self.momentum, self.momentum
            self.running_mean = old * self.running_mean + new * mean
            self.running_var = old * self.running_var + new * var
        values = {"mean": mean, "var": var, "eps": self.eps, "training": self.training}
        return BatchNorm2dFunction.apply(x, self.gamma, self.beta, **values)

    def parameters(self):
        return [self.gamma, self.beta]
