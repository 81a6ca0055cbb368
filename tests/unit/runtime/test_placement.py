"""Arrays are used where they lie, or the error names both devices."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import DeviceMismatchError, UnknownDeviceError
from tinytorch_gpu.runtime.device import use_gpus, using_device
from tinytorch_gpu.runtime.placement import common_device, device_of


@pytest.fixture(autouse=True)
def two_gpus():
    return use_gpus(["t4", "a100"])


@pytest.fixture
def there(two_gpus):
    """Return an array of the second device; the first one is current."""
    with using_device(two_gpus[1]):
        return cuda.to_device(np.arange(4, dtype=np.float32))


@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    out[i] = 2 * x[i]


def test_an_array_knows_its_device(two_gpus, there):
    assert device_of(there) is two_gpus[1]
    assert device_of(cuda.device_array(3)) is two_gpus[0]


def test_the_device_of_an_array_may_be_gone(there):
    use_gpus(["t4"])
    with pytest.raises(UnknownDeviceError, match="simgpu:1"):
        device_of(there)


def test_a_launch_refuses_an_array_of_another_device(there):
    here = cuda.to_device(np.zeros(4, np.float32))
    with pytest.raises(DeviceMismatchError) as caught:
        double[1, 4](there, here)
    error = caught.value
    assert error.devices == ("simgpu:1", "simgpu:0")
    assert error.argument == "x"
    assert "`x` of double lies on simgpu:1, the launch goes to simgpu:0" in str(error)
    assert "simgpu.device(1)" in error.fix
    assert all(len(line) <= 91 for line in str(error).splitlines())
    assert here.copy_to_host().tolist() == [0, 0, 0, 0]


def test_a_host_operand_is_told_where_to_go(there):
    host = np.zeros(4, np.float32)
    with pytest.raises(DeviceMismatchError) as caught:
        library.call("add", there, host)
    assert caught.value.where == "tinytorch::add: simgpu:1 (4,), cpu (4,)"
    assert caught.value.fix.endswith('y.to("simgpu:1")')
    with pytest.raises(DeviceMismatchError) as caught:
        np.concatenate([there, host, [1.0]])
    assert caught.value.where == "np.concatenate: simgpu:1 (4,), cpu (4,), cpu (1,)"
    assert caught.value.shapes == ((4,), (1,))
    with pytest.raises(DeviceMismatchError, match="in host memory only") as caught:
        library.call("add", host, host)
    assert caught.value.fix.endswith('y.to("simgpu:0")')


def test_a_launch_goes_to_the_current_device(two_gpus, there):
    told = []
    two_gpus[1].timeline.listeners.append(told.append)
    with using_device(two_gpus[1]):
        out = cuda.device_array(4, np.float32)
        record = double[1, 4](there, out)
    assert record is None
    assert out.copy_to_host().tolist() == [0, 2, 4, 6]
    assert [type(r).__name__ for r in told] == ["LaunchRecord", "CopyRecord"]


def test_operands_have_one_device(two_gpus, there):
    here = cuda.to_device(np.zeros(4, np.float32))
    assert common_device("op", (there, 1.0, None)) is two_gpus[1]
    assert common_device("op", ([here, (here,)],)) is two_gpus[0]
    assert common_device("op", (1.0,)) is two_gpus[0]
    with pytest.raises(DeviceMismatchError) as caught:
        common_device("tinytorch::add", (here, [there]))
    assert caught.value.devices == ("simgpu:0", "simgpu:1")
    assert 'y.to("simgpu:0")' in caught.value.fix


def test_an_op_runs_where_its_operands_lie(there):
    total = there + there
    assert total.device == "simgpu:1"
    assert np.zeros_like(there).device == "simgpu:1"
    assert total.copy_to_host().tolist() == [0, 2, 4, 6]
    with pytest.raises(DeviceMismatchError):
        _ = there + cuda.to_device(np.zeros(4, np.float32))


def test_a_copy_between_devices_is_two_copies(two_gpus, there):
    records = [[], []]
    for device, told in zip(two_gpus, records, strict=True):
        device.timeline.listeners.append(told.append)
    here = cuda.device_array(4, np.float32)
    here.copy_to_device(there)
    assert here.copy_to_host().tolist() == [0, 1, 2, 3]
    for device, told in zip(two_gpus, records, strict=True):
        device.timeline.listeners.remove(told.append)
    assert [(r.direction, r.bytes) for r in records[1]] == [("d2h", 16)]
    assert [(r.direction, r.bytes) for r in records[0]] == [("h2d", 16), ("d2h", 16)]
    assert records[1][0].reason == "copy_to_device, from simgpu:1"


def test_a_copy_from_the_host_goes_to_the_device_of_its_target(two_gpus, there):
    before = two_gpus[0].timeline.elapsed_ns
    there.copy_to_device(np.ones(4, np.float32))
    assert there.copy_to_host().tolist() == [1, 1, 1, 1]
    assert two_gpus[0].timeline.elapsed_ns == before


class Foreign:
    """An object of another library that shows an array's memory."""

    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_an_address_tells_the_device(two_gpus, there):
    seen = cuda.as_cuda_array(Foreign(there))
    assert (seen.device, seen.buffer) == ("simgpu:1", there.buffer)
    here = cuda.to_device(np.zeros(4, np.float32))
    with pytest.raises(DeviceMismatchError):
        double[1, 4](Foreign(there), here)
    with using_device(two_gpus[1]):
        out = cuda.device_array(4, np.float32)
        double[1, 4](Foreign(there), out)
    assert out.copy_to_host().tolist() == [0, 2, 4, 6]
