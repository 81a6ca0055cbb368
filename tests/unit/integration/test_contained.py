"""A kernel answers for code whose every source is known; other code runs itself."""

import linecache
import os
import textwrap
from pathlib import Path

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tests.unit.integration.both import equal_on_both
from tinytorch_gpu.integration.contained import Contained, Root
from tinytorch_gpu.integration.sources import tree_of

A, B = "standin_a.core", "standin_b.core"
X = np.float32([[-2.0, -0.5, 0.0], [0.3, 1.0, 4.0]])
LARGE = np.linspace(-4.0, 4.0, 40 * 50, dtype=np.float32).reshape(40, 50)

# Parts of a learner's module, and a `forward` of tanh that reads more than its operand.
PARTS = """
import functools, os, random, sys, time, types, weakref
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
import numpy as np
class Config: pass
CONFIG = Config(); CONFIG.k = 1.0
SPACE = types.SimpleNamespace(k=1.0)
@dataclass
class Record: k: float = 1.0
RECORD = Record()
def get_config(): return RECORD
class Scaler:
    def __init__(self): self.k = 1.0
    def __call__(self, x): return x * self.k
SCALE = Scaler()
class Single:
    it = None
    @classmethod
    def get(cls):
        if cls.it is None: cls.it = cls(); cls.it.k = 1.0
        return cls.it
TABLE, LIST, WEIGHT, K = {"k": 1.0}, [1.0], np.ones(1, np.float32), 1.0
@functools.lru_cache(None)
def cached(): return TABLE["k"]
def shared(x, config=CONFIG): return x * config.k
COUNTS, QUEUE, SEEN = Counter(), deque(), defaultdict(int)
ORDER = OrderedDict()
N = 0
def count():
    global N
    N += 1
def timed(function):
    @functools.wraps(function)
    def wrapper(self, x):
        SEEN["calls"] += 1
        return function(self, x)
    return wrapper
bound = functools.partial(shared)
WEAK = weakref.WeakKeyDictionary()
class Slotted:
    __slots__ = ("k",)
def inner(x): return np.tanh(x)
def helper(x): return inner(x)
def scaled(x): return np.tanh(K * x)
class Plain:
    k = 1.0
    def core(self, x): return np.tanh(self.k * x)
"""
NOT_FOLLOWED = {
    "an object": "return np.tanh(CONFIG.k * x)",
    "a SimpleNamespace": "return np.tanh(SPACE.k * x)",
    "a function's object": "return np.tanh(get_config().k * x)",
    "a callable object": "return np.tanh(SCALE(x))",
    "a singleton": "return np.tanh(Single.get().k * x)",
    "a dict": "return np.tanh(TABLE['k'] * x)",
    "a list": "return np.tanh(LIST[0] * x)",
    "an array": "return np.tanh(WEIGHT * x)",
    "a cache": "return np.tanh(cached() * x)",
    "a default": "return np.tanh(shared(x))",
    "a partial": "return np.tanh(bound(x))",
    "the environment": "return np.tanh(float(os.environ.get('K', '1')) * x)",
    "the environment, imported": "import os; return np.tanh(x)",
    "an attribute of the operand": "return np.tanh(x * getattr(x, 'scale', 1.0))",
    "a name that is computed": "return np.tanh(x * getattr(self, 'k' + '', 1.0))",
    "a random number": "np.random.rand(); return np.tanh(x)",
    "a Counter": "COUNTS['n'] += 1; return np.tanh(x)",
    "a deque": "QUEUE.append(x.shape); return np.tanh(x)",
    "a defaultdict": "SEEN['n'] += 1; return np.tanh(x)",
    "an OrderedDict": "ORDER[len(ORDER)] = 1; return np.tanh(x)",
    "a global": "count(); return np.tanh(x)",
    "what is printed": "print('here'); return np.tanh(x)",
    "a file": "open('/dev/null').close(); return np.tanh(x)",
    "the process": "sys.exit(3)",
    "the clock": "time.sleep(0); return np.tanh(x)",
    "a class attribute": "type(self).last = 1; return np.tanh(x)",
    "a weak dict": "return np.tanh(WEAK.get(self, 1.0) * x)",
    "code as text": "return eval('np.tanh(x)')",
    "its own attributes": "return np.tanh(vars(self).get('k', 1.0) * x)",
    "a file of NumPy's": "np.load; return np.tanh(x)",
    "a slot": "s = Slotted(); s.k = 1.0; return np.tanh(s.k * x)",
}
FOLLOWED = {
    "a helper's helper": ("return helper(x)", "inner", lambda x: 2 * np.tanh(x)),
    "a helper's global": ("return scaled(x)", "K", 2.0),
    "a class": ("return Plain().core(x)", "inner", None),
    "a comprehension": ("return [helper(x) for _ in range(1)][0]", "inner", None),
    "a function within": (
        "def g(a):\n        return helper(a)\n    return g(x)", "inner", None,
    ),
    "an import": ("from numpy import tanh\n    return tanh(x)", "inner", None),
    "a branch by shape": (
        "y = np.tanh(x)\n    return y if x.ndim else y", "inner", None,
    ),
}  # fmt: skip


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Import a module of the parts and a function; return it."""

    def made(body, more=""):
        name = f"learners_{len(list(tmp_path.iterdir()))}_{tmp_path.name}"
        text = f"{PARTS}\n{more}\ndef forward(self, x):\n    {body}\n"
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        return __import__(name)

    return made


@pytest.fixture
def tanh(change):
    """Give tanh a forward; return what runs it, compared with the CPU."""
    package = Package(B)
    owner, layer = package.get("TanhFunction"), package.get("Tanh")()

    def served(forward=None, **methods):
        if forward is not None:
            change(owner, forward=forward, **methods)
        simgpu.install("t4", B)
        with simgpu.profiler.profile() as prof:
            got = host(layer.forward(package.plain(X, "simgpu")))
        expected = layer.forward(package.plain(X)).data
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
        return {r.op for r in prof.events() if hasattr(r, "implementation")}

    return served


@pytest.mark.parametrize("name", NOT_FOLLOWED)
def test_what_cannot_be_followed_is_not_even_tried(name, module, change):
    learners = module(NOT_FOLLOWED[name])
    package = Package(B)
    owner = package.get("TanhFunction")
    change(owner, forward=learners.forward)
    summary = str(simgpu.install("t4", B))
    (note,) = [n for n in summary.splitlines() if n.startswith("Tanh: your formula")]
    assert "(it " in note or "(a default" in note or "Slotted" in note
    assert (learners.N, len(learners.COUNTS), len(learners.QUEUE)) == (0, 0, 0)
    assert (len(learners.SEEN), len(learners.ORDER)) == (0, 0)
    assert not hasattr(owner, "last")


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("return np.tanh(CONFIG.k * x)", lambda m: setattr(m.CONFIG, "k", 2.0)),
        ("return np.tanh(SPACE.k * x)", lambda m: setattr(m.SPACE, "k", 2.0)),
        ("return np.tanh(get_config().k * x)", lambda m: setattr(m.RECORD, "k", 2.0)),
        ("return np.tanh(SCALE(x))", lambda m: setattr(m.SCALE, "k", 2.0)),
        ("return np.tanh(TABLE['k'] * x)", lambda m: m.TABLE.update(k=2.0)),
        ("return np.tanh(shared(x))", lambda m: setattr(m.CONFIG, "k", 2.0)),
        ("return np.tanh(cached() * x)",
         lambda m: (m.TABLE.update(k=2.0), m.cached.cache_clear())),
    ],
)  # fmt: skip
def test_so_a_change_of_it_is_on_the_device_as_on_the_cpu(body, changed, module, tanh):
    learners = module(body)
    tanh(learners.forward)
    changed(learners)
    assert "tinytorch::tanh_own_code" in tanh()


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_is_followed_has_its_kernel_until_it_changes(name, module, tanh):
    body, changed, value = FOLLOWED[name]
    learners = module(body)
    assert "tinytorch::tanh_own_code" not in tanh(learners.forward)
    if value is not None:
        setattr(learners, changed, value)
        assert "tinytorch::tanh_own_code" in tanh()


def test_a_decorator_of_the_learners_runs(module, tanh):
    learners = module("return np.tanh(x)", "")
    assert "tinytorch::tanh_own_code" in tanh(learners.timed(learners.forward))
    assert learners.SEEN["calls"] == 2  # on the device, and to compare on the CPU


def test_parts_of_functions_and_classes_are_watched(module, tanh):
    learners = module("return Plain().core(x)")
    assert "tinytorch::tanh_own_code" not in tanh(learners.forward)
    learners.Plain.k = 2.0
    assert "tinytorch::tanh_own_code" in tanh()
    learners.Plain.k = 1.0
    assert "tinytorch::tanh_own_code" not in tanh()
    learners.Plain.core = lambda self, x: 2.0 * np.tanh(x)
    assert "tinytorch::tanh_own_code" in tanh()


def test_defaults_code_and_closures_are_watched(tanh):
    factor = 1.0

    def forward(self, x, k=1.0):
        return np.tanh(k * factor * x)

    assert "tinytorch::tanh_own_code" not in tanh(forward)
    forward.__defaults__ = (2.0,)
    assert "tinytorch::tanh_own_code" in tanh()
    forward.__defaults__ = (1.0,)
    assert "tinytorch::tanh_own_code" not in tanh()
    factor = 2.0
    assert "tinytorch::tanh_own_code" in tanh()


def test_code_without_its_text_runs_itself(tanh):
    names = {"np": np, "__name__": "learners"}
    exec("def forward(self, x): return np.tanh(x)", names)
    assert tree_of(names["forward"]) is None
    assert "tinytorch::tanh_own_code" in tanh(names["forward"])


def test_a_text_that_was_edited_since_is_not_the_codes(module):
    learners = module("return np.tanh(x)")
    assert tree_of(learners.forward) is not None
    path = Path(learners.__file__)
    path.write_text(path.read_text().replace("np.tanh(x)", "np.tanh(2 * x)"))
    os.utime(path, (1, 1))
    linecache.checkcache(str(path))
    assert tree_of(learners.forward) is None


# Generation A: what a layer keeps, and what a result carries.

CLASS = """
class Learners:
    {attributes}
    def parameters(self): return []
    def __init__(self, *arguments):
        {init}
    def forward(self, x):
        {body}
        return made
