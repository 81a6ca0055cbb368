"""Whole models on simgpu: losses, gradients, what ran as a kernel, what was copied."""

from dataclasses import dataclass

import numpy as np
import pytest

from tinytorch_gpu import installed, profiler, tinytorch
from tinytorch_gpu.tinytorch import CrossEntropyLoss, Tensor
from tinytorch_gpu.trace import CopyRecord, LaunchRecord, OpRecord

CNN_KERNELS = {
    "conv2d", "conv2d_backward", "max_pool2d", "max_pool2d_with_indices_backward",
    "relu", "relu_backward", "matmul", "cross_entropy", "cross_entropy_backward",
}  # fmt: skip
GPT_KERNELS = {
    "embedding", "embedding_backward", "layer_norm", "layer_norm_backward", "matmul",
    "masked_fill", "softmax", "softmax_backward", "gelu", "gelu_backward",
    "cross_entropy", "cross_entropy_backward",
}  # fmt: skip
CASES = {"cnn_digits": (6, CNN_KERNELS), "tiny_gpt": (2, GPT_KERNELS)}


@dataclass(frozen=True)
class Run:
    """A short training of an example on both devices; records are simgpu's."""

    example: object
    steps: int
    kernels: set
    cpu: tuple
    simgpu: tuple
    records: list

    def all(self, kind):
        return [record for record in self.records if isinstance(record, kind)]


@pytest.fixture(scope="module", params=CASES)
def run(request):
    example, (steps, kernels) = (
        request.getfixturevalue(request.param),
        CASES[request.param],
    )
    with installed("t4", tinytorch.__name__):
        cpu = example.train("cpu", steps)
        with profiler.profile() as prof:
            simgpu = example.train("simgpu", steps)
        yield Run(example, steps, kernels, cpu, simgpu, list(prof.events()))


def test_training_on_simgpu_equals_the_cpu(run):
    losses, right, _ = run.simgpu
    np.testing.assert_allclose(losses, run.cpu[0], rtol=1e-5)
    assert right == run.cpu[1]
    assert losses[-1] < losses[0]


def test_every_launch_is_of_a_registered_kernel(run):
    served = {r.op for r in run.all(OpRecord) if r.key == "SimGPU"}
    assert {f"tinytorch::{name}" for name in run.kernels} <= served
    assert {r.op for r in run.all(LaunchRecord)} <= served
    assert all(r.key != "CPU" for r in run.all(OpRecord))  # no fallback


def test_nothing_is_copied_but_what_the_loop_asks_for(run):
    """Parameters and batches go there, losses and scores come back; no more."""
    parameters = run.simgpu[2].parameters()
    batches = [tensor for batch in run.example.batches(run.steps) for tensor in batch]
    there = [4 * tensor.size for tensor in (*parameters, *batches)]
    copies = run.all(CopyRecord)
    assert sorted(r.bytes for r in copies if r.direction == "h2d") == sorted(there)
    back = [r.bytes for r in copies if r.direction == "d2h"]
    assert back.count(4) == run.steps
    assert len(back) <= 2 * run.steps


def gradients(example, device):
    """Return the gradient by each parameter after one batch, on the host."""
    model = example.network().to(device)
    inputs, targets = next(example.batches(1))
    CrossEntropyLoss()(model(inputs.to(device)), targets.to(device)).backward()
    grads = [param.grad for param in model.parameters()]
    return [g.copy_to_host() if device == "simgpu" else g for g in grads]


def test_gradients_on_simgpu_equal_the_cpu_s(run):
    found, expected = (gradients(run.example, name) for name in ("simgpu", "cpu"))
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.dtype == np.float32
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.usefixtures("on_simgpu")
def test_a_gpt_on_simgpu_writes_what_it_writes_on_the_cpu(tiny_gpt):
    texts = []
    for device in ("cpu", "simgpu"):
        model = tiny_gpt.network().to(device)  # it seeds what is drawn, too
        texts.append(model.generate(Tensor([[1, 2, 3]]), 3).numpy().tolist())
    assert texts[0] == texts[1]
    assert len(texts[0][0]) == 6
