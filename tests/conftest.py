"""Settings of every test: no window, the same random examples and GPU each time."""

import os

import pytest
from hypothesis import settings

from tinytorch_gpu.memory import Allocator
from tinytorch_gpu.runtime import current_device, use_gpu

os.environ.setdefault("MPLBACKEND", "Agg")

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture
def own_memory(monkeypatch):
    """Let a test that frees all device memory free only its own."""
    device = current_device()
    fresh = Allocator(device.spec.memory_bytes, device.name)
    monkeypatch.setattr(device, "allocator", fresh)


@pytest.fixture(autouse=True)
def same_gpu():
    """Leave the modelled GPU to the next test as this one found it."""
    before = current_device().spec
    yield
    if current_device().spec is not before:
        use_gpu(before)