"""
OBJECTS = {
    "a config of its own": ("", "self.cfg = CONFIG", "k = self.cfg.k"),
    "a class's object": ("scaler = SCALE", "pass", "k = self.scaler.k"),
    "a property": (
        "@property\n    def k(self): return WEAK.get(self, 1.0)", "pass", "k = self.k",
    ),
    "its last operand": ("", "pass", "k = 1.0; self.last = x"),
    "a name for its result": ("", "pass", "k = 1.0"),
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_what_a_layer_of_generation_a_keeps_is_not_hidden(name, module, change):
    attributes, init, body = OBJECTS[name]
    body += "; made = TENSOR(np.tanh(x.data * k))"
    if name == "a name for its result":
        body += "; made.name = 'tanh'"
    text = textwrap.dedent(CLASS).format(attributes=attributes, init=init, body=body)
    learners = module("pass", text)
    package = Package(A)
    learners.TENSOR = package.Tensor
    owner = package.get("Tanh")
    wanted = {"forward", "__init__", "scaler", "k"}
    own = vars(learners.Learners)
    members = {n: v for n, v in own.items() if n in wanted}
    change(owner, **members)
    served = equal_on_both(package, lambda x: owner().forward(x), X)
    assert "tinytorch::tanh_own_code" in served
    layer, x = owner(), package.plain(X, "simgpu")
    out = layer.forward(x)
    if name == "its last operand":
        assert layer.last is x
    if name == "a name for its result":
        assert out.name == "tanh"


def test_a_slot_is_not_hidden(change):
    package = Package(A)
    tensor = package.Tensor

    class Slotted(package.get("Tanh")):
        __slots__ = ("k",)

        def forward(self, x):
            return tensor(np.tanh(x.data * self.k))

    def program(x):
        layer = Slotted()
        layer.k = 2.0
        return layer.forward(x)

    equal_on_both(package, program, X)


def test_code_that_differs_for_large_inputs_runs_itself(change):
    package = Package(B)
    change(
        package.get("TanhFunction"),
        forward=lambda self, x: np.tanh(x) if len(x) <= 16 else x,
    )
    assert "tanh" in simgpu.install("t4", B).decomposed_ops
    out = package.get("Tanh")().forward(package.plain(LARGE, "simgpu"))
    np.testing.assert_allclose(host(out), LARGE, atol=1e-6)


def test_code_that_calls_itself_comes_to_an_end():
    def f(x):
        return g(x) if x else 1.0

    def g(x):
        return f(x - 1)

    owner = type("Learners", (), {"__module__": "learners", "f": lambda self, x: f(x)})
    assert Contained([Root(owner, "f")], type("Tensor", (), {})).reason == ""


@pytest.mark.parametrize("name", [A, B, "tinytorch_gpu.tinytorch"])
def test_a_whole_package_can_be_followed(name):
    Package(name)
    with simgpu.installed("t4", name) as installation:
        assert "it reads" not in str(installation)
        assert "it calls" not in str(installation)
