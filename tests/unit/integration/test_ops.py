"""Every op of the core: values and gradients on simgpu equal the CPU's."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, library, profiler
from tinytorch_gpu.integration.ops import op_name
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.tinytorch import (
    GELU,
    SGD,
    Adam,
    AdamW,
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    Dropout,
    Linear,
    MSELoss,
    ReLU,
    Sigmoid,
    Softmax,
    Tanh,
    Tensor,
    clip_grad_norm,
    log_softmax,
)

RNG = np.random.default_rng(3)
X = RNG.uniform(-2, 2, (5, 7)).astype(np.float32)
Y = RNG.uniform(0.5, 2, (5, 7)).astype(np.float32)
BIAS = RNG.uniform(-1, 1, 7).astype(np.float32)
W = RNG.uniform(-1, 1, (7, 3)).astype(np.float32)

CASES = {
    "add": (lambda x, y: x + y, X, Y),
    "add bias": (lambda x, b: x + b, X, BIAS),
    "sub": (lambda x, y: x - y, X, Y),
    "mul": (lambda x, y: x * y, X, Y),
    "mul column": (lambda x, y: x * y, X, Y[:, :1]),
    "div": (lambda x, y: x / y, X, Y),
    "scalars": (lambda x: 1.0 - 2.0 * x / 3.0, X),
    "matmul": (lambda x, w: x @ w, X, W),
    "matmul vector": (lambda x, v: x @ v, X, BIAS),
    "vector matmul": (lambda v, w: v @ w, BIAS, W),
    "batched matmul": (lambda a, b: a @ b, np.stack([X, Y]), np.stack([W, -W])),
    "reshape": (lambda x: x.reshape(7, -1) * 2.0, X),
    "transpose": (lambda x, y: x.transpose() @ y, X, Y),
    "contiguous": (lambda x: x.transpose().contiguous() * 2.0, X),
    "slice": (lambda x: x[1:4, ::2] * 3.0, X),
    "sum": (lambda x: x.sum(), X),
    "sum axis": (lambda x: x.sum(axis=0), X),
    "mean": (lambda x: x.mean(axis=1, keepdims=True), X),
    "max": (lambda x: x.max(axis=1), X),
    "sigmoid": (Sigmoid(), X),
    "relu": (ReLU(), X),
    "tanh": (Tanh(), X),
    "gelu": (GELU(), X),
    "softmax": (Softmax(), X),
    "softmax dim 0": (lambda x: Softmax()(x, dim=0), X),
    "log softmax": (log_softmax, X),
}


def run(function, arrays, device):
    """Return the result and all gradients, with a gradient that differs by element."""
    leaves = [Tensor(a, requires_grad=True) for a in arrays]
    out = function(*(leaf.to(device) for leaf in leaves))
    weight = np.linspace(0.5, 1.5, max(1, out.size)).reshape(out.shape)
    (out * Tensor(weight).to(device)).sum().backward()
    return out, [leaf.grad for leaf in leaves]


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_equal_the_cpus(name):
    function, *arrays = CASES[name]
    expected, grads = run(function, arrays, "cpu")
    got, device_grads = run(function, arrays, "simgpu")
    assert isinstance(got.data, DeviceArray)
    np.testing.assert_allclose(
        got.cpu().numpy(), expected.numpy(), rtol=1e-5, atol=1e-6
    )
    for a, b in zip(device_grads, grads, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("loss", "pred", "targ"),
    [
        (MSELoss(), X, Y),
        (BinaryCrossEntropyLoss(), Y / 3, (X > 0)),
        (CrossEntropyLoss(), X, np.array([0, 6, 3, 3, 1])),
    ],
)
def test_losses_equal_the_cpus(loss, pred, targ):
    results = {}
    for device in ("cpu", "simgpu"):
        leaf = Tensor(pred, requires_grad=True)
        value = loss(leaf.to(device), Tensor(targ).to(device))
        value.backward()
        results[device] = (value.item(), leaf.grad)
    assert results["simgpu"][0] == pytest.approx(results["cpu"][0], rel=1e-5)
    np.testing.assert_allclose(
        results["simgpu"][1], results["cpu"][1], rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda p: SGD(p, lr=0.1),
        lambda p: SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
        lambda p: Adam(p, lr=0.01, weight_decay=0.1),
        lambda p: AdamW(p, lr=0.01),
    ],
)
def test_optimizers_equal_the_cpus_and_stay_on_the_device(make):
    results = []
    for device in ("cpu", "simgpu"):
        param = Tensor(X, requires_grad=True)
        param.data = param.to(device).data
        optimizer = make([param])
        for _ in range(3):
            ((param * param).sum() * 0.5).backward()
            norm = clip_grad_norm([param], max_norm=5.0)
            optimizer.step()
            optimizer.zero_grad()
        assert param.device.startswith(device)
        results.append((param.cpu().numpy(), norm))
    np.testing.assert_allclose(results[1][0], results[0][0], rtol=1e-5, atol=1e-6)
    assert results[1][1] == pytest.approx(results[0][1], rel=1e-5)


def test_a_model_trains_without_leaving_the_device():
    layer = Linear(7, 3).to("simgpu")
    x, y = Tensor(X).to("simgpu"), Tensor(RNG.uniform(size=(5, 3))).to("simgpu")
    with profiler.profile() as prof:
        MSELoss()(layer(x), y).backward()
        SGD(layer.parameters(), lr=0.1).step()
    assert all(row.h2d_bytes == row.d2h_bytes == 0 for row in prof.key_averages())
    assert all(isinstance(p.grad, DeviceArray) for p in layer.parameters())


def test_the_learners_kernel_computes_and_is_named():
    @cuda.jit
    def wrong_kernel(x, out):
        col, row = cuda.grid(2)
        if row < x.shape[0] and col < x.shape[1]:
            out[row, col] = x[row, col] + x[row, col]

    def wrong_sigmoid(x):
        out = cuda.device_array_like(x)
        wrong_kernel[(1, 1), (16, 16)](x, out)
        return out

    with (
        library.override("tinytorch::sigmoid", "simgpu", wrong_sigmoid),
        profiler.profile() as prof,
    ):
        result = Sigmoid()(Tensor(X).to("simgpu"))
    np.testing.assert_allclose(result.cpu().numpy(), 2 * X)
    (kernel,) = next(r for r in prof.key_averages() if "sigmoid" in r.op).kernels
    assert (kernel.name, kernel.file) == ("wrong_kernel", __file__)


def test_host_constants_inside_layers_are_refused_or_moved():
    dropped = Dropout(0.0)(Tensor(X).to("simgpu"))
    assert dropped.device == "simgpu:0"


@pytest.mark.parametrize(
    ("class_name", "name"),
    [
        ("Add", "add"),
        ("MatMul", "matmul"),
        ("ReLUFunction", "relu"),
        ("GELUFunction", "gelu"),
        ("LogSoftmax", "log_softmax"),
        ("CrossEntropyFunction", "cross_entropy"),
        ("Im2colConv2dFunction", "im2col_conv2d"),
    ],
)
def test_ops_are_named_as_in_pytorch(class_name, name):
    assert op_name(class_name) == name


def test_an_element_of_a_tensor_stays_on_its_device():
    leaf = Tensor(X, requires_grad=True)
    element = leaf.to("simgpu")[1, 2]
    assert (element.device, element.shape) == ("simgpu:0", ())
    (element * Tensor(2.0).to("simgpu")).backward()
    expected = np.zeros_like(X)
    expected[1, 2] = 2
    np.testing.assert_array_equal(leaf.grad, expected)


def test_a_registered_function_without_a_kernel_is_labelled():
    def in_numpy(x):
        return 1 / (1 + np.exp(-x))

    there = Tensor(X).to("simgpu")
    library.allow_cpu_fallback("arctan")
    try:
        with (
            library.override("tinytorch::sigmoid", "simgpu", in_numpy),
            profiler.profile() as prof,
        ):
            Sigmoid()(there)
            np.arctan(there.data)
    finally:
        library.allow_cpu_fallback("arctan", allowed=False)
    table = prof.key_averages().table()
    assert "→ neg, exp, add, div" in table
    assert "CPU fallback" in table
