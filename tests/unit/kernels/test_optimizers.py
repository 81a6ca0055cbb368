"""Fused steps against the formulas in float64, over several steps."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.optimizers import fused_adam, fused_adamw, fused_sgd

STEPS = 4


def sgd(p, gradients, lr, momentum, decay):
    v = np.zeros_like(p)
    for g in gradients:
        v = momentum * v + g + decay * p
        p = p - lr * v
    return p


def adam(p, gradients, lr, decay, shrink):
    m, v = np.zeros_like(p), np.zeros_like(p)
    for step, slope in enumerate(gradients, 1):
        g = slope + decay * p
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        hat = v / (1 - 0.999**step)
        p = p * shrink - lr * m / (1 - 0.9**step) / (np.sqrt(hat) + 1e-8)
    return p


@pytest.fixture(params=[(), (7,), (5, 40)], ids=str)
def arrays(request, pair):
    shape = request.param
    host, param = pair(shape)
    gradients = [pair(shape, seed=s) for s in range(1, STEPS + 1)]
    zeros = [cuda.to_device(np.zeros(shape, np.float32)) for _ in range(2)]
    hosts, devices = zip(*gradients, strict=True)
    return host.astype("f8"), [g.astype("f8") for g in hosts], param, devices, zeros


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_sgd(momentum, arrays, close):
    p, gradients, param, grads, zeros = arrays
    for grad in grads:
        buffer = zeros[0] if momentum else None
        assert fused_sgd(param, grad, buffer, 0.1, momentum, 0.01) is param
    close(param, sgd(p, gradients, 0.1, momentum, 0.01), "f4", 1e-5)


@pytest.mark.parametrize("decay", [0.0, 0.05])
def test_adam(decay, arrays, close):
    p, gradients, param, grads, zeros = arrays
    for step, grad in enumerate(grads, 1):
        assert fused_adam(param, grad, *zeros, step, 0.1, weight_decay=decay) is param
    close(param, adam(p, gradients, 0.1, decay, 1), "f4", 1e-5)


def test_adamw(arrays, close):
    p, gradients, param, grads, zeros = arrays
    for step, grad in enumerate(grads, 1):
        fused_adamw(param, grad, *zeros, step, 0.1, weight_decay=0.05)
    close(param, adam(p, gradients, 0.1, 0, 1 - 0.1 * 0.05), "f4", 1e-5)


def test_a_step_is_one_launch_of_float32(launches, pair):
    (_, p), (_, g), (_, m) = (pair((5, 6), seed=s) for s in range(3))
    for step in (
        lambda: fused_sgd(p, g),
        lambda: fused_sgd(p, g, m, momentum=0.9),
        lambda: fused_adam(p, g, m, g, 1),
    ):
        (record,) = launches(step)
        assert record.counts.total("fp64") == 0


def test_other_shapes_are_refused(pair):
    (_, p), (_, g) = pair((2,)), pair((3,))
    for attempt in (
        lambda: fused_sgd(p, g),
        lambda: fused_sgd(p, p, g),
        lambda: fused_adam(p, p, p, g, 1),
        lambda: fused_adamw(p, g, p, p, 1),
    ):
        with pytest.raises(ShapeError, match="differ"):
            attempt()


@pytest.mark.parametrize("shape", [(3,), (40, 9)], ids=str)
def test_nothing_for_the_sanitizer_to_name(shape, clean, pair):
    p, g, m, v = (pair(shape, seed=s, low=0.1)[1] for s in range(4))
    clean(lambda: (fused_sgd(p, g, m), fused_sgd(p, g), fused_adam(p, g, m, v, 1)))
