"""Layers that train and layers that evaluate, and what else a learner keeps in them."""

import copy

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import host, same
from tinytorch_gpu import profiler
from tinytorch_gpu.integration import move_model

RNG = np.random.default_rng(19)
ROWS = RNG.normal(size=(6, 4)).astype(np.float32)
IMAGES = RNG.normal(size=(2, 3, 6, 6)).astype(np.float32)
ONES = np.ones((20, 30), np.float32)


def test_dropout_follows_the_mode_of_its_layer(package):
    dropout, x = package.get("Dropout")(0.5), package.plain(ONES, "simgpu")
    package.needs(dropout, "train", "eval")
    assert dropout.eval() is dropout
    assert host(dropout(x)).tolist() == ONES.tolist()
    dropout.train()
    assert (host(dropout(x)) == 0).any()


def test_the_mode_that_a_call_names_comes_first(package):
    dropout, x = package.get("Dropout")(0.5), package.plain(ONES, "simgpu")
    assert host(dropout(x, training=False)).tolist() == ONES.tolist()
    assert (host(dropout(x, training=True)) == 0).any()
    if hasattr(dropout, "eval"):
        dropout.eval()
        assert (host(dropout(x, training=True)) == 0).any()


def test_a_sequential_hands_its_mode_on(package):
    linear = package.get("Linear")(4, 8)
    model = package.get("Sequential")(linear, package.get("Dropout")(0.5))
    package.needs(model, "train", "eval")
    move_model(model.eval(), "simgpu")
    x = package.plain(ROWS, "simgpu")
    plain = host(linear.forward(x))
    assert host(model(x)).tolist() == plain.tolist()
    assert (host(model.train()(x)) == 0).any()
    assert host(model(x, training=False)).tolist() == plain.tolist()


def test_every_layer_of_a_model_learns_of_the_mode(package):
    switch = package.get("set_training_mode")
    parts = [package.get("Dropout")(0.5) for _ in range(2)]

    class Model:
        def __init__(self):
            self.first, self.others = parts[0], {"last": parts[1]}

        def forward(self, x):
            return self.others["last"](self.first(x))

    model, x = Model(), package.plain(ONES, "simgpu")
    switch(model, False)
    assert host(model.forward(x)).tolist() == ONES.tolist()
    switch(model, True)
    assert (host(model.forward(x)) == 0).any()


def test_batch_norm_keeps_statistics_while_it_trains(package):
    layer = package.get("BatchNorm2d")(3)
    package.needs(layer, "train", "eval")
    told = {}
    for device in ("cpu", "simgpu"):
        one = move_model(copy.deepcopy(layer), device)
        x = package.plain(IMAGES, device)
        outs = [one.forward(x), one.forward(x * 2.0)]
        outs.append(one.eval().forward(x))
        one.train()
        outs.append(one.forward(x))
        told[device] = [host(o) for o in (*outs, one.running_mean, one.running_var)]
    for mine, theirs in zip(told["simgpu"], told["cpu"], strict=True):
        same(mine, theirs)


# Whatever a learner keeps in a layer that the layer's code does not read is no reason
# to run that code: `training` comes to every layer by `set_training_mode`.

SERVED = {
    "conv2d": lambda get: get("Conv2d")(3, 2, 3),
    "max_pool2d": lambda get: get("MaxPool2d")(2),
    "avg_pool2d": lambda get: get("AvgPool2d")(2),
}


@pytest.mark.parametrize("op", SERVED)
@pytest.mark.parametrize(
    "kept", [{"training": True}, {"training": False}, {"label": "first", "note": [1]}]
)
def test_a_layer_with_a_mode_and_a_label_keeps_its_kernel(package, op, kept):
    layer = SERVED[op](package.get)
    if op not in simgpu.install("t4", package.name).ops_with_kernels:
        pytest.skip(f"{package.found.package}: its own {op} runs")
    expected = layer.forward(package.plain(IMAGES)).data
    vars(move_model(layer, "simgpu")).update(kept)
    with profiler.profile() as prof:
        out = layer.forward(package.leaf(IMAGES, "simgpu"))
    same(host(out), expected)
    served = {r.op for r in prof.events() if hasattr(r, "implementation")}
    assert f"tinytorch::{op}" in served
    assert f"tinytorch::{op}_own_code" not in served
