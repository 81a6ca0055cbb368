"""NumPy as TinyTorch's modules see it."""

import sys

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.integration import move_model
from tinytorch_gpu.integration.home import at_home
from tinytorch_gpu.integration.numpy_proxy import numpy_proxy


def test_device_arrays_stay_on_the_device():
    proxy = numpy_proxy()
    x = cuda.to_device(np.ones((2, 3), np.float32))
    assert proxy.array(x, copy=False) is x
    assert proxy.array(x) is not x
    assert proxy.array(x, ndmin=4).shape == (1, 1, 2, 3)
    assert proxy.asarray(x, dtype=np.float32) is x
    assert proxy.array(x, dtype=np.float64).dtype == np.float64
    assert proxy.ascontiguousarray(x.T).is_c_contiguous()


def test_host_arrays_are_numpys_business():
    proxy = numpy_proxy()
    host = np.arange(3)
    assert proxy.asarray(host) is host
    assert proxy.array(host) is not host
    assert proxy.array([1, 2], dtype=np.float32).dtype == np.float32
    assert proxy.exp is np.exp
    assert proxy.linalg is np.linalg


def test_a_unit_matrix_of_library_code_is_where_the_code_works():
    proxy = numpy_proxy()
    targets = cuda.to_device(np.array([2, 0], np.int64))

    def one_hot(targets):
        return proxy.eye(3)[targets] + proxy.identity(3)[targets]

    with profiler.profile() as prof:
        made = at_home(one_hot, "Loss.forward")(targets)
    assert made.copy_to_host().tolist() == [[0, 0, 2], [2, 0, 0]]
    reasons = [r.reason for r in prof.events() if hasattr(r, "direction")]
    assert reasons == ["made in Loss.forward"] * 2
    assert isinstance(proxy.eye(3, dtype=int), np.ndarray)  # at work on the host


@pytest.mark.parametrize("name", ["standin_b.core", "tinytorch_gpu.tinytorch"])
def test_a_loss_with_one_hot_targets_runs_on_the_device(name, change):
    package = Package(name)
    owner = package.get("CrossEntropyFunction")
    module = sys.modules[owner.__module__]
    exec(
        "def smoothed(self, x, targets):\n"
        "    hot = 0.9 * np.eye(x.shape[1])[targets.astype(int)] + 0.1 / x.shape[1]\n"
        "    shifted = x - np.max(x, axis=1, keepdims=True)\n"
        "    total = np.sum(np.exp(shifted), axis=1, keepdims=True)\n"
        "    return -np.mean(np.sum(hot * (shifted - np.log(total)), axis=1))\n",
        vars(module),
    )
    change(owner, forward=vars(module).pop("smoothed"))
    simgpu.install("t4", name)
    x = np.float32([[1, 2, 3], [3, 1, 0]])
    loss = package.get("CrossEntropyLoss")()
    expected = loss.forward(package.plain(x), package.plain([2, 1])).data
    there = package.plain(x, "simgpu"), package.plain([2, 1], "simgpu")
    np.testing.assert_allclose(host(loss.forward(*there)), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["standin_a.core", "standin_b.core"])
def test_a_snapshot_by_library_code_is_a_copy(name):
    """A moved model's weights are somebody's: an average of them is another array."""
    package = Package(name)
    simgpu.install("t4", name)
    layers = sys.modules[package.get("Linear").__module__]
    code = """
class Average:
    def __init__(self, p):
        self.w = np.array(p.data)
        self.w *= 0.5
def snapshot(p):
    return Tensor(p.data)
"""
    space = vars(layers)
    exec(code, space)
    layer = package.get("Linear")(2, 3)
    move_model(layer, "simgpu")
    layer.weight.data[...] = 1.0
    kept, average = layers.snapshot(layer.weight), layers.Average(layer.weight)
    layer.weight.data[...] = 5.0
    assert set(host(kept).ravel().tolist()) == {1.0}
    assert set(average.w.copy_to_host().ravel().tolist()) == {0.5}
    assert set(host(layer.weight).ravel().tolist()) == {5.0}
    for made in ("Average", "snapshot"):
        delattr(layers, made)
