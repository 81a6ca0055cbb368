"""Trials vary what code may look at: signs, sizes, who requires gradients, what is kept.

Each test bends a learner's code where a trial with the usual numbers would not see it:
the device gives what the CPU gives.
"""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tests.unit.integration.both import equal_on_both, moved

A, B = "standin_a.core", "standin_b.core"
X = np.float32([[-2.0, -0.5, 0.25], [0.3, 1.0, 4.0]])
SIGNS = np.float32([[1, -1, -50], [-0.5, 50, 1]])
IMAGE = np.random.default_rng(3).normal(size=(1, 2, 4, 4)).astype(np.float32)


def same_values(package, program, x):
    """Check the values only: what the bent code's gradient is does not matter."""
    simgpu.install("t4", package.name)
    results = [host(program(package.plain(x, d))) for d in ("cpu", "simgpu")]
    assert results[0].shape == results[1].shape
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5, atol=1e-6)


RULES = {
    "guided": lambda self, g: (g * (self.inputs[0].data > 0) * (g > 0),),
    "clipped": lambda self, g: (np.clip(g, -2, 2) * (self.inputs[0].data > 0),),
    "without sign": lambda self, g: (np.abs(g) * (self.inputs[0].data > 0),),
    "a floor": lambda self, g: (np.maximum(g, -1) * (self.inputs[0].data > 0),),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_that_looks_at_its_gradient(name, change):
    package = Package(B)
    change(package.get("ReLUFunction"), backward=RULES[name])

    def program(x):
        weights = package.plain(SIGNS, "cpu" if x.device == "cpu" else "simgpu")
        return package.get("ReLU")().forward(x) * weights

    served = equal_on_both(package, program, X)
    assert served["tinytorch::relu"] == "SimGPU"
    assert served["tinytorch::relu_backward_own_code"] == "Decompose"


def test_weights_of_both_signs(change):
    package = Package(B)
    owner = package.get("LayerNormFunction")
    plain = owner.forward
    change(owner, forward=lambda self, x, gamma, b: plain(self, x, np.abs(gamma), b))

    def program(x):
        layer = package.get("LayerNorm")(3)
        for parameter in layer.parameters():
            parameter.data[...] = [-1.0, 2.0, -3.0]
        return moved(layer, x).forward(x)

    equal_on_both(package, program, X)


def test_a_value_of_a_layer_that_only_backward_reads(change):
    package = Package(B)
    function, layer = package.get("AvgPool2dFunction"), package.get("AvgPool2d")
    plain = function.backward
    change(layer, scale=1.0)
    change(function, backward=lambda self, g: (plain(self, g)[0] * self.layer.scale,))

    def program(x):
        pool = layer(2)
        pool.scale = 3.0
        return pool.forward(x)

    served = equal_on_both(package, program, IMAGE)
    assert served["tinytorch::avg_pool2d_backward_own_code"] == "Decompose"


def test_a_forward_for_operands_that_require_no_gradient(change):
    package = Package(B)
    owner = package.get("TanhFunction")
    plain = owner.forward

    def forward(self, x):
        return plain(self, x) if self.inputs[0].requires_grad else x / 2

    change(owner, forward=forward)
    simgpu.install("t4", B)
    for device in ("cpu", "simgpu"):
        out = package.get("Tanh")().forward(package.plain(X, device))
        np.testing.assert_allclose(host(out), X / 2)
    equal_on_both(package, lambda x: package.get("Tanh")().forward(x), X)


def test_a_rule_for_operands_that_require_no_gradient(change):
    """A slip: images require no gradient, and then the weights get none, too."""
    package = Package(B)
    owner = package.get("Conv2dFunction")
    plain = owner.backward

    def backward(self, g):
        return plain(self, g) if self.inputs[0].requires_grad else (None, None, None)

    change(owner, backward=backward)
    simgpu.install("t4", B)
    for device in ("cpu", "simgpu"):
        x = package.plain(IMAGE, device)
        layer = moved(package.get("Conv2d")(2, 3, 3), x)
        layer.forward(x).sum().backward()
        assert layer.weight.grad is None


FROZEN = {
    "weight": lambda node: node.inputs[1].requires_grad,
    "bias": lambda node: node.inputs[2].requires_grad,
}


@pytest.mark.parametrize("name", FROZEN)
@pytest.mark.parametrize("owner", ["Conv2dFunction", "LayerNormFunction"])
def test_a_rule_for_parameters_that_require_no_gradient(owner, name, change):
    """Freezing weights is ordinary; a slip there costs the input its gradient."""
    package, is_learned = Package(B), FROZEN[name]
    function = package.get(owner)
    plain = function.backward
    change(
        function,
        backward=lambda self, g: plain(self, g) if is_learned(self) else (None,) * 3,
    )

    def program(x):
        if owner == "Conv2dFunction":
            package.seed()
            layer = package.get("Conv2d")(2, 3, 3)
        else:
            layer = package.get("LayerNorm")(4)
        layer.parameters()[0 if name == "weight" else 1].requires_grad = False
        return moved(layer, x).forward(x)

    equal_on_both(package, program, IMAGE)


def without_sign(plain):
    def backward(self, g):
        return plain(self, np.abs(g))

    return backward


def at_most_2(plain):
    def backward(self, g):
        return plain(self, np.minimum(g, 2.0))

    return backward


def one_for_zero(plain):
    def backward(self, g):
        return plain(self, np.where(g != 0, g, 1.0))

    return backward


SCALES = [(without_sign, -3.0), (at_most_2, 1024.0), (one_for_zero, 0.0)]


@pytest.mark.parametrize(("bent", "factor"), SCALES)
def test_a_loss_whose_gradient_looks_at_its_scale(bent, factor, change):
    package = Package(B)
    owner = package.get("CrossEntropyFunction")
    change(owner, backward=bent(owner.backward))
    loss = package.get("CrossEntropyLoss")()

    def program(x):
        targets = package.plain([0, 2], "cpu" if x.device == "cpu" else "simgpu")
        return loss.forward(x, targets) * factor

    equal_on_both(package, program, X)


THIN = [((1, 3), 1), ((2, 1), 0), ((2, 1, 3), 2), ((1,), 0)]


@pytest.mark.parametrize(("shape", "axis"), THIN)
@pytest.mark.parametrize(("op", "owner"), [("sum", "Sum"), ("mean", "Mean")])
def test_an_axis_of_length_one_that_is_squeezed_away(op, owner, shape, axis, change):
    def forward(self, a):
        kept = getattr(np, op)(a, axis=self.axis, keepdims=True)
        return kept if self.keepdims else np.squeeze(kept)

    package = Package(B)
    change(package.get(owner), forward=forward)
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    same_values(package, lambda x: getattr(x, op)(axis=axis), x)


def test_other_softmaxes_of_one_row(change):
    package = Package(B)
    owner = package.get("SoftmaxFunction")
    plain = owner.forward

    def forward(self, x):
        out = plain(self, x)
        return out * 2 if x.ndim == 3 and len(x) == 1 else out

    change(owner, forward=forward)
    one = np.ones((1, 2, 3), np.float32)
    same_values(package, lambda x: package.get("Softmax")().forward(x), one)


@pytest.mark.parametrize("name", ["LayerNorm", "BatchNorm2d"])
def test_backward_in_a_block_without_gradients(name):
    """The kernel's forward has kept nothing for the learner's rule."""
    package = Package("tinytorch_gpu.tinytorch")
    simgpu.install("t4")
    results = []
    for device in ("cpu", "simgpu"):
        x = package.leaf(IMAGE, device)
        layer = moved(package.get(name)(4 if name == "LayerNorm" else 2), x)
        out = layer.forward(x)
        loss = (out * out).sum()
        with package.get("no_grad")():
            loss.backward()
        results.append(host(x.grad))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=1e-5)


def test_nodes_that_compare_by_value(change):
    """A class with `__eq__` has no hash: nothing can be noted of its nodes."""
    package = Package(B)
    change(package.get("LayerNormFunction"), __eq__=lambda self, _: True, __hash__=None)
    equal_on_both(
        package, lambda x: moved(package.get("LayerNorm")(3), x).forward(x), X
    )
