"""A fused function stores where its ops store: rows, devices, watchers, signs of zero."""

import warnings

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda, fuse
from tinytorch_gpu.errors import KernelWarning
from tinytorch_gpu.runtime.device import use_gpus, using_device


@pytest.fixture(autouse=True)
def quiet():
    """Let functions that are not fused say so in `reason` only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        yield


ZEROS = {
    "divided": lambda x: np.where(x > 0.0, x, x / -0.0),
    "the other first": lambda x: np.where(x > -0.0, x / 0.0, 1.0 / (x * -0.0)),
    "added": lambda x: 1.0 / ((x * 0.0) + -0.0),
}


@pytest.mark.parametrize("name", ZEROS)
def test_zero_and_minus_zero_are_two_numbers(name):
    fused = fuse(ZEROS[name])
    fused(cuda.to_device(np.float32([1, 2])))
    x = np.float32([2, -2, 0.0, -0.0])
    wanted = ZEROS[name](cuda.to_device(x)).copy_to_host()
    got = fused(cuda.to_device(x)).copy_to_host()
    np.testing.assert_array_equal(got.view("u4"), wanted.view("u4"))
    assert fused.reason == ""


PARTS = {
    "rows apart": ((2, 6, 64), lambda a: a[:, :3]),
    "every second": ((2, 6, 64), lambda a: a[:, ::2]),
    "side by side": ((2, 3, 64), lambda a: a),
    "narrower": ((2, 3, 80), lambda a: a[..., 8:72]),
}


@pytest.mark.parametrize("name", PARTS)
def test_rows_are_stored_where_out_has_them(name):
    def centre(x, out):
        np.subtract(x, np.max(x, axis=-1, keepdims=True), out=out)

    shape, part = PARTS[name]
    fused = fuse(centre)
    rng = np.random.default_rng(0)
    for x in (np.zeros((2, 3, 64)), rng.normal(size=(2, 3, 64))):
        wanted, got = (cuda.to_device(np.zeros(shape, np.float32)) for _ in range(2))
        centre(cuda.to_device(x.astype(np.float32)), part(wanted))
        fused(cuda.to_device(x.astype(np.float32)), part(got))
        np.testing.assert_array_equal(got.copy_to_host(), wanted.copy_to_host())
    assert (fused.reason == "") is (name != "rows apart")


@pytest.fixture
def two_devices():
    """Give an array on each of two devices; the first is current."""
    devices = use_gpus(["t4", "a100"])
    with using_device(devices[1]):
        there = cuda.to_device(np.float32([1, 2]))
    return cuda.to_device(np.float32([1, 2])), there


def test_arrays_of_two_devices(two_devices):
    fused = fuse(lambda a, b: (a * 2.0 + 1.0, b * 3.0 + 1.0))
    for _ in range(2):
        here, there = fused(*two_devices)
        assert (here.device, there.device) == ("simgpu:0", "simgpu:1")
        assert here.copy_to_host().tolist() == [3, 5]
        assert there.copy_to_host().tolist() == [4, 7]
    assert fused.reason


def test_what_a_function_makes_is_on_the_current_device(two_devices):
    def made(a):
        return cuda.device_array(2, np.float32), a * 2.0 + 1.0

    fused = fuse(made)
    for _ in range(2):
        new, result = fused(two_devices[1])
        assert (new.device, result.device) == ("simgpu:0", "simgpu:1")
        assert result.copy_to_host().tolist() == [3, 5]


def test_who_begins_to_watch_inside_sees_what_comes(on):
    on("t4")
    x = cuda.to_device(np.ones(8, np.float32))

    def sanitized(x):
        y = x * 2.0
        with simgpu.sanitize(show=False) as report:
            z = cuda.device_array(8, np.float32) + y  # never written
        return z, report

    def traced(x):
        y = x * 2.0
        with simgpu.tracing() as traces:
            z = y + 1.0
        return z, traces

    for function in (sanitized, fuse(sanitized)):
        assert [f.kind for f in function(x)[1].errors] == ["uninitialized_read"]
    for function in (traced, fuse(traced)):
        assert len(function(x)[1]) == 1
