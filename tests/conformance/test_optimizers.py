"""Every optimizer, schedule and clipping: the same steps on simgpu as on the CPU."""

import numpy as np
import pytest

from tests.conformance.package import host, same

RNG = np.random.default_rng(7)
X = RNG.normal(size=(8, 4)).astype(np.float32)
Y = RNG.normal(size=(8, 2)).astype(np.float32)
WEIGHT = RNG.normal(size=(4, 2)).astype(np.float32)

OPTIMIZERS = {
    "SGD": ("SGD", {"lr": 0.1}),
    "SGD momentum": ("SGD", {"lr": 0.1, "momentum": 0.9}),
    "SGD decay": ("SGD", {"lr": 0.1, "weight_decay": 0.01}),
    "SGD both": ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
    "Adam": ("Adam", {"lr": 0.01}),
    "Adam decay": ("Adam", {"lr": 0.01, "weight_decay": 0.1}),
    "AdamW": ("AdamW", {"lr": 0.01, "weight_decay": 0.1}),
}


def losses(package, name, options, device, steps=8):
    """Train a linear model; return the losses, the weight and its device."""
    weight, mse = package.leaf(WEIGHT, device), package.get("MSELoss")()
    x, y = package.plain(X, device), package.plain(Y, device)
    optimizer = package.get(name)([weight], **options)
    told = []
    for _ in range(steps):
        loss = mse(x.matmul(weight), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        told.append(float(loss.data))
    return told, host(weight), weight.device


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer(package, name):
    kind, options = OPTIMIZERS[name]
    expected, weight, _ = losses(package, kind, options, "cpu")
    got, moved, where = losses(package, kind, options, "simgpu")
    assert where == "simgpu:0"
    same(got, expected)
    same(moved, weight)


def test_a_learning_rate_of_the_schedule_keeps_float32(package):
    rate = package.get("CosineSchedule")(0.1, 0.01, 10).get_lr(3)
    weight = package.leaf(WEIGHT, "simgpu")
    optimizer = package.get("SGD")([weight], lr=rate)
    (weight * weight).sum().backward()
    optimizer.step()
    assert weight.data.dtype == np.float32
    assert weight.device == "simgpu:0"


def test_clipping_gives_the_same_norm_and_gradients(package):
    clip = package.get("clip_grad_norm")
    told = {}
    for device in ("cpu", "simgpu"):
        weight = package.leaf(WEIGHT, device)
        (weight * weight).sum().backward()
        told[device] = float(clip([weight], 1.0)), host(weight.grad)
    same(told["simgpu"][0], told["cpu"][0])
    same(told["simgpu"][1], told["cpu"][1])


def test_momentum_lives_where_the_weight_is(package):
    weight = package.leaf(WEIGHT, "simgpu")
    optimizer = package.get("SGD")([weight], lr=0.1, momentum=0.9)
    (weight * weight).sum().backward()
    optimizer.step()
    (buffer,) = optimizer.momentum_buffers
    assert buffer.device == "simgpu:0"
