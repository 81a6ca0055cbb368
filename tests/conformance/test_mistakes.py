"""What learners do wrong with devices, each with the outcome that PyTorch has."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import host
from tinytorch_gpu.errors import (
    DeviceMismatchError,
    HostAccessError,
    OutOfMemoryError,
    UnknownDeviceError,
)
from tinytorch_gpu.integration import move_model

ONES = np.ones((3, 4), np.float32)


@pytest.fixture
def there(package):
    """A Tensor on the device."""
    return package.plain(ONES, "simgpu")


@pytest.fixture
def here(package):
    """The same Tensor on the CPU."""
    return package.plain(ONES)


# Reading device memory from the host.


def test_numpy_of_a_device_tensor(there):
    with pytest.raises(HostAccessError, match=r"tensor\.cpu\(\)\.numpy\(\)"):
        there.numpy()


def test_asarray_of_a_device_tensor(there):
    with pytest.raises(HostAccessError, match=r"tensor\.cpu\(\)"):
        np.asarray(there)


def test_asarray_of_its_data(there):
    with pytest.raises(HostAccessError, match="device memory"):
        np.asarray(there.data)


def test_float_of_a_device_tensor_with_many_elements(there):
    with pytest.raises(HostAccessError, match="12 elements"):
        float(there.data)


def test_truth_of_a_device_array_with_many_elements(there):
    with pytest.raises(HostAccessError, match="bool"):
        bool(there.data > 0.0)


def test_writing_a_device_array_into_a_host_array(there):
    out = np.zeros((3, 4), np.float32)
    with pytest.raises(HostAccessError, match="device memory"):
        out[:] = there.data


def test_adding_a_device_array_to_a_host_array_in_place(there):
    total = np.zeros((3, 4), np.float32)
    with pytest.raises(DeviceMismatchError, match="host array"):
        total += there.data


def test_cpu_then_numpy_is_the_way(there):
    assert there.cpu().numpy().tolist() == ONES.tolist()


def test_item_of_one_element(package):
    assert package.plain([2.5], "simgpu").item() == 2.5


def test_item_of_many_elements(there):
    with pytest.raises((HostAccessError, ValueError), match="12"):
        there.item()


def test_format_of_a_loss_on_the_device(package):
    loss = package.leaf([0.25, 0.75], "simgpu").sum()
    assert f"{float(loss.data):.4f}" == "1.0000"


# Moving.


def test_the_result_of_to_is_dropped(here):
    here.to("simgpu")
    assert here.device == "cpu"
    assert isinstance(here.data, np.ndarray)


def test_to_where_it_is_returns_the_same_tensor(there, here):
    assert there.to("simgpu") is there
    assert here.to("cpu") is here


def test_to_an_unknown_device(here):
    with pytest.raises(UnknownDeviceError, match="simgpu"):
        here.to("cuda")


def test_to_a_device_number_that_is_not_there(here):
    with pytest.raises(UnknownDeviceError, match="simgpu:0"):
        here.to("simgpu:3")


def test_to_copies_so_the_host_tensor_is_its_own(here):
    there = here.to("simgpu")
    here.data[...] = 5.0
    assert host(there).tolist() == ONES.tolist()


def test_a_model_moves_in_place(package):
    layer = package.get("Linear")(4, 3)
    weight = layer.weight
    assert move_model(layer, "simgpu") is layer
    assert layer.weight is weight
    assert weight.device == "simgpu:0"


def test_a_model_on_the_device_refuses_a_host_batch(package, here):
    layer = move_model(package.get("Linear")(4, 3), "simgpu")
    with pytest.raises(DeviceMismatchError, match=r"simgpu:0 .*cpu"):
        layer.forward(here)


def test_a_host_model_refuses_a_device_batch(package, there):
    with pytest.raises(DeviceMismatchError, match="matmul"):
        package.get("Linear")(4, 3).forward(there)


def test_gradients_move_with_the_parameters(package, here):
    layer = package.get("Linear")(4, 3)
    for parameter in layer.parameters():
        parameter.requires_grad, parameter.grad = True, None
    layer.forward(here).sum().backward()
    expected = layer.weight.grad.copy()
    move_model(layer, "simgpu")
    assert layer.weight.grad.device == "simgpu:0"
    assert host(layer.weight.grad).tolist() == expected.tolist()


def test_a_model_that_does_not_fit_stays_where_it_was(package):
    gpu = simgpu.current_device()
    _, total = simgpu.mem_get_info(gpu)
    layer = package.get("Linear")(4, 3)
    fake = type(layer.weight)(np.zeros(1, np.float32))
    fake.__dict__["data"] = np.broadcast_to(np.float32(0), (total // 4 + 1,))
    layer.weight = fake
    with pytest.raises(OutOfMemoryError):
        move_model(layer, "simgpu")
    assert layer.bias.device == layer.weight.device == "cpu"


def test_pinning_a_device_tensor(there):
    with pytest.raises(HostAccessError, match="pin_memory"):
        there.pin_memory()


# Operands on two devices.


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_arithmetic_across_devices_names_op_devices_and_shapes(there, here, name):
    ops = {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
    }
    with pytest.raises(DeviceMismatchError) as caught:
        ops[name](there, here)
    text = str(caught.value)
    assert all(part in text for part in (f"::{name}", "simgpu:0", "cpu", "(3, 4)"))


def test_the_host_operand_may_stand_first(there, here):
    with pytest.raises(DeviceMismatchError, match="add"):
        _ = here + there


def test_matmul_across_devices(package, there):
    with pytest.raises(DeviceMismatchError, match="matmul"):
        there.matmul(package.plain(np.ones((4, 2))))


def test_a_loss_of_device_output_and_host_targets(package, there, here):
    with pytest.raises(DeviceMismatchError, match=r"\(3, 4\)"):
        package.get("MSELoss")()(there, here)


def test_cross_entropy_with_host_labels(package, there):
    with pytest.raises(DeviceMismatchError, match=r"\(3,\)"):
        package.get("CrossEntropyLoss")()(there, package.plain([0, 1, 2]))


def test_numbers_go_along(there):
    assert host(there * 2.0 + 1.0).tolist() == (ONES * 3).tolist()


def test_a_host_tensor_without_axes_counts_as_a_number(package, there):
    assert host(there * package.Tensor(3.0)).tolist() == (ONES * 3).tolist()


def test_a_host_tensor_with_one_element_and_an_axis_does_not(package, there):
    with pytest.raises(DeviceMismatchError, match=r"\(1,\)"):
        _ = there * package.plain([3.0])


def test_a_constant_made_on_the_cpu_inside_forward(package, there):
    class Shift(package.get("Layer")):
        def forward(self, x):
            return x + package.Tensor(np.ones((3, 4)))

    with pytest.raises(DeviceMismatchError, match="add"):
        Shift()(there)


def test_the_same_constant_on_the_device_of_x(package, there):
    class Shift(package.get("Layer")):
        def forward(self, x):
            return x + package.Tensor(np.ones((3, 4))).to(x.device)

    assert host(Shift()(there)).tolist() == (ONES * 2).tolist()


def test_library_constants_are_copied_with_a_reason(package, there):
    with simgpu.profiler.profile() as prof:
        out = package.get("Dropout")(0.5)(there)
    copies = [r for r in prof.events() if hasattr(r, "direction")]
    assert out.device == "simgpu:0"
    # The embedded core's Dropout writes its mask into device memory; TinyTorch's makes a
    # Tensor of it.
    embedded, theirs = "x[...] = host array", "made in Dropout.forward"
    expected = embedded if package.is_complete else theirs
    assert [(copy.direction, copy.reason) for copy in copies] == [("h2d", expected)]
