"""Gradients on simgpu against finite differences in float64 of the formula itself.

Each case is a program on Tensors and the same in NumPy. The gradient by every operand,
weights and biases among them, is compared element by element.
"""

import numpy as np
import pytest

from tests.conformance.package import host
from tinytorch_gpu.integration import move_model

RNG = np.random.default_rng(17)
X = RNG.uniform(0.3, 1.5, (3, 4))
SIGNED = RNG.uniform(0.2, 2.0, (3, 4)) * np.where(RNG.random((3, 4)) > 0.5, 1, -1)
Y = RNG.uniform(-1, 1, (3, 4))
W = RNG.uniform(-1, 1, (4, 2))
B = RNG.uniform(-1, 1, 2)
IMAGES = RNG.permutation(2 * 2 * 5 * 5).reshape(2, 2, 5, 5) / 25 - 2  # no two are equal
FILTERS = RNG.uniform(-1, 1, (3, 2, 3, 3))
WORDS = RNG.uniform(-1, 1, (2, 3, 4))
TABLE = RNG.uniform(-1, 1, (5, 4))
TOKENS = np.array([[1.0, 4.0, 1.0], [0.0, 2.0, 1.0]])
GAMMA, BETA = RNG.uniform(0.5, 1.5, 4), RNG.uniform(-1, 1, 4)
LABELS = np.array([2.0, 0.0, 3.0])
CHANCES, BITS = RNG.uniform(0.1, 0.9, (3, 4)), RNG.integers(0, 2, (3, 4)) * 1.0
PROJECTIONS = [part for _ in range(4) for part in (RNG.normal(size=(4, 4)), GAMMA)]
STEP = 1e-5


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(x):
    return np.log(softmax(x))


def cross_entropy(x):
    return -np.mean(log_softmax(x)[np.arange(3), LABELS.astype(int)])


def windows(x, size, stride=1, padding=0, fill=0.0):
    border = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    x = np.pad(x, border, constant_values=fill)
    views = np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))
    return views[:, :, ::stride, ::stride]


def conv(x, weight, bias, stride=1, padding=0):
    taken = windows(x, 3, stride, padding)
    return np.einsum("ncijkl,ockl->noij", taken, weight) + bias[:, None, None]


def layer_norm(x, gamma, beta, axes=(-1,)):
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt(x.var(axes, keepdims=True) + 1e-5) * gamma + beta


def batch_norm(x, gamma, beta):
    gamma, beta = gamma[:, None, None], beta[:, None, None]
    return layer_norm(x, gamma, beta, (0, 2, 3))


def attention(x, *projections):
    q, k, v = (
        (x @ w + b).reshape(2, 3, 2, 2).swapaxes(1, 2)
        for w, b in zip(projections[:6:2], projections[1:6:2], strict=True)
    )
    out = softmax(q @ k.swapaxes(-2, -1) / np.sqrt(2)) @ v
    return out.swapaxes(1, 2).reshape(2, 3, 4) @ projections[6] + projections[7]


def layer(name, *arguments, names=(), parts=(None,), **options):
    """Return a program that makes a layer, gives it its parameters and calls it."""

    def program(p, x, *values):
        made = p.get(name)(*arguments, **options)
        places = [(getattr(made, part) if part else made) for part in parts]
        given = iter(values)
        for place in places:
            for attribute in names:
                setattr(place, attribute, next(given))
        return move_model(made, x.device).forward(x)

    return program


def loss(name, targets):
    return lambda p, x: p.get(name)().forward(x, p.plain(targets, x.device))


def embedded(p, weight):
    made = p.get("Embedding")(5, 4)
    made.weight = weight
    return made.forward(p.plain(TOKENS, weight.device))


