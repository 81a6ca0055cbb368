"""Gradients on simgpu against finite differences in float64 of the formula itself."""

import numpy as np
import pytest

from tests.conformance.package import host

RNG = np.random.default_rng(17)
X = RNG.uniform(0.3, 1.5, (3, 4))
W = RNG.uniform(-1, 1, (4, 2))
STEP = 1e-5


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# The Tensor's program, and the same formula in NumPy float64.
CASES = {
    "mul": (lambda p, x: x * x, lambda x: x * x),
    "div": (lambda p, x: x / (x * x + 1.0), lambda x: x / (x * x + 1)),
    "matmul": (lambda p, x: x.matmul(p.plain(W, x.device)), lambda x: x @ W),
    "sigmoid": (lambda p, x: p.get("Sigmoid")()(x), sigmoid),
    "relu": (lambda p, x: p.get("ReLU")()(x), lambda x: np.maximum(x, 0)),
    "softmax": (lambda p, x: p.get("Softmax")()(x), softmax),
    "slice": (lambda p, x: x[1:, :2] * 3.0, lambda x: x[1:, :2] * 3),
    "reshape": (lambda p, x: x.reshape(4, 3), lambda x: x.reshape(4, 3)),
    "transpose": (lambda p, x: x.transpose(), lambda x: x.T),
}


def slopes(formula, x):
    """Return the central differences of the weighted sum of a formula."""
    found = np.empty_like(x)
    weights = np.linspace(-1, 2, formula(x).size).reshape(formula(x).shape)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += STEP
        down[index] -= STEP
        change = (formula(up) * weights).sum() - (formula(down) * weights).sum()
        found[index] = change / (2 * STEP)
    return found


@pytest.mark.parametrize("name", CASES)
def test_gradient(package, name):
    program, formula = CASES[name]
    x = package.leaf(X, "simgpu")
    out = program(package, x)
    weights = package.plain(np.linspace(-1, 2, out.size), "simgpu").reshape(out.shape)
    (out * weights).sum().backward()
    np.testing.assert_allclose(host(x.grad), slopes(formula, X), rtol=2e-4, atol=2e-5)
