"""The learner's own formula runs where it differs from the op that it is named after."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tests.unit.integration.both import equal_on_both, moved
from tinytorch_gpu import library, profiler
from tinytorch_gpu.integration import fits, move_model

A, B = "standin_a.core", "standin_b.core"
X = np.float32([[-2.0, -0.5, 0.0], [0.3, 1.0, 4.0]])
ROWS = np.random.default_rng(2).normal(size=(3, 4)).astype(np.float32)
IMAGE = np.random.default_rng(3).normal(size=(1, 2, 4, 4)).astype(np.float32)


def tanh_form(x):
    return 0.5 * x * (1.0 + np.tanh(0.7978846 * (x + 0.044715 * x**3)))


def tanh_slope(x):
    inner = np.tanh(0.7978846 * (x + 0.044715 * x**3))
    slope = 0.7978846 * (1.0 + 0.134145 * x**2)
    return 0.5 * (1.0 + inner) + 0.5 * x * (1.0 - inner**2) * slope


def cooled(x, dim):
    e = np.exp((x - np.max(x, axis=dim, keepdims=True)) / 2.0)
    return e / np.sum(e, axis=dim, keepdims=True)


def by_n_minus_1(self, x, gamma, beta):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    total = np.sum(centred * centred, axis=-1, keepdims=True)
    self.normalized_data = centred / np.sqrt(total / (x.shape[-1] - 1) + self.eps)
    return self.normalized_data * gamma + beta


# Class of generation B → its `forward` as a learner may have written it, the program
# and its inputs.
FORMS = {
    "GELU in tanh form": (
        "GELUFunction",
        {
            "forward": lambda self, x: tanh_form(x),
            "backward": lambda self, g: (g * tanh_slope(self.inputs[0].data),),
        },
        lambda p: lambda x: p.get("GELU")().forward(x),
        X,
    ),
    "leaky slope": (
        "ReLUFunction",
        {"forward": lambda self, x: np.where(x > 0, x, 0.01 * x)},
        lambda p: lambda x: p.get("ReLU")().forward(x),
        X,
    ),
    "temperature": (
        "SoftmaxFunction",
        {"forward": lambda self, x: cooled(x, self.dim)},
        lambda p: lambda x: p.get("Softmax")().forward(x),
        X,
    ),
    "n - 1": (
        "LayerNormFunction",
        {"forward": by_n_minus_1, "backward": lambda self, g: (g, None, None)},
        lambda p: lambda x: moved(p.get("LayerNorm")(4), x).forward(x),
        ROWS,
    ),
    "b - a": (
        "Sub",
        {"forward": lambda self, a, b: b - a},
        lambda p: lambda x, y: x - y,
        X,
        X + 1.0,
    ),
    "sum of the first axis only": (
        "Sum",
        {"forward": lambda self, a: np.sum(a, axis=0)},
        lambda p: lambda x: x.sum(axis=0),
        X,
    ),
    "a product element by element": (
        "MatMul",
        {"forward": lambda self, a, b: a * b, "backward": lambda self, g: (g, g)},
        lambda p: lambda x, y: x.matmul(y),
        ROWS[:, :3],
        ROWS[:, 1:],
    ),
    "a slice of everything": (
        "Slice",
        {"forward": lambda self, a: a * 1.0, "backward": lambda self, g: (g,)},
        lambda p: lambda x: x[1:],
        X,
    ),
    "a gradient without the output": (
        "SigmoidFunction",
        {"backward": lambda self, g: (g * self.output.data,)},
        lambda p: lambda x: p.get("Sigmoid")().forward(x),
        X,
    ),
    "a gradient at 0": (
        "ReLUFunction",
        {"backward": lambda self, g: (g * (self.inputs[0].data >= 0),)},
        lambda p: lambda x: p.get("ReLU")().forward(x),
        X,
    ),
    "a gradient forgotten": (
        "TanhFunction",
        {"backward": lambda self, g: (None,)},
        lambda p: lambda x: p.get("Tanh")().forward(x),
        X,
    ),
    "a pool that halves": (
        "AvgPool2dFunction",
        {"forward": lambda self, x: 0.5 * x[:, :, ::2, ::2]},
        lambda p: lambda x: p.get("AvgPool2d")(2).forward(x),
        IMAGE,
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_generation_b_keeps_the_learners_formula(name, change):
    class_name, methods, program, *arrays = FORMS[name]
    package = Package(B)
    change(package.get(class_name), **methods)
    served = equal_on_both(package, program(package), *arrays)
    assert "Decompose" in served.values()
    text = str(simgpu.install("t4", B))
    shown = class_name.removesuffix("Function")
    notes = [line for line in text.splitlines() if line.startswith(f"{shown}")]
    assert len(notes) == (shown != "Slice")  # a slice has no kernel to speak of
    assert all("the kernel computes" in note for note in notes)


FORMS_A = {
    "GELU in tanh form": ("GELU", lambda self, x: tanh_form(x.data), X),
    "leaky slope": ("ReLU", lambda self, x: np.where(x.data > 0, x.data, -x.data), X),
    "temperature": ("Softmax", lambda self, x, dim=-1: cooled(x.data, dim), X),
}


@pytest.mark.parametrize("name", FORMS_A)
def test_generation_a_keeps_the_learners_formula(name, change):
    class_name, forward, x = FORMS_A[name]
    package = Package(A)
    owner, made = package.get(class_name), package.Tensor
    change(owner, forward=lambda *args, **kw: made(forward(*args, **kw)))
    served = equal_on_both(package, lambda x: owner().forward(x), x)
    assert f"tinytorch::{class_name.lower()}" not in served
    assert f"{class_name}: your formula, decomposed" in str(simgpu.install("t4", A))


def test_generation_a_keeps_the_learners_gradient(change):
    package = Package(A)
    node = type(package.get("Sigmoid")().forward(package.leaf(X))._grad_fn)
    change(node, apply=lambda self, g: (g * self.output_data,))
    served = equal_on_both(package, lambda x: package.get("Sigmoid")().forward(x), X)
    assert served["tinytorch::sigmoid"] == "SimGPU"
    assert served["tinytorch::sigmoid_backward_own_code"] == "Decompose"
    assert "Sigmoid, gradient: your formula" in str(simgpu.install("t4", A))


def test_generation_a_sees_what_an_object_keeps(change):
    package = Package(A)
    owner, made = package.get("Softmax"), package.Tensor

    def forward(self, x, dim=-1):
        e = np.exp((x.data - np.max(x.data, axis=dim, keepdims=True)) / self.heat)
        return made(e / np.sum(e, axis=dim, keepdims=True))

    change(owner, forward=forward, heat=1.0)
    plain, hot = owner(), owner()
    hot.heat = 2.0
    served = equal_on_both(package, lambda x: plain.forward(x), X)
    assert served["tinytorch::softmax"] == "SimGPU"
    served = equal_on_both(package, lambda x: hot.forward(x), X)
    assert "tinytorch::softmax" not in served


def test_a_formula_that_is_the_ops_is_served_by_kernels(change):
    package = Package(B)
    served = equal_on_both(package, package.get("GELU")().forward, X)
    assert served["tinytorch::gelu"] == served["tinytorch::gelu_backward"] == "SimGPU"
    assert "your formula" not in str(simgpu.install("t4", B))


def test_code_that_raises_on_the_cpu_raises_on_the_device(change):
    def todo(self, x):
        raise NotImplementedError("TODO: module 02")

    package = Package(B)
    change(package.get("TanhFunction"), forward=todo)
    text = str(simgpu.install("t4", B))
    assert "Tanh: raises NotImplementedError: TODO: module 02; it runs as" in text
    with pytest.raises(NotImplementedError):
        package.get("Tanh")().forward(package.plain(X, "simgpu"))


def test_a_forward_that_is_written_anew_is_tried_anew(change, monkeypatch):
    package = Package(B)
    owner, gelu = package.get("GELUFunction"), package.get("GELU")()
    change(owner, forward=owner.forward, backward=owner.backward)  # put back at the end
    before = equal_on_both(package, gelu.forward, X)
    assert before["tinytorch::gelu"] == "SimGPU"
    # A notebook's cell replaces the function; `%autoreload` its code.
    monkeypatch.setattr(owner, "forward", lambda self, x: tanh_form(x))
    monkeypatch.setattr(
        owner, "backward", lambda self, g: (g * tanh_slope(self.inputs[0].data),)
    )
    served = equal_on_both(package, gelu.forward, X)
    assert "tinytorch::gelu" not in served
    assert "GELU: your formula" in str(simgpu.install("t4", B))


def test_code_that_is_loaded_anew_in_place_is_tried_anew(change):
    package = Package(B)
    owner, relu = package.get("ReLUFunction"), package.get("ReLU")()

    def forward(self, x):
        return np.maximum(x, 0.0)

    change(owner, forward=forward)
    assert equal_on_both(package, relu.forward, X)["tinytorch::relu"] == "SimGPU"
    forward.__code__ = (lambda self, x: np.maximum(x, 0.1 * x)).__code__
    assert "tinytorch::relu" not in equal_on_both(package, relu.forward, X)


def test_a_class_that_a_cell_defines_again_is_found_by_the_next_install(change):
    package = Package(B)
    simgpu.install("t4", B)
    module = package.found.modules["activations"]
    old = module.TanhFunction
    again = type(old.__name__, old.__bases__, dict(old.__dict__))
    again.forward = lambda self, x: 2.0 * np.tanh(x)
    again.backward = lambda self, g: (2.0 * g,)
    module.TanhFunction, used = again, module.Tanh.function
    module.Tanh.function = again
    try:
        assert "Tanh: your formula" in str(simgpu.install("t4", B))
        served = equal_on_both(package, package.get("Tanh")().forward, X)
        assert served["tinytorch::tanh_own_code"] == "Decompose"
    finally:
        simgpu.uninstall()
        module.TanhFunction, module.Tanh.function = old, used


def test_trying_while_a_layer_runs_on_the_device_stays_on_the_host(change):
    package = Package(B)
    simgpu.install("t4", B)
    layer = move_model(package.get("Conv2d")(2, 1, 2), "simgpu")  # its code: np.zeros
    with profiler.profile() as prof:
        layer.forward(package.plain(IMAGE, "simgpu"))
    ops = [r.op for r in prof.events() if hasattr(r, "implementation")]
    assert [op for op in ops if op != "tinytorch::to"] == ["tinytorch::conv2d"]


def test_first_use_without_gradients_settles_nothing_for_gradients(change):
    package = Package(B)
    change(  # it needs what the learner's forward keeps, and the kernel does not
        package.get("LayerNormFunction"),
        backward=lambda self, g: (g * self.normalized_data, g[0], g[0]),
    )
    simgpu.install("t4", B)
    with package.get("no_grad")():
        layer = move_model(package.get("LayerNorm")(4), "simgpu")
        layer.forward(package.plain(ROWS, "simgpu"))
    equal_on_both(
        package, lambda x: moved(package.get("LayerNorm")(4), x).forward(x), ROWS
    )


def test_gradients_on_and_off_are_each_tried_once(change, monkeypatch):
    package = Package(B)
    simgpu.install("t4", B)
    layer = move_model(package.get("Conv2d")(2, 1, 2), "simgpu")
    x, counts, calls = package.plain(IMAGE, "simgpu"), [], []
    tried = fits.unnoticed
    monkeypatch.setattr(fits, "unnoticed", lambda g: calls.append(g) or tried(g))
    for _ in range(3):
        with package.get("no_grad")():
            layer.forward(x)
        layer.forward(x)
        counts.append(len(calls))
    assert counts[0] == counts[1] == counts[2]


# Functions that share an op's name, with parameters of their own.

EXTRA = {
    "Clamp": (
        lambda self, x: np.clip(x, self.low, self.high),
        {"low": -1.0, "high": 1.0},
    ),
    "Cumsum": (lambda self, x: np.cumsum(x, axis=self.axis), {"axis": 1}),
    "Tril": (lambda self, x: np.tril(x, self.k), {"k": -1}),
    "Min": (lambda self, x: np.min(x, axis=self.axis), {"axis": 1}),
    "Pow": (lambda self, x: x**self.exponent, {"exponent": 2}),
    "Exp": (lambda self, x: np.exp(x * self.rate), {"rate": 0.5}),
    "Gelu": (lambda self, x: tanh_form(x), {"approximate": "tanh"}),
    "Softmax": (lambda self, x: cooled(x, self.dim), {"dim": 0, "temperature": 2.0}),
    "Argmax": (
        lambda self, x: np.argmax(x, axis=self.axis) * 1.0,
        {"axis": 0},
    ),
    "Dropout": (lambda self, x: x * self.keep, {"keep": 0.5}),
}


@pytest.mark.parametrize("name", EXTRA)
def test_a_function_keeps_its_parameters(name, change):
    forward, parameters = EXTRA[name]
    package = Package(B)
    base = package.found.function_class
    module = package.found.modules["activations"]
    owner = type(name, (base,), {"forward": forward, "__module__": module.__name__})
    setattr(module, f"{name}Extra", owner)
    try:
        simgpu.install("t4", B)
        expected = owner.apply(package.plain(X), **parameters)
        got = owner.apply(package.plain(X, "simgpu"), **parameters)
        np.testing.assert_allclose(host(got), expected.data, rtol=1e-5, atol=1e-6)
        assert got.device == "simgpu:0"
    finally:
        simgpu.uninstall()
        delattr(module, f"{name}Extra")


def test_a_function_without_parameters_that_is_an_op_is_served(change):
    package = Package(B)
    module = package.found.modules["activations"]
    body = {
        "forward": lambda self, x: np.exp(x),
        "backward": lambda self, g: (g * self.output.data,),
        "__module__": module.__name__,
    }
    module.Exp = type("Exp", (package.found.function_class,), body)
    try:
        served = equal_on_both(package, module.Exp.apply, X)
        assert served["tinytorch::exp"] == "SimGPU"
    finally:
        simgpu.uninstall()
        del module.Exp


def test_the_learners_kernel_is_not_given_what_it_does_not_take(change):
    package = Package(A)  # NaN for -inf, by an option of the shipped kernel
    simgpu.install("t4", A)
    x = package.plain([[-np.inf, 1.0]], "simgpu")
    assert np.isnan(host(package.get("GELU")().forward(x))[0, 0])

    def mine(x, out=None):
        return library.call("relu", x)

    with library.override("tinytorch::gelu", "simgpu", mine):
        out = package.get("GELU")().forward(x)
    assert host(out).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("name", [A, B])
def test_infinities_are_as_on_the_cpu(name, change):
    package = Package(name)
    simgpu.install("t4", name)
    long = np.full((2, 40), -np.inf, np.float32)
    long[1, 3] = 2.0
    with np.errstate(all="ignore"):
        for layer, x in (
            ("GELU", [[-np.inf, np.inf, np.nan, -3e38]]),
            ("Softmax", [[-np.inf, -np.inf], [0.0, -np.inf], [np.nan, -np.inf]]),
            ("Softmax", long),
            ("Softmax", long.T),
            ("Sigmoid", [[-np.inf, np.inf, np.nan]]),
            ("Tanh", [[-np.inf, np.inf, np.nan]]),
            ("ReLU", [[-np.inf, np.inf, np.nan]]),
        ):
            expected = package.get(layer)().forward(package.plain(x)).data
            got = host(package.get(layer)().forward(package.plain(x, "simgpu")))
            np.testing.assert_allclose(got, expected, rtol=1e-6, err_msg=layer)
