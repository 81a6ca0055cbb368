"""Every test here runs with the device added to the embedded core."""

import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import installed, tinytorch


@pytest.fixture(autouse=True)
def device():
    with installed("t4", package=tinytorch.__name__) as installation:
        yield installation


@pytest.fixture
def change(monkeypatch):
    """Change a class of a package before the device is added; put it back afterwards."""
    simgpu.uninstall()
    yield lambda owner, **methods: [
        monkeypatch.setattr(owner, name, value, raising=False)
        for name, value in methods.items()
    ]
    simgpu.uninstall()
    monkeypatch.undo()
