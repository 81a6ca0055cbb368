"""A trial is seen by nobody, and sees what a method does to what it is given."""

import logging
import random
import sys
import time

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


def test_whatever_draws_numbers_is_put_back(change):
    package = Package(B)
    owner = package.get("TanhFunction")
    rngs = {"drawn": np.random.default_rng(7), "old": np.random.RandomState(3)}
    own = random.Random(1)

    def forward(self, x):
        self.rng.random(), rngs["drawn"].random(), rngs["old"].rand()
        own.random(), random.random()
        return np.tanh(x)

    change(owner, forward=forward, rng=np.random.default_rng(5))

    def states():
        drawn = [g.bit_generator.state["state"] for g in (owner.rng, rngs["drawn"])]
        return drawn, rngs["old"].get_state()[2], own.getstate(), random.getstate()

    before = states()
    assert "tanh" in simgpu.install("t4", B).ops_with_kernels
    assert states() == before


def test_nothing_is_heard_of_a_trial(change, capsys, caplog):
    def loud(self, x):
        print("out")
        print("err", file=sys.stderr)
        logging.getLogger("learner").error("log")
        return np.tanh(x)

    package = Package(B)
    change(package.get("TanhFunction"), forward=loud)
    assert "tanh" in simgpu.install("t4", B).ops_with_kernels
    assert capsys.readouterr() == ("", "")
    assert caplog.records == []
    assert not logging.root.manager.disable


CACHE = {}
CALLS = [0]


def cached(self, x):
    if x.shape not in CACHE:
        CACHE[x.shape] = np.ones_like(x)
    return np.maximum(x * CACHE[x.shape], 0)


def counted(self, x):
    CALLS[0] += 1
    return np.maximum(x, 0) * (1.0 if CALLS[0] < 1000 else 2.0)


def remembered(self, x):
    type(self).last = x
    return np.maximum(x, 0)


@pytest.mark.parametrize("forward", [cached, counted, remembered])
def test_what_a_method_writes_is_put_back_and_it_runs_itself(forward, change):
    package = Package(B)
    owner = package.get("ReLUFunction")
    change(owner, forward=forward)
    assert "it changes what it reads" in str(simgpu.install("t4", B))
    assert (CACHE, CALLS) == ({}, [0])
    assert not hasattr(owner, "last")
    package.get("ReLU")().forward(package.plain(X, "simgpu"))  # no host array is left
    CACHE.clear()
    CALLS[0] = 0
    if hasattr(owner, "last"):
        del owner.last


def test_a_slow_method_is_told(change):
    package = Package(B)

    def forward(self, x):
        time.sleep(0.2)
        return np.maximum(x, 0)

    change(package.get("ReLUFunction"), forward=forward)
    assert "ReLU: to try it took " in str(simgpu.install("t4", B))


def test_a_method_that_leaves_the_process_does_not(change):
    package = Package(B)
    change(package.get("ReLUFunction"), forward=lambda self, x: sys.exit(3))
    assert "ReLU: raises SystemExit: 3; it runs as" in str(simgpu.install("t4", B))


def test_an_interrupt_comes_through(change):
    def forward(self, x):
        raise KeyboardInterrupt

    package = Package(B)
    change(package.get("ReLUFunction"), forward=forward)
    with pytest.raises(KeyboardInterrupt):
        str(simgpu.install("t4", B))
