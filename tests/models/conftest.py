"""The models of the examples, on both devices."""

import importlib.util
import sys
from pathlib import Path

import pytest

from tinytorch_gpu import installed, tinytorch

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name):
    """Import an example as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def cnn_digits():
    return example("cnn_digits")


@pytest.fixture(scope="session")
def tiny_gpt():
    return example("tiny_gpt")


@pytest.fixture
def on_simgpu():
    """Add the device to the embedded core."""
    with installed("t4", tinytorch.__name__):
        yield


@pytest.fixture
def run_main(monkeypatch, capsys):
    """Return a function that runs an example's `main` and gives what it printed."""

    def run(module, *words):
        monkeypatch.setattr(sys, "argv", [module.__name__, *words])
        module.main()
        return capsys.readouterr().out

    return run
