"""A fused function of Tensors, in every generation of TinyTorch."""

import numpy as np

from tests.conformance.package import host, same
from tinytorch_gpu import fuse


def test_bias_and_relu_forward_and_backward(package):
    relu = package.get("ReLU")()

    def bias_relu(x, bias):
        return relu.forward(x + bias)

    fused = fuse(bias_relu)
    rng = np.random.default_rng(3)
    x, bias = rng.normal(size=(6, 5)), rng.normal(size=5)
    for _ in range(2):
        runs = []
        for function in (bias_relu, fused):
            leaves = [package.leaf(values, "simgpu") for values in (x, bias)]
            y = function(*leaves)
            y.sum().backward()
            runs.append([host(y), *(host(leaf.grad) for leaf in leaves)])
        for mine, theirs in zip(*runs, strict=True):
            same(mine, theirs)
    assert fused.reason == ""
