"""What learners do wrong in training on a device, each with the outcome that PyTorch has."""

import pickle

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.conformance.package import host
from tinytorch_gpu.errors import (
    DeviceMismatchError,
    HostAccessError,
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


# Rebinding and writing.


def test_rebinding_data_with_a_host_array_stays_on_the_device(there):
    there.data = np.zeros((2, 2), np.float32)
    assert there.device == "simgpu:0"
    assert (there.shape, there.size) == ((2, 2), 4)


def test_float64_does_not_come_to_the_device(there):
    there.data = np.zeros((2, 2))
    assert there.data.dtype == there.dtype == np.float32


def test_subtracting_a_host_gradient_from_device_data(there):
    with pytest.raises(DeviceMismatchError, match="sub"):
        there.data = there.data - 0.1 * np.ones((3, 4), np.float32)


def test_in_place_on_a_device_leaf_without_a_graph(package):
    leaf = package.leaf(ONES, "simgpu")
    leaf.data -= 0.5
    assert leaf.device == "simgpu:0"
    assert host(leaf).tolist() == (ONES * 0.5).tolist()


def test_in_place_writing_of_a_part(there):
    there.data[0] = 7.0
    assert host(there)[0].tolist() == [7.0] * 4


def test_a_host_gradient_on_a_device_leaf_is_refused_by_the_optimizer(package):
    leaf = package.leaf(ONES, "simgpu")
    leaf.requires_grad = True
    optimizer = package.get("SGD")([leaf], lr=0.1)
    leaf.grad = np.ones((3, 4), np.float32)
    with pytest.raises(DeviceMismatchError):
        optimizer.step()


# Optimizers and graphs.


def test_an_optimizer_built_before_the_move_goes_on(package):
    layer = package.get("Linear")(4, 3)
    for parameter in layer.parameters():
        parameter.requires_grad, parameter.grad = True, None
    optimizer = package.get("SGD")(layer.parameters(), lr=0.5)
    move_model(layer, "simgpu")
    before = host(layer.bias).copy()
    layer.forward(package.plain(ONES, "simgpu")).sum().backward()
    optimizer.step()
    np.testing.assert_allclose(host(layer.bias), before - 1.5, rtol=1e-6)
    assert layer.bias.device == "simgpu:0"


def test_an_optimizer_that_stepped_before_the_move_has_its_state_on_the_cpu(package):
    layer = package.get("Linear")(4, 3)
    for parameter in layer.parameters():
        parameter.requires_grad, parameter.grad = True, None
    optimizer = package.get("SGD")(layer.parameters(), lr=0.5, momentum=0.9)
    layer.forward(package.plain(ONES)).sum().backward()
    optimizer.step()
    move_model(layer, "simgpu")
    with pytest.raises(DeviceMismatchError):
        optimizer.step()


def test_an_optimizer_of_the_copy_does_not_train_the_leaf(package):
    leaf = package.leaf(ONES)
    copy = leaf.to("simgpu")
    (copy * 2.0).sum().backward()
    assert isinstance(leaf.grad, np.ndarray)  # the leaf has the gradient, on its device
    assert leaf.grad.tolist() == (2 * ONES).tolist()


def test_to_of_a_leaf_is_no_leaf(package):
    leaf = package.leaf(ONES)
    assert leaf.to("simgpu").requires_grad
    assert getattr(leaf.to("simgpu"), "_grad_fn", None) is not None


def test_to_of_a_plain_tensor_records_nothing(there):
    assert not there.requires_grad
    assert getattr(there, "_grad_fn", None) is None


def test_cpu_of_a_loss_still_goes_backward(package):
    leaf = package.leaf(ONES, "simgpu")
    (leaf * leaf).sum().cpu().backward()
    assert leaf.grad.device == "simgpu:0"
    assert host(leaf.grad).tolist() == (2 * ONES).tolist()


def test_a_gradient_for_backward_from_the_host_is_refused(package):
    leaf = package.leaf(ONES, "simgpu")
    with pytest.raises(DeviceMismatchError):
        (leaf * 2.0).backward(np.ones((3, 4), np.float32))


def test_backward_of_many_elements_is_as_on_the_cpu(package):
    told = {}
    for device in ("cpu", "simgpu"):
        leaf = package.leaf(ONES, device)
        try:
            (leaf * 2.0).backward()
        except ValueError as error:
            told[device] = str(error)
        else:
            told[device] = host(leaf.grad).tolist()
    assert told["simgpu"] == told["cpu"]


def test_zero_grad_forgets_device_gradients(package):
    leaf = package.leaf(ONES, "simgpu")
    leaf.sum().backward()
    leaf.zero_grad()
    assert leaf.grad is None


def test_gradients_accumulate_on_the_device(package):
    leaf = package.leaf(ONES, "simgpu")
    leaf.sum().backward()
    leaf.sum().backward()
    assert host(leaf.grad).tolist() == (2 * ONES).tolist()


# Collections, files, shapes.


def test_a_dataset_of_device_tensors_gives_device_samples(package, there):
    (sample,) = package.get("TensorDataset")(there)[1]
    assert sample.device == "simgpu:0"


def test_a_list_of_device_arrays_is_no_host_array(there):
    with pytest.raises(HostAccessError):
        np.array([there.data, there.data])


def test_a_pickled_device_array_comes_back_on_the_device(there):
    again = pickle.loads(pickle.dumps(there.data))
    assert again.device == "simgpu:0"
    assert again.copy_to_host().tolist() == ONES.tolist()


def test_shapes_that_do_not_fit_are_told_on_the_device_too(package, there):
    with pytest.raises(ValueError, match="4"):
        there.matmul(package.plain(np.ones((3, 2)), "simgpu"))


def test_a_reshape_that_does_not_fit(there):
    with pytest.raises(ValueError, match="12"):
        there.reshape(5, 2)


def test_repr_of_a_device_tensor_shows_values_and_device(there):
    assert "1." in repr(there)


def test_the_device_after_uninstall_is_gone(package, here):
    simgpu.uninstall()
    assert not hasattr(here, "to")
    simgpu.install("t4", package.name)
    assert here.to("simgpu").is_simgpu


def test_a_new_gpu_has_new_memory(package):
    there = package.plain(ONES, "simgpu")
    simgpu.install(["t4", "t4"], package.name)
    two = package.plain(ONES, "simgpu:1")
    with pytest.raises(DeviceMismatchError, match="different devices"):
        _ = package.plain(ONES, "simgpu:0") + two
    del there
