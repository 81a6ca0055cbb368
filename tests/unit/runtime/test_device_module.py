"""The device module answers as torch.cuda does, in bytes."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu.errors import UnknownDeviceError
from tinytorch_gpu.runtime import current_device, use_gpu


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


def test_memory_is_counted_in_units_of_512():
    before = simgpu.memory_allocated()
    array = simgpu.cuda.to_device(np.zeros(1000, np.float32))
    assert simgpu.memory_allocated() - before == 4096
    free, total = simgpu.mem_get_info()
    assert total == 15 * 2**30
    assert free == total - simgpu.memory_allocated()
    del array
    assert simgpu.memory_allocated() == before


def test_the_peak_is_kept_until_it_is_reset():
    simgpu.reset_peak_memory_stats()
    start = simgpu.max_memory_allocated()
    assert start == simgpu.memory_allocated()
    simgpu.cuda.to_device(np.zeros(1000, np.float32))
    assert simgpu.max_memory_allocated() == start + 4096
    simgpu.reset_peak_memory_stats()
    assert simgpu.max_memory_allocated() == simgpu.memory_allocated()


def test_the_summary_has_the_three_numbers():
    summary = simgpu.memory_summary()
    assert "simgpu:0" in summary
    assert "allocated" in summary
    assert "16.1 GB in all" in summary


def test_synchronize_makes_the_host_wait():
    timeline = current_device().timeline
    simgpu.cuda.to_device(np.zeros(10))
    simgpu.synchronize()
    assert timeline.host_ns >= timeline.device_ns


def test_the_names_that_install_knows():
    assert {"t4", "a100", "rtx3090", "h200", "c870", "toy"} <= set(simgpu.gpu_names())
