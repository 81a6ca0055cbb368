"""A fused function of Tensors goes backward as TinyTorch's own graph does."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, fuse, installed, profiler
from tinytorch_gpu.tinytorch import GELU, ReLU, Sigmoid, Tanh, Tensor, no_grad
from tinytorch_gpu.tinytorch.functions import Function
from tinytorch_gpu.trace import LaunchRecord


@pytest.fixture(autouse=True)
def _device():
    with installed(package="tinytorch_gpu.tinytorch"):
        yield


class Reversed(Function):
    """What a learner writes: the gradient is turned around."""

    def forward(self, x):
        return x * 1.0

    def backward(self, grad):
        return (-1.0 * grad,)


class Straight(Function):
    """A step whose gradient passes as it is."""

    def forward(self, x):
        return np.where(x > 0.5, 1.0, 0.0) * 1.0

    def backward(self, grad):
        return (grad,)


def bias_relu(x, bias):
    return ReLU()(x + bias)


def gates(x, y):
    return Sigmoid()(x) * Tanh()(y) - x / y


def gelu_chain(x):
    return GELU()(x * 2.0) * x / 3.0


def reused(x, y):
    z = x * y
    return z * z + z


def normalised(x):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / ((centred * centred).mean(axis=-1, keepdims=True) + 1e-5)


def reversed_gradient(x):
    return Reversed.apply(x * 2.0) + 1.0


def straight_through(x):
    return Straight.apply(x * 2.0) + x


def detached(x):
    return x * Tensor(x.data) + x


def partly_without(x):
    with no_grad():
        y = x * x
    return x + y


def named_grad(grad):
    return grad * grad + grad


def second(x):
    return (x * 2.0 + 1.0, x * 3.0)[1]


def turned(x):
    return (x * x + 1.0).transpose()


def flat(x):
    return (x * x + 1.0).reshape(-1)


def part(x):
    return (x * x + 1.0)[:, 1:3]


def of_data(x):
    return Tensor(np.exp(x.data) * 2.0) + x


def both(x):
    return x * 2.0 + 1.0, x * 3.0 + 1.0


PROGRAMS = [
    (bias_relu, [(32, 20), (20,)]),
    (bias_relu, [(32, 20), (32, 1)]),
    (gates, [(7, 33), (7, 33)]),
    (gelu_chain, [(5, 6, 7)]),
    (reused, [(9, 10), (9, 10)]),
    (normalised, [(16, 64)]),
    (reversed_gradient, [(6, 6)]),
    (straight_through, [(6, 6)]),
    (detached, [(6, 6)]),
    (partly_without, [(6, 6)]),
    (named_grad, [(6, 6)]),
    (second, [(6, 6)]),
    (turned, [(6, 6)]),
    (turned, [(6, 8)]),
    (flat, [(6, 8)]),
    (part, [(6, 8)]),
    (of_data, [(6, 6)]),
    (both, [(6, 6)]),
]


def tensors(shapes, needs=None):
    rng = np.random.default_rng(2)
    made = []
    for i, shape in enumerate(shapes):
        values = rng.uniform(0.2, 2.0, shape).astype(np.float32)
        tensor = Tensor(values * (-1) ** i).to("simgpu")
        tensor.requires_grad = needs is None or needs[i]
        made.append(tensor)
    return made


def trained(function, shapes, needs=None):
    """Run forward and backward; return outputs, gradients, and names of kernels."""
    given = tensors(shapes, needs)
    with profiler.profile() as prof:
        result = function(*given)
        outputs = result if isinstance(result, tuple) else (result,)
        sum((y * y).sum() for y in outputs).backward()
    grads = [None if t.grad is None else t.grad.copy_to_host() for t in given]
    names = [r.kernel.name for r in prof.events() if isinstance(r, LaunchRecord)]
    return [y.cpu().numpy() for y in outputs], grads, names


@pytest.mark.filterwarnings("ignore::tinytorch_gpu.errors.KernelWarning")
@pytest.mark.parametrize(("function", "shapes"), PROGRAMS)
def test_values_and_gradients_are_those_of_the_ops(function, shapes):
    fused = fuse(function)
    wanted, grads, _ = trained(function, shapes)
    for _ in range(3):
        got, got_grads, _ = trained(fused, shapes)
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
        for one, other in zip(got_grads, grads, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("function", "shapes"), PROGRAMS[:6])
def test_forward_is_one_kernel_that_keeps_what_backward_needs(function, shapes):
    fused = fuse(function)
    trained(fused, shapes)
    _, _, names = trained(fused, shapes)
    _, _, unfused = trained(function, shapes)
    assert names.count(function.__name__) == 1
    assert len(names) < len(unfused)
    assert fused.reason == ""


def test_forward_and_backward_may_be_one_kernel():
    @fuse
    def gradient(x):
        y = x.data
        return 2.0 * y * (y * y + 1.0)

    (x,) = tensors([(6, 6)])
    for _ in range(2):
        gradient(x)
    assert gradient.reason == ""


def test_only_what_needs_a_gradient_gets_one():
    fused = fuse(gates)
    for needs in [(True, False), (False, True), (False, False), (True, True)]:
        if any(needs):
            _, grads, _ = trained(fused, [(4, 5), (4, 5)], needs)
            assert [grad is not None for grad in grads] == list(needs)


def test_without_gradients_less_is_stored():
    fused = fuse(gelu_chain)
    (x,) = tensors([(5, 6, 7)])
    fused(x)
    kept = fused.source
    with no_grad():
        y = fused(x)
    assert y._grad_fn is None
    assert fused.source.count("[") < kept.count("[")
    assert "out1" not in fused.source


def test_what_shares_memory_keeps_its_gradients():
    data = cuda.to_device(np.float32([1, 2, 3]))

    def function(a, b):
        return a * b + a

    for made in (function, fuse(function)):
        one, other = Tensor(data), Tensor(data)
        one.requires_grad = other.requires_grad = True
        made(one, other).sum().backward()
        np.testing.assert_array_equal(one.grad.copy_to_host(), [2, 3, 4])
        np.testing.assert_array_equal(other.grad.copy_to_host(), [1, 2, 3])


def test_data_that_changes_before_backward_changes_what_it_changes_unfused():
    for made in (gates, fuse(gates)):
        x, y = tensors([(4, 5), (4, 5)])
        out = made(x, y)
        x.data *= 0.0
        out.sum().backward()
        if made is gates:
            wanted = x.grad.copy_to_host(), y.grad.copy_to_host()
    np.testing.assert_allclose(x.grad.copy_to_host(), wanted[0], rtol=1e-6)
    np.testing.assert_allclose(y.grad.copy_to_host(), wanted[1], rtol=1e-6)


def test_an_optimizer_may_be_fused_as_it_is_written():
    def step(params, rate):
        for p in params:
            p.data = p.data - rate * p.grad

    for made in (step, fuse(step)):
        params = tensors([(6, 6), (5,)])
        for turn in range(3):
            for p in params:
                p.grad = cuda.to_device(np.ones(p.shape, np.float32))
            made(params, 0.5 + turn)
        values = [p.cpu().numpy() for p in params]
        if made is step:
            wanted = values
    for one, other in zip(values, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    assert made.reason == ""


def test_numbers_of_the_forward_call_go_backward():
    fused = fuse(lambda x, factor: x * factor * x)
    for factor in (2.0, 3.0, 4.0):
        (x,) = tensors([(4, 5)])
        fused(x, factor).sum().backward()
        wanted = 2 * factor * x.cpu().numpy()
        np.testing.assert_allclose(x.grad.copy_to_host(), wanted, rtol=1e-6)
