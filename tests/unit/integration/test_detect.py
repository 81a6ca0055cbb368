"""Detection looks at what is there."""

import sys
from types import ModuleType

import numpy as np
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


class Earlier:
    """A Tensor of module 01, before autograd; A2's does not know of gradients."""

    def __init__(self, data):
        self.data = np.array(data, np.float32)


class Knowing(Earlier):
    def __init__(self, data, requires_grad=False):
        super().__init__(data)
        self.requires_grad = requires_grad


@pytest.mark.parametrize(("tensor", "generation"), [(Earlier, "A2"), (Knowing, "A1")])
def test_generation_a_is_known_by_its_constructor(monkeypatch, tensor, generation):
    fake(monkeypatch, Tensor=tensor)
    found = detect("fake_tt")
    assert (found.generation, found.function_class) == (generation, None)


def test_generation_b_is_known_by_a_classmethod(monkeypatch):
    function = type("Function", (), {"apply": classmethod(lambda cls, *_: None)})
    fake(monkeypatch, Tensor=Knowing, Function=function)
    assert detect("fake_tt").generation == "B"


def test_what_cannot_be_imported_yet_is_told(tmp_path, monkeypatch):
    core = tmp_path / "half_tt" / "core"
    core.mkdir(parents=True)
    text = "import numpy as np\nclass Tensor:\n    def __init__(self, data):\n"
    (core / "tensor.py").write_text(text + "        self.data = np.array(data)\n")
    (core / "layers.py").write_text("def forward(\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = detect("half_tt.core")
    assert list(found.modules) == ["tensor"]
    assert "SyntaxError" in found.unfinished["layers"]
    assert str(found).splitlines()[1].startswith("not imported: layers (SyntaxError")


def test_a_tensor_that_keeps_no_numpy_array_is_another_library(monkeypatch):
    other = type(
        "Tensor", (), {"__init__": lambda self, data: vars(self).update(data=data)}
    )
    fake(monkeypatch, Tensor=other)
    with pytest.raises(UnsupportedError, match=r"list") as caught:
        detect("fake_tt")
    assert "not Harvard's TinyTorch" in str(caught.value)


def test_a_library_with_its_tensor_elsewhere_is_refused(tmp_path, monkeypatch):
    (tmp_path / "other_tt").mkdir()
    text = "class Tensor:\n    pass\n"
    (tmp_path / "other_tt" / "tensor.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnsupportedError, match=r"Tensor is in other_tt\.tensor"):
        detect("other_tt.core")


def test_a_package_of_that_name_without_core_is_refused(tmp_path, monkeypatch):
    (tmp_path / "bare_tt").mkdir()
    (tmp_path / "bare_tt" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnsupportedError, match=r"no package bare_tt\.core"):
        detect("bare_tt.core")


def test_nothing_exported_yet_is_no_other_library(tmp_path, monkeypatch):
    (tmp_path / "new_tt" / "core").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InstallError, match="tito module complete 01"):
        detect("new_tt.core")
