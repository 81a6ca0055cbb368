"""What library code makes itself goes to the device; what was not moved is refused."""

import sys
import threading

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tests.unit.integration.both import equal_on_both
from tinytorch_gpu import library
from tinytorch_gpu.errors import DeviceMismatchError
from tinytorch_gpu.integration.home import at_home, current_home

A, B = "standin_a.core", "standin_b.core"
X = np.linspace(-2.0, 2.0, 12, dtype=np.float32).reshape(3, 4)

LAYERS = """
import numpy as np
from {package}.tensor import Tensor

class Made:
    def __init__(self, make):
        self.make = make
    def parameters(self):
        return []
    def __call__(self, x):
        return self.forward(x)

class Drop(Made):
    def forward(self, x):
        np.random.seed(3)
        return Tensor(x.data * (np.random.rand(*x.shape) > 0.5) / 0.5)
class Full(Made):
    def forward(self, x): return Tensor(x.data + np.full(x.shape, 0.5))
class Range(Made):
    def forward(self, x): return Tensor(x.data * np.arange(x.shape[1]))
class Line(Made):
    def forward(self, x): return Tensor(np.linspace(0, 1, x.shape[1]) * x.data)
class Tri(Made):
    def forward(self, x): return Tensor(x.data * np.tri(*x.shape))
class Bools(Made):
    def forward(self, x):
        mask = np.zeros(x.shape, dtype=bool)
        mask[:, 0] = True
        return Tensor(np.where(mask, x.data, 0.0))
class Numbers(Made):
    def forward(self, x): return Tensor(x.data * [1, 2, 3, 4])
class Position(Made):
    def __init__(self):
        self.table = Tensor(np.ones((8, 4)))
    def parameters(self):
        return [self.table]
    def forward(self, x):
        part = Tensor(self.table.data[: x.shape[0]])
        return Tensor(x.data + part.data)
class Masked(Made):
    def forward(self, x, mask=None): return Tensor(x.data * mask.data)
class Loop(Made):
    def forward(self, x):
        out = [[float(v) * 2 for v in row] for row in x.data]
        return HOST(out)
"""
NAMES = ["Drop", "Full", "Range", "Line", "Tri", "Bools", "Numbers"]


@pytest.fixture(params=[A, B])
def layers(request, monkeypatch):
    """Add layers to a package's module, as a learner writes them; return both."""
    simgpu.uninstall()
    package = Package(request.param)
    module = package.found.modules["layers"]
    before = set(vars(module))
    exec(LAYERS.format(package=package.name), vars(module))
    yield package, module
    simgpu.uninstall()
    for name in vars(module).keys() - before:
        delattr(module, name)


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_library_code_are_copied_with_the_reason(name, layers):
    package, module = layers
    layer = getattr(module, name)(None)
    simgpu.install("t4", package.name)
    expected = layer(package.plain(X)).data
    with library.log() as log:
        got = layer(package.plain(X, "simgpu"))
    np.testing.assert_allclose(host(got), expected, rtol=1e-6)
    reasons = {e.reason for e in log.entries if e.kind == "copy"}
    assert f"made in {name}.forward" in reasons


def test_those_of_a_script_are_refused(layers):
    package, _ = layers
    simgpu.install("t4", package.name)
    x = package.plain(X, "simgpu")
    for other in (np.arange(4), np.ones((3, 4)), [1, 2, 3, 4]):
        with pytest.raises(DeviceMismatchError, match="cpu"):
            x.data * other


def test_a_parameter_that_was_not_moved_is_no_constant(layers):
    package, module = layers
    simgpu.install("t4", package.name)
    layer, x = module.Position(), package.plain(X, "simgpu")
    with pytest.raises(DeviceMismatchError, match=r"simgpu:0.*\(3, 4\).*cpu"):
        layer(x)
    moved = simgpu.integration.move_model(layer, "simgpu")
    np.testing.assert_array_equal(host(moved(x)), X + 1.0)


def test_a_mask_that_was_not_moved_is_named_with_its_layer(layers):
    package, module = layers
    simgpu.install("t4", package.name)
    x, mask = package.plain(X, "simgpu"), package.plain(X > 0)
    with pytest.raises(DeviceMismatchError, match=r"Masked.forward.*\n.*cpu \(3, 4\)"):
        module.Masked(None).forward(x, mask)


def test_a_layer_whose_result_is_on_the_host_is_refused(layers):
    package, module = layers
    simgpu.install("t4", package.name)
    x = package.plain(X, "simgpu")

    class Script(module.Made):
        def forward(self, x):
            return package.Tensor(np.zeros(x.shape))

    class Said(module.Made):
        def forward(self, x):
            return package.Tensor(x.cpu().data * 2.0)

    with pytest.raises(DeviceMismatchError, match=r"Script\.forward"):
        Script(None)(x)
    assert Said(None)(x).device == "cpu"  # it says so
    assert Script(None)(package.plain(X)).device == "cpu"


def test_another_threads_code_is_not_at_home():
    seen = []

    def work(x):
        thread = threading.Thread(target=lambda: seen.append(current_home()))
        thread.start()
        thread.join()
        return current_home()

    x = simgpu.cuda.to_device(X)
    assert at_home(work, "f")(x).name == "f"
    assert seen == [None]


def test_a_loader_beside_a_model_stays_on_the_host(layers):
    package, _ = layers
    simgpu.install("t4", package.name)
    layer = simgpu.integration.move_model(package.get("Linear")(4, 4), "simgpu")
    x, devices, stop = package.plain(X, "simgpu"), [], threading.Event()

    def load():
        while not stop.is_set():
            devices.append(package.Tensor(np.ones((2, 2))).device)

    thread = threading.Thread(target=load)
    thread.start()
    for _ in range(20):
        layer.forward(x)
    stop.set()
    thread.join()
    assert set(devices) == {"cpu"}


