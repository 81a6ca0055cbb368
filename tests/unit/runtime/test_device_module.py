"""The device module answers as torch.cuda does, in bytes."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu.errors import UnknownDeviceError
from tinytorch_gpu.runtime import current_device, use_gpu
from tinytorch_gpu.runtime.device import use_gpus


@pytest.fixture(autouse=True)
def t4():
    use_gpu("t4")
    yield
    use_gpu("t4")


def test_one_device_and_it_is_there():
    assert simgpu.is_available()
    assert (simgpu.device_count(), simgpu.current_device()) == (1, 0)


@pytest.mark.parametrize("device", [None, 0, "simgpu", "simgpu:0"])
def test_its_properties(device):
    found = simgpu.get_device_properties(device)
    assert (found.name, found.major, found.minor) == ("Tesla T4", 7, 5)
    assert (found.total_memory, found.multi_processor_count) == (15 * 2**30, 40)
    assert simgpu.get_device_name(device) == "Tesla T4"


@pytest.mark.parametrize("device", [1, "simgpu:7", "cuda"])
def test_other_devices_are_refused(device):
    with pytest.raises(UnknownDeviceError):
        simgpu.get_device_properties(device)


def test_the_cpu_has_no_device_properties():
    with pytest.raises(UnknownDeviceError):
        simgpu.get_device_properties("cpu")


def test_synchronize_makes_the_host_wait():
    timeline = current_device().timeline
    simgpu.cuda.to_device(np.zeros(10))
    simgpu.synchronize()
    assert timeline.host_ns >= timeline.device_ns


def test_properties_have_torchs_names():
    found = simgpu.get_device_properties()
    assert (found.warp_size, found.L2_cache_size) == (32, 4 * 2**20)
    assert found.max_threads_per_multi_processor == 1024
    assert found.regs_per_multiprocessor == found.shared_memory_per_multiprocessor
    assert found.shared_memory_per_block == 48 * 1024
    assert found.spec is current_device().spec
    assert "spec" not in repr(found)


def test_a_device_is_set_by_index_or_name():
    use_gpus(["t4", "a100"])
    assert simgpu.device_count() == 2
    simgpu.set_device(1)
    assert simgpu.current_device() == 1
    assert simgpu.get_device_name() == "A100-SXM4-40GB"
    simgpu.set_device("simgpu:0")
    assert simgpu.current_device() == 0
    assert simgpu.get_device_name(1) == "A100-SXM4-40GB"


def test_a_device_is_current_within_a_with_block():
    use_gpus(["t4", "a100"])
    with simgpu.device(1):
        assert simgpu.current_device() == 1
        with simgpu.device("simgpu:0"):
            assert simgpu.current_device() == 0
        assert simgpu.current_device() == 1
    assert simgpu.current_device() == 0


@pytest.mark.parametrize("refused", [2, -1, "simgpu:2", "cpu"])
def test_no_other_device_can_be_set(refused):
    use_gpus(["t4", "a100"])
    for call in (simgpu.set_device, simgpu.synchronize, simgpu.memory_allocated):
        with pytest.raises(UnknownDeviceError):
            call(refused)
    with pytest.raises(UnknownDeviceError), simgpu.device(refused):
        pass
    assert simgpu.current_device() == 0


def test_one_device_is_waited_for():
    one, two = use_gpus(["t4", "t4"])
    before = one.timeline.elapsed_ns
    simgpu.synchronize(1)
    assert (one.timeline.elapsed_ns, two.timeline.elapsed_ns) == (before, 5_000)


def test_the_names_that_install_knows():
    assert {"t4", "a100", "rtx3090", "h200", "c870", "toy"} <= set(simgpu.gpu_names())
