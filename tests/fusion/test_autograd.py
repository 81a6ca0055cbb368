"""A fused function of Tensors goes backward as TinyTorch's own graph does."""

import numpy as np
import pytest

from tinytorch_gpu import fuse, installed, profiler
from tinytorch_gpu.errors import KernelWarning
from tinytorch_gpu.fusion.autograd import FusedNode
from tinytorch_gpu.tinytorch import GELU, ReLU, Sigmoid, Tanh, Tensor, no_grad
from tinytorch_gpu.trace import LaunchRecord


@pytest.fixture(autouse=True)
def _device():
    with installed(package="tinytorch_gpu.tinytorch"):
        yield


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


PROGRAMS = [
    (bias_relu, [(32, 20), (20,)]),
    (bias_relu, [(32, 20), (32, 1)]),
    (gates, [(7, 33), (7, 33)]),
    (gelu_chain, [(5, 6, 7)]),
    (reused, [(9, 10), (9, 10)]),
    (normalised, [(16, 64)]),
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
    """Run forward and backward; return output, gradients, and names of kernels."""
    given = tensors(shapes, needs)
    with profiler.profile() as prof:
        y = function(*given)
        (y * y).sum().backward()
    grads = [None if t.grad is None else t.grad.copy_to_host() for t in given]
    names = [r.kernel.name for r in prof.events() if isinstance(r, LaunchRecord)]
    return y.cpu().numpy(), grads, names


@pytest.mark.parametrize(("function", "shapes"), PROGRAMS)
def test_values_and_gradients_are_those_of_the_ops(function, shapes):
    fused = fuse(function)
    y, grads, _ = trained(function, shapes)
    for _ in range(2):
        got, got_grads, names = trained(fused, shapes)
        np.testing.assert_allclose(got, y, rtol=1e-6, atol=1e-6)
        for one, other in zip(got_grads, grads, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
    assert names.count(function.__name__) == 1
    assert fused.reason == ""


@pytest.mark.parametrize(("function", "shapes"), PROGRAMS[:-1])
def test_backward_of_an_element_wise_function_is_one_kernel(function, shapes):
    fused = fuse(function)
    trained(fused, shapes)
    _, _, names = trained(fused, shapes)
    assert names.count(f"{function.__name__}_backward") == 1
    assert fused.backward_reason == ""
    _, _, unfused = trained(function, shapes)
    assert len(names) < len(unfused)


def test_backward_through_a_reduction_runs_op_by_op_and_says_why():
    fused = fuse(normalised)
    trained(fused, [(16, 64)])
    assert "through a reduction" in fused.backward_reason
    assert fused.backward_sources == ()


def test_only_what_needs_a_gradient_gets_one():
    fused = fuse(gates)
    for needs in [(True, False), (False, True)]:
        _, grads, _ = trained(fused, [(4, 5), (4, 5)], needs)
        assert [grad is not None for grad in grads] == list(needs)
        assert "grad_x" in fused.backward_sources[0]
    assert "grad_y" not in fused.backward_sources[0]
    assert "grad_y" in fused.backward_sources[1]


def test_a_gradient_that_is_passed_on_needs_no_kernel():
    def shifted(x):
        return x + 1.0 + 2.0

    fused = fuse(shifted)
    trained(fused, [(4, 5)])
    _, (grad,), names = trained(fused, [(4, 5)])
    np.testing.assert_allclose(grad, 2 * (tensors([(4, 5)])[0].cpu().numpy() + 3))
    assert "shifted_backward" not in names


def test_the_graph_holds_one_node_for_the_function():
    x, bias = tensors([(4, 5), (5,)])
    y = fuse(bias_relu)(x, bias)
    assert isinstance(y._grad_fn, FusedNode)
    assert repr(y._grad_fn) == "Fused(bias_relu)Backward"
    assert y._grad_fn.inputs == (x, bias)
    assert y.requires_grad


def test_without_gradients_there_is_no_node():
    fused = fuse(bias_relu)
    x, bias = tensors([(4, 5), (5,)])
    with no_grad():
        assert fused(x, bias)._grad_fn is None
    x, bias = tensors([(4, 5), (5,)], (False, False))
    y = fused(x, bias)
    assert y._grad_fn is None
    assert isinstance(y, Tensor)


def test_several_results_with_a_gradient_run_op_by_op():
    @fuse
    def both(x):
        return x * 2.0 + 1.0, x * 3.0 + 1.0

    (x,) = tensors([(4, 5)])
    with pytest.warns(KernelWarning, match="more than one result"):
        first, second = both(x)
    (first + second).sum().backward()
    np.testing.assert_array_equal(x.grad.copy_to_host(), np.full((4, 5), 5.0))
    with no_grad():
        assert all(isinstance(part, Tensor) for part in both(x))
    assert both.reason == ""


def test_numbers_of_the_forward_call_go_backward():
    def scaled(x, factor):
        return x * factor * x

    fused = fuse(scaled)
    for factor in (2.0, 3.0, 4.0):
        (x,) = tensors([(4, 5)])
        fused(x, factor).sum().backward()
        wanted = 2 * factor * x.cpu().numpy()
        np.testing.assert_allclose(x.grad.copy_to_host(), wanted, rtol=1e-6)
