"""The whole story in seconds: a tensor, a kernel of one's own, training, the report."""

import numpy as np

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda, library, profiler, tinytorch
from tinytorch_gpu.tinytorch import SGD, Linear, MSELoss, Sequential, Sigmoid, Tensor


@cuda.jit
def double_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + x[i]


def train(device):
    tinytorch.layers.rng = np.random.default_rng(1)
    model = Sequential(Linear(3, 4), Sigmoid(), Linear(4, 1)).to(device)
    optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = Tensor(np.eye(3)).to(device)
    y = Tensor([[0.0], [1.0], [2.0]]).to(device)
    losses = []
    for _ in range(5):
        loss = MSELoss()(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def test_a_kernel_computes_and_is_counted():
    x = cuda.to_device(np.arange(1000, dtype=np.float32))
    out = cuda.device_array_like(x)
    with profiler.profile() as prof:
        double_kernel[4, 256](x, out)
    np.testing.assert_array_equal(out.copy_to_host(), 2 * np.arange(1000))
    (launch,) = prof.events()
    assert launch.counts.requests == 96  # 32 warps have work: two loads, one store


def test_training_on_simgpu_equals_the_cpu_and_is_billed():
    with simgpu.installed("t4", tinytorch.__name__):
        expected = train("cpu")
        with profiler.profile() as prof:
            got = train("simgpu")
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    averages = prof.key_averages()
    assert (
        sum(row.share for row in averages) == 1.0
        or abs(sum(row.share for row in averages) - 1) < 1e-9
    )
    assert "sigmoid" in averages.table()
    assert len(prof.verdict().sentences) == 2


def test_a_wrong_kernel_changes_the_loss():
    def wrong_sigmoid(x):
        out = cuda.device_array_like(x)
        double_kernel[(x.size + 255) // 256, 256](x.reshape(-1), out.reshape(-1))
        return out

    with simgpu.installed("t4", tinytorch.__name__):
        right = train("simgpu")
        with library.override("tinytorch::sigmoid", "simgpu", wrong_sigmoid):
            wrong = train("simgpu")
    assert right[0] != wrong[0]
