"""Settings of every test: no window, the same random examples and GPU each time."""

import gc
import os

import pytest
from hypothesis import settings

from tinytorch_gpu.memory import Allocator
from tinytorch_gpu.runtime import current_device
from tinytorch_gpu.runtime.device import all_devices, set_device, use_gpus

os.environ.setdefault("MPLBACKEND", "Agg")

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


LEFT_BYTES = 2**16  # a module's own constants


@pytest.fixture(autouse=True, scope="module")
def nothing_is_left():
    """Let no module leave arrays to the next, which may need a small GPU's memory.

    What lives on, such as its kernels and the tests themselves, lives to the end: the
    collector need not look at it again, which would take a tenth of the time.
    """
    gc.freeze()
    device = all_devices()[0]
    most = device.allocator.allocated_bytes + LEFT_BYTES
    yield
    gc.collect()
    assert device.allocator.allocated_bytes <= most


@pytest.fixture
def own_memory(monkeypatch):
    """Let a test that frees all device memory free only its own."""
    device = current_device()
    fresh = Allocator(device.spec.memory_bytes, device.name)
    monkeypatch.setattr(device, "allocator", fresh)


@pytest.fixture(autouse=True)
def same_gpu():
    """Leave the devices to the next test as this one found them."""
    before = [device.spec for device in all_devices()]
    yield
    if [device.spec for device in all_devices()] != before:
        use_gpus(before)
    set_device(all_devices()[0])


@pytest.fixture(autouse=True, scope="session")
def warm_memory():
    """Let no test pay for cudaMalloc, whose calls depend on the tests before it."""
    current_device().allocator.on_driver_call = lambda _name: None
