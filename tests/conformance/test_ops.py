"""Every op of Tensor and every activation: simgpu gives what the CPU gives."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.compare import compare
from tests.conformance.package import host, same

RNG = np.random.default_rng(3)
X = RNG.uniform(-2, 2, (5, 7)).astype(np.float32)
Y = RNG.uniform(0.5, 2, (5, 7)).astype(np.float32)
BIAS = RNG.uniform(-1, 1, 7).astype(np.float32)
W = RNG.uniform(-1, 1, (7, 3)).astype(np.float32)
CUBE = RNG.uniform(-1, 1, (2, 3, 4)).astype(np.float32)
OTHER = RNG.uniform(-1, 1, (2, 4, 5)).astype(np.float32)

OPS = {
    "add": (lambda x, y: x + y, X, Y),
    "add bias": (lambda x, b: x + b, X, BIAS),
    "add number": (lambda x: x + 1.5, X),
    "sub": (lambda x, y: x - y, X, Y),
    "sub column": (lambda x, y: x - y, X, Y[:, :1]),
    "mul": (lambda x, y: x * y, X, Y),
    "mul number": (lambda x: x * 0.5, X),
    "div": (lambda x, y: x / y, X, Y),
    "div number": (lambda x: x / 3.0, X),
    "number minus": (lambda x: 1.0 - x, X),
    "number over": (lambda x: 1.0 / x, Y),
    "matmul": (lambda x, w: x.matmul(w), X, W),
    "@": (lambda x, w: x @ w, X, W),
    "matmul vector": (lambda x, v: x.matmul(v), X, BIAS),
    "matmul batches": (lambda x, y: x.matmul(y), CUBE, OTHER),
    "matmul one batch": (lambda x, y: x.matmul(y), CUBE, OTHER[0]),
    "matmul batches and vector": (lambda x, v: x.matmul(v), CUBE, W[:4, 0]),
    "matmul vector and batches": (lambda v, x: v.matmul(x), W[:3, 0], CUBE),
    "reshape": (lambda x: x.reshape(7, 5), X),
    "reshape -1": (lambda x: x.reshape(-1), X),
    "reshape tuple": (lambda x: x.reshape((7, -1)), X),
    "view": (lambda x: x.view(7, 5), X),
    "transpose": (lambda x: x.transpose(), X),
    "transpose axes": (lambda x: x.transpose(0, 2), CUBE),
    "transpose then matmul": (lambda x, y: x.transpose().matmul(y), X, Y),
    "permute": (lambda x: x.permute(2, 0, 1), CUBE),
    "permute from the end": (lambda x: x.permute(0, -1, 1), CUBE),
    "permute of a list": (lambda x: x.permute([1, 2, 0]), CUBE),
    "permute then matmul": (
        lambda x, y: x.permute(0, 2, 1).matmul(y.permute(0, 2, 1)),
        CUBE,
        CUBE.reshape(2, 4, 3),
    ),
    "contiguous": (lambda x: x.transpose().contiguous(), X),
    "slice": (lambda x: x[1:4, ::2], X),
    "row": (lambda x: x[2], X),
    "element": (lambda x: x[2, 3], X),
    "ellipsis": (lambda x: x[..., 1], CUBE),
    "rows by list": (lambda x: x[[0, 3, 0]], X),
    "rows by a mask": (lambda x: x[np.arange(5) % 2 == 0], X),
    "elements by lists": (lambda x: x[[0, 0, 4], [1, 1, 6]], X),
    "from the end": (lambda x: x[::-1, -2:], X),
    "new axis": (lambda x: x[:, None, 1:], X),
    "sum": (lambda x: x.sum(), X),
    "sum axis": (lambda x: x.sum(axis=0), X),
    "sum keepdims": (lambda x: x.sum(axis=1, keepdims=True), X),
    "sum axes": (lambda x: x.sum(axis=(0, 2)), CUBE),
    "mean": (lambda x: x.mean(), X),
    "mean axis": (lambda x: x.mean(axis=1, keepdims=True), X),
    "mean axes": (lambda x: x.mean(axis=(0, 2)), CUBE),
    "max": (lambda x: x.max(), X),
    "max axis": (lambda x: x.max(axis=1), X),
    "max axes": (lambda x: x.max(axis=(0, 2)), CUBE),
    "max of equal ones": (lambda x: x.max(axis=1), np.round(X)),
    "used twice": (lambda x: x * x + x, X),
    "chain": (
        lambda x, w: ((x.matmul(w) + 1.0) * 0.5).sum(axis=0, keepdims=True),
        X,
        W,
    ),
}


@pytest.mark.parametrize("name", OPS)
def test_op(package, name):
    program, *arrays = OPS[name]
    if name.startswith("permute"):
        package.needs(package.Tensor, "permute")
    compare(package, program, *arrays)


@pytest.mark.parametrize("name", ["Sigmoid", "ReLU", "Tanh", "GELU", "Softmax"])
@pytest.mark.parametrize("values", [X, CUBE, X * 20], ids=["2-D", "3-D", "large"])
def test_activation(package, name, values):
    compare(package, package.get(name)(), values)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax_along(package, dim):
    softmax = package.get("Softmax")()
    compare(package, lambda x: softmax(x, dim=dim), CUBE)


def test_log_softmax(package):
    compare(package, package.get("log_softmax"), X)


MASKS = {
    "whole": X > 0.5,
    "row": X[:1] > 0.5,
    "column": X[:, :1] > 0.5,
    "fewer axes": X[0] > 0.5,
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("value", [-4.0, -1e9, 0])
def test_masked_fill(package, name, value):
    package.needs(package.Tensor, "masked_fill")

    def program(x):
        mask = package.Tensor(MASKS[name].astype(np.float32))
        return x.masked_fill(mask.to(x.device), value)

    compare(package, program, X)


def test_masked_fill_of_batches_and_heads(package):
    package.needs(package.Tensor, "masked_fill")
    softmax = package.get("Softmax")()

    def program(x):
        later = package.Tensor(np.triu(np.ones((4, 4)), 1)).to(x.device)
        return softmax(x.masked_fill(later, float("-inf")), dim=-1)

    compare(package, program, RNG.normal(size=(2, 3, 4, 4)))


def test_a_graph_that_is_retained_goes_backward_again(package):
    def program(x):
        loss = (x * x).sum()
        try:
            loss.backward(retain_graph=True)
        except TypeError:
            pytest.skip(f"{package.found.package}: backward has no retain_graph")
        return loss

    compare(package, program, X)


def test_tensors_in_a_list_are_stacked(package):
    parts = [package.plain(row) for row in CUBE[0]]
    simgpu.uninstall()
    try:
        expected = package.Tensor(parts).data
    except (TypeError, ValueError) as error:
        pytest.skip(f"the package itself raises on the CPU: {error!r:.200}")
    finally:
        simgpu.install("t4", package.name)
    got = package.Tensor([part.to("simgpu") for part in parts])
    assert (got.device, got.shape) == ("simgpu:0", expected.shape)
    same(host(got), expected)