# Generation A's slices, and nodes that keep sizes.


@pytest.mark.parametrize("key", [[0, 0, 1], np.array([1, 1]), slice(1, 3), (1, 2), 0])
@pytest.mark.parametrize("adds", [False, True])
def test_the_gradient_of_a_slice_is_the_learners(adds, key, change):
    package = Package(A)
    node = type(package.leaf(X)[1]._grad_fn)

    def assigned(self, grad):
        made = np.zeros_like(self.saved_tensors[0].data)
        made[self.key] = grad
        return (made,)

    def added(self, grad):
        made = np.zeros_like(self.saved_tensors[0].data)
        np.add.at(made, self.key, grad)
        return (made,)

    change(node, apply=added if adds else assigned)
    served = equal_on_both(package, lambda x: x[key], X)
    assert served.get("tinytorch::slice") in {"Decompose", "View"}


@pytest.mark.parametrize("shape", [(3, 7), (4, 5), (40, 10)])
def test_sizes_that_a_node_keeps_are_those_of_its_operands(shape, change):
    package = Package(A)
    node = package.found.modules["autograd"].CrossEntropyBackward
    plain = node.__init__

    def init(self, logits, targets):
        plain(self, logits, targets)
        self.batch_size, self.num_classes = logits.data.shape

    change(node, __init__=init)
    served = equal_on_both(
        package,
        lambda x: package.get("CrossEntropyLoss")().forward(
            x, package.plain(np.arange(shape[0]) % shape[1], x.device)
        ),
        np.random.default_rng(1).normal(size=shape).astype(np.float32),
    )
    assert served["tinytorch::cross_entropy_backward"] == "SimGPU"


# Tensor classes of a learner's own.

TENSOR = """
{imports}
class Tensor:
    {slots}
    def __init__(self, data):
        {made}
        self.shape = self.{name}.shape
    def __add__(self, other): return Tensor(self.{name} + other.{name})
{more}
"""
FORMS = {
    "plain": {},
    "import numpy": {"imports": "import numpy", "made": "numpy.array"},
    "from numpy": {"imports": "from numpy import array, float32", "made": "array"},
    "a device of its own": {"more": "", "made": "device"},
    "a slot": {"slots": "__slots__ = ('data', 'shape')"},
    "a property": {
        "name": "_data",
        "more": "    @property\n    def data(self): return self._data\n",
    },
    "another name": {"name": "value"},
    "a check": {"made": "check"},
}
REFUSED = {"a slot", "a property", "another name", "a check"}
MADE = {
    "numpy.array": "self.data = numpy.array(data, dtype=numpy.float32)",
    "array": "self.data = array(data, dtype=float32)",
    "device": "self.device = 'cpu'; self.data = np.array(data, dtype=np.float32)",
    "check": "assert isinstance(data, (list, np.ndarray)); "
    "self.data = np.array(data, dtype=np.float32)",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_tensor_of_another_form_works_or_is_refused_before_any_effect(
    form, tmp_path, monkeypatch
):
    simgpu.uninstall()
    given = {"imports": "import numpy as np", "slots": "pass", "name": "data",
             "more": "", **FORMS[form]}  # fmt: skip
    plain = f"self.{given['name']} = np.array(data, dtype=np.float32)"
    given["made"] = MADE.get(given.get("made", ""), plain)
    package = f"formed_{list(FORMS).index(form)}"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    (tmp_path / package / "tensor.py").write_text(TENSOR.format(**given))
    monkeypatch.syspath_prepend(str(tmp_path))
    if form in REFUSED:
        with pytest.raises(
            simgpu.errors.UnsupportedError, match=r"(?s)where.*why.*fix"
        ):
            simgpu.install("t4", package)
    else:
        simgpu.install("t4", package)
    tensor = sys.modules[f"{package}.tensor"].Tensor
    both = tensor([1.0, 2.0]) + tensor([3.0, 4.0])
    assert getattr(both, given["name"]).tolist() == [4.0, 6.0]
    if form in REFUSED:
        assert not hasattr(tensor, "to")
    else:
        there = tensor([1.0, 2.0]).to("simgpu")
        assert (there + there).cpu().data.tolist() == [2.0, 4.0]
    simgpu.uninstall()


def test_a_module_that_leaves_the_process_is_told(tmp_path, monkeypatch):
    package = tmp_path / "leaving"
    package.mkdir()
    (package / "__init__.py").touch()
    text = TENSOR.format(
        imports="import numpy as np", slots="pass", name="data", more="",
        made="self.data = np.array(data, dtype=np.float32)",
    )  # fmt: skip
    (package / "tensor.py").write_text(text)
    (package / "layers.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    summary = str(simgpu.install("t4", "leaving"))
    assert "not imported: layers (SystemExit: 3)" in summary
    assert "these ops have kernels: none yet" in summary
    simgpu.uninstall()


@pytest.mark.parametrize("given", [None, "array"])
def test_what_a_forward_gives_that_is_no_tensor_is_what_it_gave(given, change):
    package = Package(A)

    def forward(self, x):
        return None if given is None else np.maximum(x.data, 0.0)

    change(package.get("ReLU"), forward=forward)
    simgpu.install("t4", A)
    out = package.get("ReLU")().forward(package.plain(X, "simgpu"))
    assert out is None if given is None else host(out).min() == 0.0