PLAIN = ("weight", "bias")
NORM = ("gamma", "beta")
HEADS = ("q_proj", "k_proj", "v_proj", "out_proj")
# The Tensors' program, the same formula in NumPy float64, and the operands.
CASES = {
    "add": (lambda p, x, y: x + y, np.add, X, Y[0]),
    "sub": (lambda p, x, y: x - y, np.subtract, X, Y[:, :1]),
    "mul": (lambda p, x: x * x, lambda x: x * x, X),
    "mul two": (lambda p, x, y: x * y, np.multiply, X, Y[0]),
    "div": (lambda p, x: x / (x * x + 1.0), lambda x: x / (x * x + 1), X),
    "div two": (lambda p, y, x: y / x, np.divide, Y, X),
    "matmul": (lambda p, x, w: x.matmul(w), np.matmul, X, W),
    "sigmoid": (lambda p, x: p.get("Sigmoid")().forward(x), sigmoid, SIGNED),
    "relu": (lambda p, x: p.get("ReLU")().forward(x), lambda x: x * (x > 0), SIGNED),
    "tanh": (lambda p, x: p.get("Tanh")().forward(x), np.tanh, SIGNED),
    "gelu": (
        lambda p, x: p.get("GELU")().forward(x),
        lambda x: x * sigmoid(1.702 * x),
        SIGNED,
    ),
    "softmax": (lambda p, x: p.get("Softmax")().forward(x), softmax, SIGNED),
    "softmax dim 0": (
        lambda p, x: p.get("Softmax")().forward(x, dim=0),
        lambda x: softmax(x.T).T,
        SIGNED,
    ),
    "log_softmax": (lambda p, x: p.get("log_softmax")(x), log_softmax, SIGNED),
    "slice": (lambda p, x: x[1:, :2] * 3.0, lambda x: x[1:, :2] * 3, X),
    "reshape": (lambda p, x: x.reshape(4, 3), lambda x: x.reshape(4, 3), X),
    "transpose": (lambda p, x: x.transpose(), lambda x: x.T, X),
    "sum": (lambda p, x: x.sum(), np.sum, X),
    "sum axis": (lambda p, x: x.sum(axis=0), lambda x: x.sum(0), X),
    "mean": (lambda p, x: x.mean(), np.mean, X),
    "mean axis": (
        lambda p, x: x.mean(axis=1, keepdims=True),
        lambda x: x.mean(1, keepdims=True),
        X,
    ),
    "max": (lambda p, x: x.max(), np.max, X),
    "max axis": (lambda p, x: x.max(axis=1), lambda x: x.max(1), X),
    "MSELoss": (loss("MSELoss", Y), lambda x: np.mean((x - Y) ** 2), X),
    "BinaryCrossEntropyLoss": (
        loss("BinaryCrossEntropyLoss", BITS),
        lambda p: -np.mean(BITS * np.log(p) + (1 - BITS) * np.log(1 - p)),
        CHANCES,
    ),
    "CrossEntropyLoss": (loss("CrossEntropyLoss", LABELS), cross_entropy, SIGNED),
    "Linear": (
        layer("Linear", 4, 2, names=PLAIN),
        lambda x, w, b: x @ w + b,
        X,
        W,
        B,
    ),
    "Conv2d": (layer("Conv2d", 2, 3, 3, names=PLAIN), conv, IMAGES, FILTERS, GAMMA[:3]),
    "Conv2d stride and padding": (
        layer("Conv2d", 2, 3, 3, stride=2, padding=1, names=PLAIN),
        lambda x, w, b: conv(x, w, b, 2, 1),
        IMAGES,
        FILTERS,
        GAMMA[:3],
    ),
    "MaxPool2d": (
        layer("MaxPool2d", 2),
        lambda x: windows(x, 2, 2).max((4, 5)),
        IMAGES,
    ),
    "MaxPool2d overlapping": (
        layer("MaxPool2d", 3, stride=1),
        lambda x: windows(x, 3).max((4, 5)),
        IMAGES,
    ),
    "AvgPool2d": (
        layer("AvgPool2d", 2),
        lambda x: windows(x, 2, 2).mean((4, 5)),
        IMAGES,
    ),
    "BatchNorm2d": (
        layer("BatchNorm2d", 2, names=NORM),
        batch_norm,
        IMAGES,
        GAMMA[:2],
        BETA[:2],
    ),
    "LayerNorm": (layer("LayerNorm", 4, names=NORM), layer_norm, WORDS, GAMMA, BETA),
    "Embedding": (embedded, lambda w: w[TOKENS.astype(int)], TABLE),
    "MultiHeadAttention": (
        layer("MultiHeadAttention", 4, 2, names=PLAIN, parts=HEADS),
        attention,
        WORDS,
        *PROJECTIONS,
    ),
}


def slopes(formula, operands, place):
    """Return the central differences of the weighted sum of a formula."""
    out = np.asarray(formula(*operands))
    weights, found = weights_of(out.shape), np.empty(operands[place].shape)
    for index in np.ndindex(found.shape):
        up, down = ([np.array(o) for o in operands] for _ in range(2))
        up[place][index] += STEP
        down[place][index] -= STEP
        change = ((formula(*up) - formula(*down)) * weights).sum()
        found[index] = change / (2 * STEP)
    return found


def weights_of(shape):
    return np.linspace(-1, 2, int(np.prod(shape)) or 1).reshape(shape)


def gradients(package, program, operands, device):
    """Return the gradient by each operand, on the host."""
    leaves = [package.leaf(operand, device) for operand in operands]
    out = program(package, *leaves)
    (out * package.plain(weights_of(out.shape), device)).sum().backward()
    if any(leaf.grad is None for leaf in leaves):
        raise ValueError("an operand has no gradient")
    return [host(leaf.grad) for leaf in leaves]


def check(grads, formula, operands):
    for place, grad in enumerate(grads):
        expected = slopes(formula, operands, place)
        np.testing.assert_allclose(grad, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", CASES)
def test_gradient(package, name):
    program, formula, *operands = CASES[name]
    if not package.is_complete:
        try:  # what the package has wrong on the CPU is no business of the device
            check(gradients(package, program, operands, "cpu"), formula, operands)
        except (AssertionError, AttributeError, TypeError, ValueError) as error:
            pytest.skip(f"not so on the CPU: {str(error).strip()!r:.200}")
    check(gradients(package, program, operands, "simgpu"), formula, operands)
