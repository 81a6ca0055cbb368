"""A change of whatever a method can reach is seen, and tried anew."""

import types

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tinytorch_gpu.integration.reachable import Reachable

B = "standin_b.core"
X = np.float32([[-2.0, -0.5, 0.0], [0.3, 1.0, 4.0]])

SOURCE = """
import functools
def inner(x): return np.tanh(x)
def helper(x): return inner(x)
def scaled(x): return np.tanh(K * x)
CONF, TABLE, K = {"k": 1.0}, [lambda x: np.tanh(x)], 1.0
DEEP = {"a": {"b": [1.0]}}
WEIGHT = np.ones(1, np.float32)
def by_helper(self, x): return helper(x)
def by_dict(self, x): return np.tanh(CONF["k"] * x)
def by_nested(self, x): return np.tanh(DEEP["a"]["b"][0] * x)
def by_module(self, x): return np.tanh(conf.K * x)
def by_helpers_global(self, x): return scaled(x)
def by_table(self, x): return TABLE[0](x)
def by_array(self, x): return np.tanh(x * float(WEIGHT[0]))
def by_default(self, x, k=1.0): return np.tanh(k * x)
def by_keyword(self, x, *, k=1.0): return np.tanh(k * x)
def by_method(self, x): return self.core(x)
def by_inner_function(self, x): return [helper(x) for _ in range(1)][0]
def by_partial(self, x): return bound(x)
bound = functools.partial(helper)
class Other:
    k = 1.0
    def core(self, x): return np.tanh(self.k * x)
def by_class(self, x): return Other().core(x)
"""


def double(x):
    return 2.0 * np.tanh(x)


# What `forward` is, and what then changes in its module or class.
CHANGES = {
    "a function that a helper calls": ("by_helper", lambda m: m.update(inner=double)),
    "a value in a dict": ("by_dict", lambda m: m["CONF"].update(k=2.0)),
    "a value in a list in dicts": (
        "by_nested",
        lambda m: m["DEEP"]["a"]["b"].__setitem__(0, 2.0),
    ),
    "an attribute of a config": ("by_module", lambda m: setattr(m["conf"], "K", 2.0)),
    "a global that a helper reads": ("by_helpers_global", lambda m: m.update(K=2.0)),
    "a function in a list": (
        "by_table",
        lambda m: m["TABLE"].__setitem__(0, double),
    ),
    "an array": ("by_array", lambda m: m["WEIGHT"].fill(2.0)),
    "defaults": (
        "by_default",
        lambda m: setattr(m["by_default"], "__defaults__", (2.0,)),
    ),
    "keyword defaults": (
        "by_keyword",
        lambda m: setattr(m["by_keyword"], "__kwdefaults__", {"k": 2.0}),
    ),
    "the code of a helper": (
        "by_helper",
        lambda m: setattr(m["helper"], "__code__", double.__code__),
    ),
    "a function in a comprehension": (
        "by_inner_function",
        lambda m: m.update(inner=double),
    ),
    "a function in a partial": ("by_partial", lambda m: m.update(inner=double)),
    "another class's attribute": ("by_class", lambda m: setattr(m["Other"], "k", 2.0)),
    "another class's method": (
        "by_class",
        lambda m: setattr(m["Other"], "core", lambda self, x: double(x)),
    ),
}


@pytest.fixture
def space():
    """The globals of a module of a learner's."""
    names = {"np": np, "__name__": "learners", "conf": types.SimpleNamespace(K=1.0)}
    exec(SOURCE, names)
    return names


@pytest.fixture
def tanh(change):
    """Give tanh a forward; return what tries a change."""
    package = Package(B)
    owner, layer = package.get("TanhFunction"), package.get("Tanh")()
    x = package.Tensor(X)

    def served():
        with simgpu.profiler.profile() as prof:
            got = host(layer.forward(package.plain(X, "simgpu")))
        np.testing.assert_allclose(got, layer.forward(x).data, rtol=1e-5, atol=1e-6)
        return {r.op for r in prof.events() if hasattr(r, "implementation")}

    def tried(forward, changed, **others):
        change(owner, forward=forward, **others)
        simgpu.install("t4", B)
        assert "tinytorch::tanh" in served()
        changed()
        assert "tinytorch::tanh_own_code" in served()

    return tried


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_far_from_the_method_is_seen(name, space, tanh):
    forward, changed = CHANGES[name]
    tanh(space[forward], lambda: changed(space))


def test_a_change_in_a_closure_is_seen(tanh):
    k = [1.0]
    tanh(lambda self, x: np.tanh(k[0] * x), lambda: k.__setitem__(0, 2.0))
    factor = 1.0

    def forward(self, x):
        return np.tanh(factor * x)

    def changed():
        nonlocal factor
        factor = 2.0

    tanh(forward, changed)


def test_a_change_in_a_base_class_is_seen(space, change):
    package = Package(B)
    module = package.found.modules["activations"]
    plain = module.TanhFunction
    body = {"__module__": module.__name__, "core": lambda self, x: np.tanh(x)}
    base = type("Base", (package.found.function_class,), body)
    body = {"__module__": module.__name__, "forward": space["by_method"],
            "backward": plain.backward}  # fmt: skip
    owner = type("TanhFunction", (base,), body)
    change(module, TanhFunction=owner)
    layer = package.get("Tanh")()
    change(type(layer), function=owner)
    simgpu.install("t4", B)
    x = package.plain(X, "simgpu")
    np.testing.assert_allclose(host(layer.forward(x)), np.tanh(X), atol=1e-6)
    base.core = lambda self, x: double(x)
    np.testing.assert_allclose(host(layer.forward(x)), double(X), atol=1e-6)
    owner.core = lambda self, x: np.tanh(x)  # and an override of it
    np.testing.assert_allclose(host(layer.forward(x)), np.tanh(X), atol=1e-6)


def test_what_a_method_wrote_is_put_back():
    names = {"np": np, "__name__": "learners", "SEEN": [], "N": 0, "TABLE": np.zeros(2)}
    exec(
        "def f(x):\n    global N, NEW\n    N, NEW = N + 1, x\n"
        "    SEEN.append(x)\n    TABLE[0] = x\n",
        names,
    )
    reached = Reachable([names["f"]], [])
    assert reached.is_same()
    names["f"](3)
    assert not reached.is_same()
    reached.put_back()
    assert (names["SEEN"], names["N"], names["TABLE"].tolist()) == ([], 0, [0.0, 0.0])
    assert "NEW" not in names
    assert reached.is_same()


def test_code_that_calls_itself_or_holds_itself_comes_to_an_end():
    names = {"__name__": "learners", "held": []}
    names["held"].append(names["held"])
    exec("def f(x): return g(held)\ndef g(x): return f(x)\n", names)
    assert Reachable([names["f"]], []).is_same()
