"""A trial is seen by nobody, and sees what a method does to what it is given."""

import random

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package
from tests.unit.integration.both import equal_on_both
from tinytorch_gpu.integration import meanings

A, B = "standin_a.core", "standin_b.core"
X = np.float32([[-2.0, -0.5, 0.0, 1.0], [0.3, 1.0, 4.0, -3.0]])


def kinked(self, x):
    x[x < 0] = 0
    return x


def filled(self, x):
    x[np.broadcast_to(self.mask, x.shape)] = self.value
    return x


def cut(self, grad):
    grad[self.inputs[0].data <= 0] = 0
    return (grad,)


def twice(package, function):
    """Use an intermediate result once before an op changes it, and once after."""

    def program(x):
        h = x * 1.0
        return function(h) + h

    return program


IN_PLACE = {
    "ReLUFunction": (
        {"forward": kinked},
        lambda p: lambda h: p.get("ReLU")().forward(h),
    ),
    "MaskedFill": (
        {"forward": filled},
        lambda p: lambda h: h.masked_fill(p.plain(X > 0, h.device), -5.0),
    ),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_op_that_changes_its_operand_does_so_on_the_device(name, change):
    methods, function = IN_PLACE[name]
    package = Package(B)
    change(package.get(name), **methods)
    served = equal_on_both(package, twice(package, function(package)), X)
    assert "Decompose" in served.values()
    assert "changes its operands in place" in str(simgpu.install("t4", B))


def test_so_does_one_of_generation_a(change):
    package = Package(A)
    owner, made = package.get("ReLU"), package.Tensor

    def forward(self, x):
        x.data[x.data < 0] = 0
        return made(x.data)

    change(owner, forward=forward)
    served = equal_on_both(package, twice(package, lambda h: owner().forward(h)), X)
    assert "tinytorch::relu" not in served


def test_a_gradient_rule_that_writes_into_its_gradient_runs_itself(change):
    package = Package(B)
    change(package.get("ReLUFunction"), backward=cut)
    served = equal_on_both(
        package, twice(package, lambda h: package.get("ReLU")().forward(h)), X
    )
    assert "tinytorch::relu_backward_own_code" in served
    assert "what it is given in place" in str(simgpu.install("t4", B))


def test_a_tensor_that_does_not_copy_leaves_the_inputs_of_trials_alone(change):
    package = Package(B)
    plain = package.Tensor.__init__

    def init(self, data, requires_grad=False):
        plain(self, data, requires_grad)
        if isinstance(data, np.ndarray) and data.dtype == np.float32:
            self.data = data

    change(package.Tensor, __init__=init)
    change(package.get("ReLUFunction"), forward=kinked)
    before = meanings.SIGNS.copy()
    assert "relu" not in simgpu.install("t4", B).ops_with_kernels
    assert np.array_equal(meanings.SIGNS, before)


@pytest.mark.parametrize("share", [0.9995, 1.0005])
def test_a_gradient_that_is_a_little_off_is_the_learners(share, change):
    package = Package(B)
    change(
        package.get("SigmoidFunction"),
        backward=lambda self, g: (
            share * g * self.output.data * (1 - self.output.data),
        ),
    )
    served = equal_on_both(package, package.get("Sigmoid")().forward, X)
    assert "tinytorch::sigmoid_backward_own_code" in served


def test_numbers_that_a_constructor_draws_are_drawn_again(change):
    package = Package(B)
    owner, plain = package.get("Conv2d"), package.get("Conv2d").__init__
    drawn, old, own = (
        np.random.default_rng(7),
        np.random.RandomState(3),
        random.Random(1),
    )

    def init(self, *arguments, **options):
        plain(self, *arguments, **options)
        drawn.random(), old.rand(), own.random(), np.random.rand()  # noqa: NPY002

    def states():
        legacy = old.get_state()[2], np.random.get_state()[2]  # noqa: NPY002
        return drawn.bit_generator.state["state"], legacy, own.getstate()

    change(owner, __init__=init)
    before = states()
    assert "conv2d" in simgpu.install("t4", B).ops_with_kernels
    assert states() == before


def test_an_interrupt_comes_through(change):
    def forward(self, x):
        raise KeyboardInterrupt

    package = Package(B)
    change(package.get("ReLUFunction"), forward=forward)
    with pytest.raises(KeyboardInterrupt):
        str(simgpu.install("t4", B))
