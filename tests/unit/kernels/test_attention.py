"""Attention, fused and decomposed, against NumPy in float64; gradients by differences."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError, UnsupportedError
from tinytorch_gpu.kernels.attention import (
    VERSIONS,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)

NAMES = [version.name for version in VERSIONS]
SHAPES = [((), 5, 7), ((2, 3), 4, 4), ((1,), 1, 1), ((2,), 3, 130)]


def reference(q, k, v, mask, scale=None):
    scale = 1 / np.sqrt(q.shape[-1]) if scale is None else scale
    scores = np.where(mask, q @ k.swapaxes(-1, -2) * scale, -1e300)
    weights = np.exp(scores - scores.max(-1, keepdims=True)) * mask
    return weights @ v / np.maximum(weights.sum(-1, keepdims=True), 1e-300)


@pytest.fixture
def operands(pair):
    def make(batch, queries, keys, dtype="float32"):
        shapes = [(queries, 4), (keys, 4), (keys, 3)]
        arrays = [pair((*batch, *s), dtype, seed=i) for i, s in enumerate(shapes)]
        mask = np.random.default_rng(0).random((queries, keys)) < 0.7
        mask[0] = queries == 1  # a query without keys, when there are others
        hosts, devices = zip(*arrays, strict=True)
        return [h.astype("f8") for h in hosts], mask, devices, cuda.to_device(mask)

    return make


@pytest.mark.parametrize("version", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values(shape, dtype, version, operands, close):
    hosts, seen, devices, mask = operands(*shape, dtype)
    out = scaled_dot_product_attention(*devices, mask, version=version)
    close(out, reference(*hosts, seen), dtype, 1e-5)
    out = scaled_dot_product_attention(*devices, scale=0.1, version=version)
    close(out, reference(*hosts, np.ones_like(seen), 0.1), dtype, 1e-5)


@pytest.mark.parametrize("shape", SHAPES[:3], ids=str)
def test_gradients(shape, operands, pair, close, slope):
    hosts, seen, devices, mask = operands(*shape, "float64")
    g, grad = pair(reference(*hosts, seen).shape, "float64", seed=9)
    results = scaled_dot_product_attention_backward(grad, *devices, mask)
    for i, result in enumerate(results):

        def value(x, i=i):
            return reference(*hosts[:i], x, *hosts[i + 1 :], seen)

        close(result, slope(value, hosts[i], g), "f8", 1e-7)


def test_a_float_mask_broadcasts_over_heads(operands, close):
    hosts, seen, devices, _ = operands((2, 3), 4, 4)
    mask = cuda.to_device(seen.astype(np.float32).reshape(1, 4, 4))
    for version in NAMES:
        out = scaled_dot_product_attention(*devices, mask, version=version)
        close(out, reference(*hosts, seen), None, 1e-5)


def test_fused_is_one_launch_and_decomposed_several(operands, launches):
    _, _, devices, mask = operands((2,), 8, 8)

    def count(version):
        return len(
            launches(
                lambda: scaled_dot_product_attention(*devices, mask, version=version)
            )
        )

    assert count("fused") == 1
    assert count("decomposed") == 6


def test_more_keys_than_shared_memory_holds_are_decomposed(operands, close, launches):
    hosts, seen, devices, _ = operands((), 2, 1025)
    results = []
    records = launches(lambda: results.append(scaled_dot_product_attention(*devices)))
    close(results[0], reference(*hosts, np.ones_like(seen)), None, 1e-5)
    assert len(records) > 1


def test_no_keys_give_zeros(close):
    q = cuda.device_array((2, 4), np.float32)
    k = cuda.device_array((0, 4), np.float32)
    close(scaled_dot_product_attention(q, k, k), np.zeros((2, 4)))


@pytest.mark.parametrize("shape", [((2,), 5, 7), ((), 3, 40)], ids=str)
def test_nothing_for_the_sanitizer_to_name(shape, operands, clean):
    _, _, devices, mask = operands(*shape)
    for version in NAMES:
        clean(lambda v=version: scaled_dot_product_attention(*devices, mask, version=v))
    out = scaled_dot_product_attention(*devices, mask)
    clean(lambda: scaled_dot_product_attention_backward(out, *devices, mask))


@pytest.mark.parametrize("version", NAMES)
@pytest.mark.parametrize(
    ("q", "mask"), [((2, 3, 4), ()), ((3, 4), (5, 3, 3)), ((3, 4), (2, 2))], ids=str
)
def test_what_does_not_broadcast_is_refused(q, mask, version):
    q, kv, mask = (cuda.device_array(s, np.float32) for s in (q, (3, 3, 4), mask))
    if q.ndim == 2:
        kv = kv[0]
    with pytest.raises(ShapeError, match="attention"):
        scaled_dot_product_attention(q, kv, kv, mask, version=version)


def test_other_shapes_are_refused(operands, pair):
    _, _, (q, k, v), _ = operands((), 5, 7)
    with pytest.raises(ShapeError, match="attention"):
        scaled_dot_product_attention(q, v, v)
    with pytest.raises(ShapeError, match="grad"):
        scaled_dot_product_attention_backward(q, q, k, v)
    with pytest.raises(UnsupportedError, match="version"):
        scaled_dot_product_attention(q, k, v, version="flash")
