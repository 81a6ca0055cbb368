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
from tinytorch_gpu.runtime.device import use_gpus
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


def test_to_without_a_device_says_to_name_one():
    for call in (Tensor([1.0]).to, Linear(2, 2).to):
        with pytest.raises(UnknownDeviceError, match=r'to\("simgpu"\)') as caught:
            call()
        assert "no" in caught.value.why


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


@pytest.mark.parametrize("name", ["cuda", "simgpu:1", "gpu", 1, None])
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


def test_a_pinned_tensor_moves_without_stopping_the_host():
    pinned = Tensor(np.ones((64, 64), np.float32)).pin_memory()
    assert pinned.is_pinned()
    assert pinned.pin_memory() is pinned
    with profiler.profile() as prof:
        moved = pinned.to("simgpu", non_blocking=True)
        back = moved.to("cpu", non_blocking=True)
        pinned.to("simgpu")
    copies = [r for r in prof.events() if hasattr(r, "direction")]
    assert [(c.direction, c.is_async) for c in copies] == [
        ("h2d", True),
        ("d2h", True),
        ("h2d", False),
    ]
    assert all(copy.is_pinned for copy in copies)
    assert not moved.is_pinned()
    assert (back.data == 1).all()


def test_ordinary_memory_stops_the_host_whatever_is_asked():
    tensor = Tensor(np.ones(8, np.float32))
    assert not tensor.is_pinned()
    with profiler.profile() as prof:
        tensor.to("simgpu", non_blocking=True)
    (copy,) = [r for r in prof.events() if hasattr(r, "direction")]
    assert not copy.is_async


def test_device_memory_cannot_be_pinned():
    tensor = Tensor(np.ones(8, np.float32)).to("simgpu")
    with pytest.raises(HostAccessError, match="pin_memory"):
        tensor.pin_memory()


@pytest.fixture
def two_gpus():
    return use_gpus(["t4", "t4"])


@pytest.mark.usefixtures("two_gpus")
def test_to_goes_to_the_device_that_is_named():
    host = Tensor([[1.0, 2.0]])
    there = host.to("simgpu:1")
    assert (there.device, host.to("simgpu").device) == ("simgpu:1", "simgpu:0")
    assert host.to(1).device == "simgpu:1"
    with simgpu.device(1):
        assert there.to("simgpu") is there
        assert host.to("simgpu").device == "simgpu:1"
    back = there.to("simgpu:0")
    assert back.device == "simgpu:0"
    assert (there + there).device == "simgpu:1"
    assert back.cpu().numpy().tolist() == there.cpu().numpy().tolist() == [[1, 2]]


@pytest.mark.usefixtures("two_gpus")
def test_operands_on_two_devices_are_refused():
    one, two = Tensor([1.0]).to("simgpu:0"), Tensor([1.0]).to("simgpu:1")
    with pytest.raises(DeviceMismatchError, match="different devices"):
        _ = one + two


@pytest.mark.usefixtures("two_gpus")
def test_gradients_go_back_from_device_to_device():
    leaf = Tensor([1.0, 2.0], requires_grad=True)
    middle = (leaf.to("simgpu:1") * 3.0).to("simgpu:0")
    (middle * 2.0).sum().backward()
    assert isinstance(leaf.grad, np.ndarray)
    assert leaf.grad.tolist() == [6.0, 6.0]


@pytest.mark.usefixtures("two_gpus")
def test_a_model_trains_on_the_second_device():
    model = Sequential(Linear(3, 4), ReLU(), Linear(4, 1)).to("simgpu:1")
    x = Tensor(np.ones((2, 3))).to("simgpu:1")
    model(x).sum().backward()
    weight = model.parameters()[0]
    assert weight.device == "simgpu:1"
    assert weight.grad.device == "simgpu:1"
    weight.data = np.zeros((3, 4), np.float32)
    assert weight.device == "simgpu:1"


def test_a_copy_between_devices_is_recorded_on_both(two_gpus):
    there = Tensor(np.ones((4, 4))).to("simgpu:1")
    told = [[], []]
    for device, records in zip(two_gpus, told, strict=True):
        device.timeline.listeners.append(records.append)
    there.to("simgpu:0")
    for device, records in zip(two_gpus, told, strict=True):
        device.timeline.listeners.remove(records.append)
    (down,), (up, op) = told[1], told[0]
    assert (down.direction, down.bytes) == ("d2h", 64)
    assert (up.direction, up.bytes, up.reason) == ("h2d", 64, "to('simgpu:0')")
    assert op.op == "tinytorch::to"
