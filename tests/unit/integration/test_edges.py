"""What ordinary numbers hide: overflow, 0 / 0, negative operands, NaN."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tests.unit.integration.both import equal_on_both
from tinytorch_gpu import cuda, library
from tinytorch_gpu.integration.meanings import MEANINGS

A, B = "standin_a.core", "standin_b.core"
X = np.float32([[-2.0, -0.5, 0.0, 1.0], [0.3, 1.0, 4.0, -3.0]])
WILD = np.float32([[np.nan, 1.0], [-np.inf, np.inf]])
LABELS = np.float32([0, 3])


def naive_softmax(x, dim=-1):
    return np.exp(x) / np.sum(np.exp(x), axis=dim, keepdims=True)


def cross_entropy(probabilities, targets, nudge=0.0):
    rows = np.arange(len(probabilities))
    return -np.mean(np.log(probabilities[rows, targets.astype(int)] + nudge))


def stable(x):
    return naive_softmax(x - np.max(x, axis=-1, keepdims=True))


def naive_tanh(x):
    return (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))


def no_gradient(self, grad):
    return tuple(np.zeros_like(tensor.data) for tensor in self.inputs)


def activation(name):
    return lambda p: p.get(name)().forward


def loss(p):
    return lambda x: p.get("CrossEntropyLoss")().forward(
        x, p.plain(LABELS, "simgpu" if x.is_simgpu else "cpu")
    )


# Class, its first attempt, a program, inputs where the attempt is wrong.
NAIVE = {
    "softmax": (
        "SoftmaxFunction",
        lambda self, x: naive_softmax(x, self.dim),
        activation("Softmax"),
        [X + 90.0],
    ),
    "log-softmax": (
        "LogSoftmax",
        lambda self, x: x - np.log(np.sum(np.exp(x), axis=self.dim, keepdims=True)),
        lambda p: p.get("log_softmax"),
        [X * 100.0],
    ),
    "cross-entropy": (
        "CrossEntropyFunction",
        lambda self, x, t: cross_entropy(naive_softmax(x), t),
        loss,
        [X * 100.0],
    ),
    "cross-entropy with a nudge": (
        "CrossEntropyFunction",
        lambda self, x, t: cross_entropy(stable(x), t, 1e-7),
        loss,
        [X * 20.0],
    ),
    "sigmoid": (
        "SigmoidFunction",
        lambda self, x: np.exp(x) / (1.0 + np.exp(x)),
        activation("Sigmoid"),
        [X * 100.0],
    ),
    "tanh": (
        "TanhFunction",
        lambda self, x: naive_tanh(x),
        activation("Tanh"),
        [X * 100.0],
    ),
    "division with a nudge": (
        "Div",
        lambda self, a, b: a / (b + 1e-8),
        lambda p: lambda x, y: x / y,
        [X, np.abs(X) * 0.0],
    ),
    "a cap": (
        "ReLUFunction",
        lambda self, x: np.clip(x, 0.0, 30.0),
        activation("ReLU"),
        [X * 20.0],
    ),
    "NaN becomes 0": (
        "ReLUFunction",
        lambda self, x: np.where(x > 0, x, 0.0),
        activation("ReLU"),
        [WILD],
    ),
    "0 times infinity": (
        "ReLUFunction",
        lambda self, x: x * (x > 0),
        activation("ReLU"),
        [WILD],
    ),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAIVE)
def test_a_first_attempt_is_wrong_on_the_device_as_on_the_cpu(name, change):
    class_name, forward, program, arrays = NAIVE[name]
    package = Package(B)
    change(package.get(class_name), forward=forward, backward=no_gradient)
    served = equal_on_both(package, program(package), *arrays)
    assert any(op.endswith("_own_code") for op in served)
    shown = class_name.removesuffix("Function")
    text = str(simgpu.install("t4", B))
    (note,) = [n for n in text.splitlines() if n.startswith(f"{shown}: your formula")]
    assert note.endswith(")")  # where it differs


NAIVE_A = {
    "Softmax": lambda x: naive_softmax(x),
    "Tanh": naive_tanh,
    "ReLU": lambda x: np.where(x > 0, x, 0.0),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAIVE_A)
@pytest.mark.parametrize("x", [X * 100.0, WILD], ids=["large", "not finite"])
def test_so_it_is_in_generation_a(name, x, change):
    package, forward = Package(A), NAIVE_A[name]
    owner, made = package.get(name), package.Tensor
    change(owner, forward=lambda self, x: made(forward(x.data)))
    served = equal_on_both(package, lambda x: owner().forward(x), x)
    assert f"tinytorch::{name.lower()}_own_code" in served


# Functions that a learner adds.
ADDED = {
    "Log": (lambda self, x: np.log(x + 1e-7), np.abs(X)),
    "Sqrt": (lambda self, x: np.sqrt(np.maximum(x, 0.0) + 1e-8), X),
    "Exp": (lambda self, x: np.exp(np.clip(x, -50.0, 50.0)), X * 30.0),
    "Abs": (lambda self, x: np.sqrt(x * x + 1e-12), X * 1e-6),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ADDED)
def test_a_nudge_or_a_clip_is_the_learners_own(name, monkeypatch):
    forward, x = ADDED[name]
    package = Package(B)
    module = package.found.modules["activations"]
    body = {"forward": forward, "__module__": module.__name__}
    owner = type(name, (package.found.function_class,), body)
    monkeypatch.setattr(module, f"{name}Extra", owner, raising=False)
    with simgpu.installed("t4", B):
        expected = owner.apply(package.plain(x)).data
        got = host(owner.apply(package.plain(x, "simgpu")))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(
    "case",
    [pytest.param((m, c), id=f"{m.op} {c.about}") for m in MEANINGS.values()
     for c in m.edges if c.layer is None],
)  # fmt: skip
def test_at_each_edge_the_kernel_gives_what_is_meant(case):
    meaning, edge = case
    arrays = [cuda.to_device(array) for array in edge.arrays]
    given = dict(edge.parameters)
    if "mask" in given:
        arrays += [cuda.to_device(given.pop("mask")), given.pop("value")]
    got = host(library.call(meaning.op, *arrays, **given))
    with np.errstate(all="ignore"):
        wide = [array.astype(float) for array in edge.arrays]
        expected = np.float32(meaning.reference(*wide, **edge.parameters))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-37)


@pytest.mark.parametrize("name", [A, B, "tinytorch_gpu.tinytorch"])
def test_ordinary_code_keeps_its_kernels(name):
    Package(name)
    with simgpu.installed("t4", name) as installation:
        notes = str(installation).splitlines()[4:]
        count = len(installation.ops_with_kernels)
    # Generation A's own gradient of GELU is near the derivative only.
    assert [note[:15] for note in notes] == ["GELU, gradient:"] * (name == A)
    assert count == {A: 10}.get(name, 23)
