"""A Function's result stays where its operands are, or is refused."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu.errors import DeviceMismatchError
from tinytorch_gpu.tinytorch import Tensor
from tinytorch_gpu.tinytorch.functions import Function


class Host(Function):
    """A learner's own, in their script."""

    made = None

    def forward(self, *arrays):
        return type(self).made(*arrays)


@pytest.fixture(autouse=True)
def _installed():
    with simgpu.installed("t4", "tinytorch_gpu.tinytorch"):
        yield


@pytest.mark.parametrize(
    "made",
    [
        lambda x: np.ones(x.shape),
        lambda x: np.float32(2.0),
        lambda x: float(x.sum()),
        lambda x: x.copy_to_host(),
        lambda x: [1.0, 2.0],
    ],
)
def test_a_host_result_of_device_operands_is_refused(made, monkeypatch):
    monkeypatch.setattr(Host, "made", staticmethod(made))
    x = Tensor([[1.0, 2.0]])
    with pytest.raises(DeviceMismatchError, match=r"Host\.forward") as caught:
        Host.apply(x.to("simgpu"))
    text = str(caught.value)
    assert all(part in text for part in ("simgpu:0 (1, 2)", "np.zeros_like", "why"))


def test_a_device_result_passes_and_copies_may_leave(monkeypatch):
    monkeypatch.setattr(Host, "made", staticmethod(lambda x: x + 1.0))
    there = Host.apply(Tensor([1.0]).to("simgpu"))
    assert there.device == "simgpu:0"
    assert there.cpu().device == there.to("cpu").device == "cpu"
