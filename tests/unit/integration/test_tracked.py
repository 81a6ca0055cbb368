"""Generation A: the learner's own nodes, and their own code where theirs differ."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tinytorch_gpu import library, profiler
from tinytorch_gpu.integration import move_model

NAME = "standin_a.core"


@pytest.fixture
def package():
    found = Package(NAME)
    with simgpu.installed("t4", NAME):
        yield found


def ops(prof):
    """Return name → what served it, of the ops in a profile."""
    return {r.op: r.key for r in prof.events() if hasattr(r, "implementation")}


def test_a_kernel_computes_and_the_learners_node_goes_on(package):
    x = package.leaf([[-1.0, 2.0]], "simgpu")
    with profiler.profile() as prof:
        out = package.get("ReLU")().forward(x)
        out.sum().backward()
    assert type(out._grad_fn).__name__ == "ReLUBackward"
    assert ops(prof)["tinytorch::relu"] == "SimGPU"
    assert ops(prof)["tinytorch::relu_backward"] == "SimGPU"
    assert host(x.grad).tolist() == [[0.0, 1.0]]


def test_a_node_of_another_name_lets_the_learners_code_run(package, monkeypatch):
    autograd = package.found.modules["autograd"]
    monkeypatch.delattr(autograd, "ReLUBackward")
    x = package.plain([[-1.0, 2.0]], "simgpu")
    x.requires_grad, x.grad = True, None
    with profiler.profile() as prof, pytest.raises(NameError, match="ReLUBackward"):
        package.get("ReLU")().forward(x)
    assert "tinytorch::relu" not in ops(prof)


def test_a_rule_that_is_not_the_kernels_runs_as_it_is_written(package):
    x = package.leaf([[-1.0, 2.0]], "simgpu")
    with profiler.profile() as prof:
        package.get("GELU")().forward(x).sum().backward()
    served = ops(prof)
    assert served["tinytorch::gelu"] == "SimGPU"
    assert served["tinytorch::gelu_backward_own_code"] == "Decompose"
    assert "tinytorch::gelu_backward" not in served


def test_a_gradient_of_the_wrong_shape_broadcasts_as_on_the_cpu(package):
    told = {}
    for device in ("cpu", "simgpu"):
        out = package.get("Sigmoid")().forward(package.leaf(np.zeros((2, 3)), device))
        gradient = package.plain([1.0, 2.0, 3.0], device).data
        with profiler.profile() as prof:
            (grad,) = out._grad_fn.apply(gradient)
        told[device] = host(grad).tolist()
    assert told["simgpu"] == told["cpu"] == [[0.25, 0.5, 0.75]] * 2
    assert "tinytorch::sigmoid_backward" not in ops(prof)
    assert "tinytorch::sigmoid_backward_own_code" in ops(prof)


@pytest.mark.parametrize(
    "fault", [IndexError("place 7"), AttributeError("no such name")]
)
def test_a_fault_of_the_learners_kernel_is_told_not_run_around(package, fault):
    def faulty(grad, x):
        raise fault

    out = package.get("ReLU")().forward(package.leaf([[-1.0, 2.0]], "simgpu"))
    override = library.override("tinytorch::relu_backward", "simgpu", faulty)
    with override, pytest.raises(type(fault), match=str(fault)):
        out._grad_fn.apply(out.data)


def test_no_grad_hangs_no_node(package):
    x = package.leaf([[1.0]], "simgpu")
    with package.get("no_grad")():
        out = package.get("Sigmoid")().forward(x)
    assert not out.requires_grad
    assert getattr(out, "_grad_fn", None) is None


def test_an_op_without_a_node_has_no_gradient_as_on_the_cpu(package):
    x = package.leaf([[1.0]], "simgpu")
    assert not package.get("Tanh")().forward(x).requires_grad


def test_one_element_stays_on_the_device(package):
    x = package.leaf([[1.0, 2.0]], "simgpu")
    one = x[0, 1]
    assert (one.device, one.shape) == ("simgpu:0", ())
    one.backward()
    assert host(x.grad).tolist() == [[0.0, 1.0]]


def test_paths_begin_at_autograd_where_it_hangs_a_node_or_computes_a_slope(package):
    x = package.leaf(np.ones((2, 3)), "simgpu")
    images = package.leaf(np.ones((1, 1, 4, 4)), "simgpu")
    conv = move_model(package.get("Conv2d")(1, 1, 3), "simgpu")
    with library.log() as log:
        package.get("ReLU")().forward(x).sum().backward()
        package.get("GELU")().forward(x.matmul(x.transpose())).sum().backward()
        conv.forward(images).sum().backward()
        package.get("Tanh")().forward(x)
    outer = [entry for entry in log.ops if not entry.depth]
    above = {e.name.partition("::")[2]: dict(e.path).get("Autograd") for e in outer}
    wanted = {
        "relu": "ReLU.forward",
        "sum": "Tensor.sum",
        "matmul": "Tensor.matmul",
        "gelu": "GELU.forward",
        "conv2d": "Conv2d.forward",
        "relu_backward": "ReLUBackward.apply",
        "gelu_backward_own_code": "GELUBackward.apply",
        "matmul_backward": "MatmulBackward.apply",
        "conv2d_backward": "Conv2dBackward.apply",
    }
    assert {op: above[op] for op in wanted} == {
        op: f"TinyTorch: {name}" for op, name in wanted.items()
    }
    assert above["tanh"] is above["fill"] is above["add"] is None


def test_own_code_has_its_path_from_autograd_too(package):
    x = package.leaf(np.ones((2, 3)), "simgpu")
    with library.log() as log:
        package.get("MSELoss")().forward(x, package.plain(np.zeros((2, 3)), "simgpu"))
    (entry,) = (entry for entry in log.ops if entry.name == "tinytorch::mse")
    assert entry.path[0] == ("Autograd", "TinyTorch: MSELoss.forward")
    assert entry.key == "Decompose"
