"""Dispatch keys."""

import pytest

from tinytorch_gpu.library.keys import DispatchKey, device_key


def test_simgpu_is_the_device_type():
    assert device_key("simgpu") is DispatchKey.SIMGPU


def test_other_devices_are_refused():
    with pytest.raises(ValueError, match="'cpu'"):
        device_key("cpu")
