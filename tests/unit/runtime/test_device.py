"""Devices: found by name, modelled after one GPU at a time."""

import gc

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.errors import (
    GPUNotFoundError,
    OutOfMemoryError,
    UnknownDeviceError,
    UseAfterFreeError,
)
from tinytorch_gpu.runtime import Device, current_device, find_device, use_gpu
from tinytorch_gpu.runtime.device import (
    all_devices,
    set_device,
    use_gpus,
    using_device,
)


@pytest.fixture(autouse=True)
def t4():
    gc.collect()  # arrays of earlier tests, or the toy GPU may be too small for them
    yield use_gpu("t4")
    use_gpu("t4")


@pytest.mark.parametrize("name", ["simgpu", "simgpu:0", 0])
def test_the_device_is_found_by_name(name):
    assert find_device(name) is current_device()


def test_none_stands_for_the_cpu():
    assert find_device("cpu") is None


@pytest.mark.parametrize(
    "name", ["simgpu:1", "cuda", "gpu", "", "SIMGPU", None, 1, -1, False, []]
)
def test_other_names_are_refused_with_the_right_ones(name):
    with pytest.raises(UnknownDeviceError) as caught:
        find_device(name)
    assert "simgpu" in caught.value.why
    assert caught.value.device == name


@cuda.jit
def add_one(x):
    x[cuda.grid(1)] += 1


def test_another_gpu_has_a_new_clock_and_nothing_to_replay():
    cuda.to_device(np.zeros(1000))
    add_one[1, 32](np.zeros(32))
    assert current_device().replays
    device = use_gpu("toy")
    assert device is current_device()
    assert device.spec is find_gpu("toy")
    assert device.timeline.elapsed_ns == 0
    assert not device.replays


def test_the_same_gpu_keeps_its_clock():
    cuda.to_device(np.zeros(1000))
    before = current_device().timeline.elapsed_ns
    assert use_gpu("T4").timeline.elapsed_ns == before > 0


def test_arrays_live_on_through_a_change():
    array = cuda.to_device(np.arange(4))
    use_gpu("toy")
    assert array.copy_to_host().tolist() == [0, 1, 2, 3]


def test_arrays_that_do_not_fit_keep_the_old_gpu():
    array = cuda.to_device(np.zeros(2**18))
    with pytest.raises(OutOfMemoryError) as caught:
        use_gpu("toy")
    assert current_device().spec.name == "Tesla T4"
    assert all((caught.value.where, caught.value.why, caught.value.fix))
    assert array.size


def test_an_unknown_gpu_keeps_the_old_one():
    with pytest.raises(GPUNotFoundError):
        use_gpu("h9000")
    assert current_device().spec.name == "Tesla T4"


def test_listeners_go_on_listening():
    told = []
    current_device().timeline.listeners.append(told.append)
    use_gpu("toy")
    cuda.to_device(np.zeros(3))
    current_device().timeline.listeners.clear()
    assert len(told) == 1


def test_devices_are_numbered():
    assert Device(find_gpu("toy"), 3).name == "simgpu:3"


def test_there_is_one_device_for_each_gpu():
    first = current_device()
    devices = use_gpus(["t4", "a100", "toy"])
    assert [d.name for d in devices] == ["simgpu:0", "simgpu:1", "simgpu:2"]
    assert [d.spec for d in devices] == [find_gpu(n) for n in ("t4", "a100", "toy")]
    assert all_devices() == devices
    assert devices[0] is first is current_device()
    assert use_gpus(["t4"]) == (first,)


def test_each_device_has_its_own_memory_clock_and_addresses():
    one, two = use_gpus(["t4", "t4"])
    set_device(two)
    before, elapsed = one.allocator.allocated_bytes, one.timeline.elapsed_ns
    array = cuda.to_device(np.zeros(1000))
    add_one[1, 32](array)
    assert array.device == "simgpu:1"
    assert two.allocator.allocated_bytes == 8192
    assert array.buffer.address >= 2**40
    assert two.timeline.elapsed_ns > 0
    assert two.replays
    assert (one.allocator.allocated_bytes, one.timeline.elapsed_ns) == (before, elapsed)


def test_the_current_device_is_what_simgpu_means():
    _one, two = use_gpus(["t4", "a100"])
    with using_device(two) as current:
        assert current is two is current_device() is find_device("simgpu")
    assert find_device("simgpu").name == "simgpu:0"


def test_an_error_in_the_block_leaves_the_device_too():
    one, two = use_gpus(["t4", "a100"])
    with pytest.raises(ZeroDivisionError), using_device(two):
        raise ZeroDivisionError
    assert current_device() is one


def test_a_device_that_is_taken_away_frees_its_memory():
    _one, two = use_gpus(["t4", "t4"])
    with using_device(two):
        array = cuda.to_device(np.zeros(4))
        use_gpus(["t4"])
    assert current_device().name == "simgpu:0"
    with pytest.raises(UseAfterFreeError) as caught:
        array.copy_to_host()
    assert caught.value.freed_by == "choosing fewer GPUs"


def test_gpus_that_do_not_fit_change_nothing():
    one, two = use_gpus(["t4", "t4"])
    with using_device(two):
        array = cuda.to_device(np.zeros(2**18))
    with pytest.raises(OutOfMemoryError, match="toy GPU"):
        use_gpus(["a100", "toy"])
    assert (one.spec.name, two.spec.name) == ("Tesla T4", "Tesla T4")
    assert array.copy_to_host().sum() == 0
    with pytest.raises(GPUNotFoundError):
        use_gpus(["a100", "h9000"])
    assert one.spec.name == "Tesla T4"


def test_a_machine_has_at_least_one_gpu():
    with pytest.raises(UnknownDeviceError):
        use_gpus([])
    assert len(all_devices()) == 1


def test_the_driver_costs_time_only_when_the_cache_asks_it():
    (_, device), told = use_gpus(["t4", "t4"]), []
    device.timeline.listeners.append(told.append)
    with using_device(device):
        for _ in range(3):
            cuda.device_array(1000)
    assert [(r.reason, r.duration_ns) for r in told] == [("cudaMalloc", 100_000)]
    assert device.timeline.elapsed_ns == 100_000
    device.allocator.empty_cache()
    # cudaFree: a synchronisation of 5 µs, and its own 100 µs.
    assert device.timeline.elapsed_ns == 205_000
    assert sum(record.elapsed_ns for record in told) == 205_000


def test_the_toys_driver_costs_nothing():
    _, device = use_gpus(["t4", "toy"])
    with using_device(device):
        cuda.device_array(1000)
    assert device.timeline.elapsed_ns == 0
