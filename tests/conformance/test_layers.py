"""Every layer: output, and gradients by input and parameters, equal the CPU's."""

import copy

import numpy as np
import pytest

from tests.conformance.package import host, same
from tinytorch_gpu.errors import (
    DeviceMismatchError,
    MissingKernelError,
    UnsupportedError,
)
from tinytorch_gpu.integration import move_model

RNG = np.random.default_rng(11)
ROWS = RNG.normal(size=(6, 4)).astype(np.float32)
IMAGES = RNG.normal(size=(2, 3, 6, 6)).astype(np.float32)
TOKENS = RNG.integers(0, 9, (2, 5)).astype(np.float32)
WORDS = RNG.normal(size=(2, 5, 8)).astype(np.float32)


def mlp(get):
    parts = get("Linear")(4, 8), get("ReLU")(), get("Linear")(8, 3)
    return get("Sequential")(*parts)


LAYERS = {
    "Linear": (lambda get: get("Linear")(4, 3), ROWS),
    "Linear without bias": (lambda get: get("Linear")(4, 3, bias=False), ROWS),
    "Sequential": (mlp, ROWS),
    "Dropout p=0": (lambda get: get("Dropout")(0.0), ROWS),
    "Dropout p=1": (lambda get: get("Dropout")(1.0), ROWS),
    "Conv2d": (lambda get: get("Conv2d")(3, 4, 3), IMAGES),
    "Conv2d padding": (lambda get: get("Conv2d")(3, 4, 3, padding=1), IMAGES),
    "Conv2d stride": (lambda get: get("Conv2d")(3, 2, 2, stride=2), IMAGES),
    "Conv2d no bias": (lambda get: get("Conv2d")(3, 2, 3, bias=False), IMAGES),
    "MaxPool2d": (lambda get: get("MaxPool2d")(2), IMAGES),
    "MaxPool2d overlap": (lambda get: get("MaxPool2d")(3, stride=1), IMAGES),
    "AvgPool2d": (lambda get: get("AvgPool2d")(2), IMAGES),
    "BatchNorm2d": (lambda get: get("BatchNorm2d")(3), IMAGES),
    "BatchNorm2d eval": (lambda get: get("BatchNorm2d")(3).eval(), IMAGES),
    "Embedding": (lambda get: get("Embedding")(9, 8), TOKENS),
    "PositionalEncoding": (lambda get: get("PositionalEncoding")(7, 8), WORDS),
    "EmbeddingLayer": (lambda get: get("EmbeddingLayer")(9, 8, 7), TOKENS),
    "EmbeddingLayer sinusoidal": (
        lambda get: get("EmbeddingLayer")(9, 8, 7, pos_encoding="sinusoidal"),
        TOKENS,
    ),
    "LayerNorm": (lambda get: get("LayerNorm")(8), WORDS),
    "MLP": (lambda get: get("MLP")(8), WORDS),
    "MultiHeadAttention": (lambda get: get("MultiHeadAttention")(8, 2), WORDS),
    "TransformerBlock": (lambda get: get("TransformerBlock")(8, 2), WORDS),
    "GPT": (lambda get: get("GPT")(9, 8, 1, 2, 7), TOKENS),
}


def outcome(package, layer, values, device):
    """Return the output, the gradient by the input, and those by the parameters."""
    layer = move_model(copy.deepcopy(layer), device)
    x = package.leaf(values, device)
    out = layer.forward(x)
    for parameter in layer.parameters():
        assert parameter.device == x.device
    weights = package.plain(np.linspace(-1, 2, out.size), device).reshape(out.shape)
    (out * weights).sum().backward()
    grads = [getattr(t, "grad", None) for t in (x, *layer.parameters())]
    return host(out), [None if g is None else host(g) for g in grads], out.device


@pytest.mark.parametrize("name", LAYERS)
def test_layer(package, name):
    make, values = LAYERS[name]
    try:
        layer = make(package.get)
        for parameter in layer.parameters():
            parameter.requires_grad, parameter.grad = True, None
        expected, grads, _ = outcome(package, layer, values, "cpu")
    except Exception as error:
        if package.is_complete:
            raise
        pytest.skip(f"the package itself raises on the CPU: {error!r:.200}")
    try:
        got, got_grads, where = outcome(package, layer, values, "simgpu")
    except (MissingKernelError, UnsupportedError) as error:
        pytest.xfail(f"no kernel yet: {error!s:.300}")
    except DeviceMismatchError as error:
        pytest.xfail(f"its code makes bare host arrays: {error!s:.300}")
    assert where == "simgpu:0"
    same(got, expected)
    for mine, theirs in zip(got_grads, grads, strict=True):
        assert (mine is None) == (theirs is None)
        if theirs is not None:
            same(mine, theirs)


def test_dropout_drops_on_the_device_and_scales(package):
    x = package.plain(np.ones((40, 50)), "simgpu")
    out = package.get("Dropout")(0.25)(x)
    assert out.device == "simgpu:0"
    kept = host(out)
    assert set(np.unique(kept)) <= {np.float32(0.0), np.float32(1 / 0.75)}
    assert 0.65 < (kept > 0).mean() < 0.85


def test_buffers_move_with_their_layer(package):
    layer = package.get("BatchNorm2d")(3)
    move_model(layer, "simgpu")
    assert layer.running_mean.device == "simgpu:0"
    move_model(layer, "cpu")
    assert isinstance(layer.running_mean, np.ndarray)


@pytest.mark.parametrize("wrong", [9.0, -1.0, 1.5])
def test_a_token_that_is_no_row_is_refused_where_the_cpu_refuses_it(package, wrong):
    layer = package.get("Embedding")(9, 8)
    tokens = TOKENS.copy()
    tokens[1, 2] = wrong
    try:
        layer.forward(package.plain(tokens))
    except (IndexError, ValueError):
        pass
    else:
        pytest.skip("the package itself takes it on the CPU")
    move_model(layer, "simgpu")
    with pytest.raises((IndexError, ValueError), match=r"row|range|vocab|integers"):
        layer.forward(package.plain(tokens, "simgpu"))
