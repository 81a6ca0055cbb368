"""Detection looks at what is there."""

import sys
from types import ModuleType

import pytest

from tinytorch_gpu import tinytorch
from tinytorch_gpu.errors import InstallError, UnsupportedError
from tinytorch_gpu.integration.detect import detect


def fake(monkeypatch, **names):
    package, tensor = ModuleType("fake_tt"), ModuleType("fake_tt.tensor")
    package.__path__ = []
    tensor.__file__ = "fake_tt/tensor.py"
    tensor.__spec__ = package.__spec__ = sys.__spec__
    vars(tensor).update(names)
    monkeypatch.setitem(sys.modules, "fake_tt", package)
    monkeypatch.setitem(sys.modules, "fake_tt.tensor", tensor)


def test_the_embedded_core_is_generation_b():
    found = detect(tinytorch.__name__)
    assert (found.generation, found.tensor_class) == ("B", tinytorch.Tensor)
    assert {"tensor", "autograd", "layers", "optimizers"} <= set(found.modules)


def test_a_package_that_is_not_there():
    with pytest.raises(InstallError, match="no_such_package"):
        detect("no_such_package")


def test_a_package_without_tensor_class(monkeypatch):
    fake(monkeypatch)
    with pytest.raises(InstallError, match="Tensor"):
        detect("fake_tt")


def test_generation_a_is_refused_with_the_reason(monkeypatch):
    fake(monkeypatch, Tensor=type("Tensor", (), {}))
    with pytest.raises(UnsupportedError, match="generation A"):
        detect("fake_tt")
