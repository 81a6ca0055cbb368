"""Programs that may be fused, and the same ones with something that forbids it.

Each is a function of device arrays. TinyTorch's own NumPy code is what stands in its
`Function` classes; what they have no class for is written as a learner would.
"""

import numpy as np

from tinytorch_gpu.tinytorch.activations import GELUFunction, SoftmaxFunction
from tinytorch_gpu.tinytorch.transformers import LayerNormFunction


def gelu(x):
    return GELUFunction().forward(x)


def short_gelu(x):
    return x / (np.exp(-1.702 * x) + 1.0)


def softmax(x):
    return SoftmaxFunction().forward(x)


def layer_norm(x, gamma, beta):
    return LayerNormFunction(eps=1e-5).forward(x, gamma, beta)


def bias_relu(x, bias):
    return np.maximum(x + bias, 0.0)


def adam(param, grad, m, v, lr, rest1, rest2):
    m = 0.9 * m + 0.1 * grad
    v = 0.999 * v + 0.001 * (grad * grad)
    return param - lr * (m / rest1) / (np.sqrt(v / rest2) + 1e-8), m, v


def residual(x, weight, bias):
    return x + np.maximum(x @ weight + bias, 0.0)


def residual_end(x, product, bias):
    return x + np.maximum(product + bias, 0.0)


def sgd(params, grads, speeds, lr, momentum):
    speeds = [
        momentum * speed + grad for speed, grad in zip(speeds, grads, strict=True)
    ]
    return [p - lr * speed for p, speed in zip(params, speeds, strict=True)], speeds


def square_sum(x):
    return np.sum(x * x, axis=-1)


def masked(x, y):
    return np.where(x > y, x * y, 0.0)


def two_roots(x):
    return np.exp(x), np.tanh(x)


def in_place(x, y):
    x += y * 2.0
    x *= 0.5
    return x


def halves(x):
    return x[:, ::2] * 2.0 + x[:, 1::2]


def normal(x, mean, scale):
    rows = np.sum(x - mean, axis=-1, keepdims=True)
    return (x - rows) * scale


def of_rows(x, shift):
    total = np.sum(x, axis=-1)
    return total * 2.0 + shift


def softmax_and_log(x):
    powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
    total = np.sum(powers, axis=-1, keepdims=True)
    return powers / total, np.log(total)


# What forbids it.


def gelu_with_host(x):
    y = -1.702 * x
    largest = float(np.max(y))
    return y / largest + 1.0


def gelu_with_consumer(x):
    y = np.exp(-x)
    return y + y @ y


def gelu_in_other_order(x):
    y = np.exp(-x)
    return y.T * 2.0


def gelu_on_shifted(x):
    np.add(x[1:] * 2.0, x[:-1], out=x[1:])
    return x


def softmax_over_columns(x):
    powers = np.exp(x)
    return powers / np.sum(powers, axis=0, keepdims=True)


def layer_norm_over_all(x):
    centred = x - np.mean(x)
    return centred * 2.0


def bias_of_rows(x, bias):
    return x + bias * 2.0


def adam_with_host(param, grad, m):
    m = 0.9 * m + 0.1 * grad
    norm = float(np.sum(m))
    return param - 0.1 * m / norm


def residual_with_consumer(x, weight):
    h = np.maximum(x, 0.0)
    return x + (h @ weight) * h


def leaves_of(result):
    """Copy the arrays of a result to the host, one after another."""
    parts = result if isinstance(result, (list, tuple)) else [result]
    return [part.copy_to_host() for part in parts]
