"""Install, change the GPU, take everything back."""

import inspect

import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import tinytorch
from tinytorch_gpu.errors import GPUNotFoundError, UnknownDeviceError
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


def test_a_list_of_gpus_makes_as_many_devices():
    installation = simgpu.install(["t4", "a100"], CORE)
    assert simgpu.device_count() == 2
    assert simgpu.get_device_name(1) == "A100-SXM4-40GB"
    assert [gpu.name for gpu in installation.gpus] == ["Tesla T4", "A100-SXM4-40GB"]
    assert str(installation).startswith(
        "simgpu models 2 GPUs: Tesla T4, A100-SXM4-40GB"
    )
    assert simgpu.install("t4", CORE).gpus == (installation.gpu,)
    assert simgpu.device_count() == 1


def test_installed_brings_the_devices_back():
    simgpu.install(["t4", "a100"], CORE)
    with simgpu.installed("toy", CORE):
        assert (simgpu.device_count(), simgpu.get_device_name()) == (1, "toy GPU")
    assert (simgpu.device_count(), simgpu.get_device_name()) == (2, "Tesla T4")


def test_a_list_without_gpus_is_refused():
    with pytest.raises(UnknownDeviceError):
        simgpu.install([], CORE)
    assert simgpu.device_count() == 1
