"""`.to`, `.cpu`, `.data` and what the host may not read."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import profiler
from tinytorch_gpu.errors import (
    DeviceMismatchError,
    HostAccessError,
    UnknownDeviceError,
)
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.tinytorch import Linear, ReLU, Sequential, Tensor


def test_to_copies_there_and_back():
    host = Tensor([[1.0, 2.0], [3.0, 4.0]])
    there = host.to("simgpu")
    assert (there.device, host.device, there.shape) == ("simgpu:0", "cpu", (2, 2))
    assert there.is_simgpu
    assert isinstance(there.data, DeviceArray)
    np.testing.assert_array_equal(there.cpu().numpy(), host.numpy())


def test_to_the_same_device_is_the_tensor_itself():
    there = Tensor([1.0]).to("simgpu")
    assert there.to("simgpu:0") is there
    assert there.cpu().cpu().device == "cpu"


def test_to_is_part_of_the_graph():
    leaf = Tensor([1.0, 2.0], requires_grad=True)
    (leaf.to("simgpu") * 3.0).sum().backward()
    assert leaf.grad.tolist() == [3.0, 3.0]
    assert isinstance(leaf.grad, np.ndarray)


def test_copies_are_recorded_with_their_bytes():
    with profiler.profile() as prof:
        Tensor(np.ones((4, 4))).to("simgpu").cpu()
    (row,) = prof.key_averages()
    assert (row.op, row.calls, row.h2d_bytes, row.d2h_bytes) == (
        "tinytorch::to",
        2,
        64,
        64,
    )


@pytest.mark.parametrize("name", ["cuda", "simgpu:1", "gpu", 0, None])
def test_unknown_devices(name):
    with pytest.raises(UnknownDeviceError, match="simgpu"):
        Tensor([1.0]).to(name)


@pytest.mark.parametrize("read", [lambda t: t.numpy(), np.asarray, np.array])
def test_the_host_cannot_read_a_device_tensor(read):
    there = Tensor([1.0, 2.0]).to("simgpu")
    with pytest.raises(HostAccessError, match="cpu"):
        read(there)
    assert there.cpu().numpy().tolist() == [1.0, 2.0]


def test_numpy_of_a_host_tensor_is_its_data():
    host = Tensor([1.0, 2.0])
    assert host.numpy() is host.data
    np.testing.assert_array_equal(np.asarray(host), host.data)


def test_rebinding_data_with_a_host_array_uploads_it():
    there = Tensor([1.0, 2.0]).to("simgpu")
    with profiler.profile() as prof:
        there.data = np.zeros((3, 2))
    assert (there.device, there.shape, there.size) == ("simgpu:0", (3, 2), 6)
    assert there.data.dtype == np.float32
    assert prof.key_averages()[0].h2d_bytes == 24


def test_mixed_devices_are_refused_with_both_named():
    there, host = Tensor([1.0, 2.0]).to("simgpu"), Tensor([3.0, 4.0])
    for mixed in (
        lambda: there + host,
        lambda: host * there,
        lambda: host.matmul(there),
    ):
        with pytest.raises(DeviceMismatchError, match="simgpu:0"):
            mixed()
    np.testing.assert_array_equal((there + there).cpu().numpy(), [2.0, 4.0])


def test_scalars_mix_freely():
    there = Tensor([1.0, 2.0]).to("simgpu")
    np.testing.assert_allclose((2.0 * there + 1 - there / 4).cpu().numpy(), [2.75, 4.5])


def test_layers_move_in_place_with_their_gradients():
    model = Sequential(Linear(3, 2), ReLU(), Linear(2, 1))
    model(Tensor(np.ones((4, 3)))).sum().backward()
    before = [p.grad.copy() for p in model.parameters()]
    assert model.to("simgpu") is model
    assert {p.device for p in model.parameters()} == {"simgpu:0"}
    model.to("cpu")
    for parameter, grad in zip(model.parameters(), before, strict=True):
        np.testing.assert_array_equal(parameter.grad, grad)


def test_item_and_printing_copy_visibly():
    there = Tensor([[2.5]]).to("simgpu")
    with profiler.profile() as prof:
        assert there.item() == 2.5
        assert "2.5" in repr(there)
    assert sum(row.d2h_bytes for row in prof.key_averages()) == 8


def test_memory_is_freed_with_the_tensors():
    before = simgpu.memory_allocated()
    there = Tensor(np.ones((64, 64))).to("simgpu")
    assert simgpu.memory_allocated() == before + 16384
    del there
    assert simgpu.memory_allocated() == before
