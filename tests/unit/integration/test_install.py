"""Install, change the GPU, take everything back."""

import inspect

import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import tinytorch
from tinytorch_gpu.errors import GPUNotFoundError
from tinytorch_gpu.integration.detect import detect
from tinytorch_gpu.runtime import current_device

CORE = tinytorch.__name__


def snapshot():
    """Return every attribute of every module and class of the core."""
    found = {}
    for name, module in detect(CORE).modules.items():
        for key, value in vars(module).items():
            found[name, key] = value
            if inspect.isclass(value) and value.__module__.startswith(CORE):
                for attribute, thing in vars(value).items():
                    found[name, key, attribute] = thing
    return {k: v for k, v in found.items() if k[-1] not in {"__builtins__", "__doc__"}}


def test_uninstall_restores_every_attribute_by_identity():
    simgpu.uninstall()
    before = snapshot()
    simgpu.install("t4", CORE)
    assert snapshot() != before
    simgpu.uninstall()
    after = snapshot()
    assert before.keys() == after.keys()
    assert all(before[key] is after[key] for key in before)


def test_installing_twice_patches_once():
    once = snapshot()
    simgpu.install("t4", CORE)
    assert snapshot() == once


def test_installing_again_changes_the_gpu():
    assert simgpu.install("a100", CORE).gpu.name.startswith("A100")
    assert current_device().spec.name.startswith("A100")


def test_a_wrong_gpu_changes_nothing():
    simgpu.uninstall()
    before = snapshot()
    with pytest.raises(GPUNotFoundError, match="t4"):
        simgpu.install("t44", CORE)
    assert snapshot() == before


def test_installed_takes_it_back_after_an_error():
    simgpu.uninstall()
    before = snapshot()
    with pytest.raises(ZeroDivisionError), simgpu.installed("t4", CORE):
        raise ZeroDivisionError
    assert snapshot() == before


def test_the_summary_names_what_was_found(device):
    text = str(device)
    assert "Tesla T4" in text
    assert "softmax" in device.ops_with_kernels
    assert "reshape" in device.decomposed_ops
