"""Dispatch keys."""

import pytest

from tinytorch_gpu.library.keys import ORDER, DispatchKey, device_key


def test_simgpu_is_the_device_type():
    assert device_key("simgpu") is DispatchKey.SIMGPU


def test_keys_have_pytorchs_names_and_an_order():
    names = ["Autograd", "Profiler", "SimGPU", "Decompose", "CPU"]
    assert [key.value for key in ORDER] == names
    assert [device_key(name) for name in names] == list(ORDER)
    assert device_key("cpu") is DispatchKey.CPU
    for composite in (None, "default", "CompositeImplicitAutograd"):
        assert device_key(composite) is DispatchKey.DECOMPOSE


def test_other_devices_are_refused():
    with pytest.raises(ValueError, match="'cuda'"):
        device_key("cuda")
