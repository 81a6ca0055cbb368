"""Devices: found by name, modelled after one GPU at a time."""

import gc

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.errors import GPUNotFoundError, OutOfMemoryError, UnknownDeviceError
from tinytorch_gpu.runtime import Device, current_device, find_device, use_gpu


@pytest.fixture(autouse=True)
def t4():
    gc.collect()  # arrays of earlier tests, or the toy GPU may be too small for them
    yield use_gpu("t4")
    use_gpu("t4")


@pytest.mark.parametrize("name", ["simgpu", "simgpu:0"])
def test_the_device_is_found_by_name(name):
    assert find_device(name) is current_device()


def test_none_stands_for_the_cpu():
    assert find_device("cpu") is None


@pytest.mark.parametrize("name", ["simgpu:1", "cuda", "gpu", "", "SIMGPU", None, 0, []])
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
