"""Both generations: what installing changes, and that uninstalling puts all back."""

import inspect
import types

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import STAND_INS, Package, host
from tinytorch_gpu import cuda, library, profiler
from tinytorch_gpu.errors import DeviceMismatchError
from tinytorch_gpu.integration import move_model


@pytest.fixture(params=STAND_INS)
def package(request):
    found = Package(request.param)
    simgpu.uninstall()
    yield found
    simgpu.uninstall()


def attributes(package):
    """Return every attribute object of every module and class of a package."""
    things = {}
    for module in package.found.modules.values():
        things |= {(module.__name__, key): value for key, value in vars(module).items()}
    for owner in package.found.classes():
        name = owner.__module__, owner.__qualname__
        things |= {(*name, key): value for key, value in vars(owner).items()}
    return {k: v for k, v in things.items() if k[-1] not in {"__dict__", "__weakref__"}}


def test_uninstall_restores_every_attribute_by_identity(package):
    before = attributes(package)
    simgpu.install("t4", package.name)
    changed = attributes(package)
    assert sum(changed[key] is not before.get(key) for key in changed) > 50
    simgpu.uninstall()
    after = attributes(package)
    assert before.keys() == after.keys()
    assert [key for key in before if before[key] is not after[key]] == []


def test_installing_twice_changes_nothing_more(package):
    simgpu.install("t4", package.name)
    once = attributes(package)
    simgpu.install("a100", package.name)
    twice = attributes(package)
    assert all(once[key] is twice[key] for key in once)


def test_wrapped_methods_keep_their_signatures(package):
    def signatures():
        return {
            (owner.__qualname__, name): str(inspect.signature(value))
            for owner in package.found.classes()
            for name, value in vars(owner).items()
            if isinstance(value, types.FunctionType)
        }

    before = signatures()
    simgpu.install("t4", package.name)
    after = signatures()
    assert {key: after[key] for key in before} == before


def test_installed_leaves_no_trace(package):
    before = attributes(package)
    with simgpu.installed("t4", package.name):
        package.plain([1.0], "simgpu")
    after = attributes(package)
    assert all(before[key] is after[key] for key in before)


def test_the_summary_names_place_generation_modules_and_ops(package):
    text = str(simgpu.install("t4", package.name))
    first, second, kernels, decomposed, *_ = text.splitlines()
    generation = {"standin_a.core": "A2", "standin_b.core": "B"}[package.name]
    assert first == "simgpu models a Tesla T4"
    assert f"generation {generation}, modules tensor, " in second
    assert second.startswith("found TinyTorch at ")
    assert kernels.startswith("these ops have kernels: ")
    assert "conv2d" in kernels
    assert decomposed.startswith("these decompose: ")


def test_somebody_who_wraps_after_us_keeps_their_wrapper(package):
    simgpu.install("t4", package.name)
    ours = package.Tensor.sum
    package.Tensor.sum = theirs = lambda self: ours(self)
    simgpu.install("t4", package.name)
    assert inspect.unwrap(package.Tensor.sum) is theirs
    simgpu.uninstall()
    assert package.Tensor.sum is theirs
    package.Tensor.sum = inspect.unwrap(ours)


def test_a_kernel_of_the_learner_runs_and_is_named(package):
    def mine(x, out=None):
        out = cuda.device_array_like(x) if out is None else out
        out.copy_to_device(np.full(x.shape, 0.5, np.float32))
        return out

    simgpu.install("t4", package.name)
    with (
        library.override("tinytorch::relu", "simgpu", mine),
        profiler.profile() as prof,
    ):
        out = package.get("ReLU")().forward(package.plain([-1.0, 2.0], "simgpu"))
    assert host(out).tolist() == [0.5, 0.5]
    ops = [r for r in prof.events() if hasattr(r, "implementation")]
    (row,) = [r for r in ops if r.op == "tinytorch::relu"]
    assert row.implementation.name.endswith("mine")


def test_library_code_makes_its_arrays_where_its_operands_are(package):
    simgpu.install("t4", package.name)
    x = package.plain(np.ones((4, 5)), "simgpu")
    out = package.get("Dropout")(1.0).forward(x)
    assert out.device == "simgpu:0"
    assert host(out).tolist() == np.zeros((4, 5)).tolist()


def test_a_model_with_a_dropped_result_of_to(package):
    simgpu.install("t4", package.name)
    layer = move_model(package.get("Linear")(3, 2), "simgpu")
    x = package.plain(np.ones((4, 3)))
    x.to("simgpu")
    with pytest.raises(DeviceMismatchError, match="matmul"):
        layer.forward(x)
