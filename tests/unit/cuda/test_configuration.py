"""Launch configurations: read when they are made, reusable, and `forall`."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import (
    KernelTypeError,
    LaunchConfigError,
    SharedMemoryLimitError,
)
from tinytorch_gpu.runtime import current_device, use_gpu


@cuda.jit
def geometry(out):
    if cuda.grid(1) == 0:
        out[0] = cuda.gridDim.x
        out[1] = cuda.gridDim.y
        out[2] = cuda.gridDim.z
        out[3] = cuda.blockDim.x
        out[4] = cuda.blockDim.y
        out[5] = cuda.blockDim.z


@cuda.jit
def count_threads(out):
    cuda.atomic.add(out, 0, 1)


@cuda.jit
def dynamic_size(out):
    cells = cuda.shared.array(0, np.float32)
    out[0] = cells.size


def seen(configuration):
    out = np.zeros(6, np.int64)
    geometry[configuration](out)
    return out.tolist()


FORMS = [
    ((2, 3), [2, 1, 1, 3, 1, 1]),
    (((2,), [3, 4]), [2, 1, 1, 3, 4, 1]),
    (((2, 3, 4), (5, 2, 1)), [2, 3, 4, 5, 2, 1]),
    ((np.int32(2), (np.uint8(3), 4)), [2, 1, 1, 3, 4, 1]),
    ((2, 3, 0), [2, 1, 1, 3, 1, 1]),
    ((2, 3, cuda.stream(), np.int64(64)), [2, 1, 1, 3, 1, 1]),
    ((2, 3, None, 0), [2, 1, 1, 3, 1, 1]),
]


@pytest.mark.parametrize(("configuration", "expected"), FORMS)
def test_a_form_of_configuration(configuration, expected):
    assert seen(configuration) == expected


BAD = [
    ((1.0, 32), KernelTypeError, TypeError),
    ((1, 32.0), KernelTypeError, TypeError),
    ((1, (32, "2")), KernelTypeError, TypeError),
    ((True, 32), KernelTypeError, TypeError),
    ((1, 32, 1024), KernelTypeError, TypeError),  # bytes in the stream's place
    ((1, 32, "s"), KernelTypeError, TypeError),
    ((1,), LaunchConfigError, ValueError),
    (1, LaunchConfigError, ValueError),
    ((1, 2, 0, 0, 0), LaunchConfigError, ValueError),
    (((1, 1, 1, 1), 2), LaunchConfigError, ValueError),
    ((1, ()), LaunchConfigError, ValueError),
    ((1, 32, 0, -4), LaunchConfigError, ValueError),
    ((1, 32, 0, 4.0), LaunchConfigError, ValueError),
]


@pytest.mark.parametrize(("configuration", "error", "builtin"), BAD)
def test_what_is_no_configuration_is_refused_when_it_is_made(
    configuration, error, builtin
):
    with pytest.raises(error) as caught:
        geometry[configuration]
    assert isinstance(caught.value, builtin)
    assert "geometry" in caught.value.where


def test_configurations_are_independent_and_reusable():
    first, second = geometry[1, 2], geometry.configure(3, (4, 5))
    out = np.zeros(6, np.int64)
    for configured, expected in ((first, 2), (second, 4), (first, 2)):
        configured(out)
        assert out[3] == expected
    assert (second.griddim, second.blockdim) == ((3, 1, 1), (4, 5, 1))


def test_dynamic_shared_memory_is_what_the_launch_asks_for():
    out = np.zeros(1, np.int64)
    dynamic_size[1, 32, 0, 100](out)
    assert out[0] == 25
    with pytest.raises(SharedMemoryLimitError):
        dynamic_size[1, 32, 0, 48 * 1024 + 1](out)


def test_launch_bounds_limit_the_block():
    @cuda.jit(launch_bounds=(64, 2))
    def bounded(out):
        cuda.atomic.add(out, 0, 1)

    out = np.zeros(1, np.int32)
    bounded[1, (32, 2)](out)
    assert out[0] == 64
    with pytest.raises(LaunchConfigError) as caught:
        bounded[1, 65](out)
    assert (caught.value.threads, caught.value.limit) == (65, 64)


@pytest.mark.parametrize(
    ("tasks", "threads", "launched"),
    [(1, 32, 32), (64, 32, 64), (65, 32, 96), (np.int64(5), 1, 5)],
)
def test_forall_launches_blocks_that_hold_all_tasks(tasks, threads, launched):
    out = np.zeros(1, np.int32)
    count_threads.forall(tasks, tpb=threads)(out)
    assert out[0] == launched


def test_forall_of_nothing_launches_nothing():
    told = []
    current_device().timeline.listeners.append(told.append)
    try:
        count_threads.forall(0)(np.zeros(1, np.int32))
    finally:
        current_device().timeline.listeners.clear()
    assert not told


def test_forall_of_a_negative_number_is_a_value_error():
    with pytest.raises(LaunchConfigError, match="-1"):
        count_threads.forall(-1)


# The largest block size of highest occupancy, by hand: a T4 holds 1,024 threads on an
# SM, an RTX 3090 1,536 = 2 × 768.
@pytest.mark.parametrize(("gpu", "block"), [("t4", 1024), ("rtx3090", 768)])
def test_forall_takes_the_block_that_fills_an_sm(gpu, block):
    use_gpu(gpu)
    try:
        out = np.zeros(6, np.int64)
        geometry.forall(5000)(out)
        assert out[3] == block
        assert out[0] == -(-5000 // block)
    finally:
        use_gpu("t4")


# 40 KiB a block leave room for one block on an SM of a T4 (64 KiB): the largest wins.
def test_forall_counts_shared_memory():
    out = np.zeros(6, np.int64)
    geometry.forall(10, sharedmem=40 * 1024, stream=cuda.stream())(out)
    assert out[3] == 1024


def test_a_declared_kernel_gets_cast_numbers():
    @cuda.jit("void(int64[:], int8, float32)")
    def store(out, n, x):
        out[0] = n
        out[1] = 1 if x == cuda.float32(0.1) else 0

    out = np.zeros(2, np.int64)
    store[1, 1](out, 300, 0.1)
    assert out.tolist() == [44, 1]
    store.forall(1)(out, -129, 0.25)
    assert out.tolist() == [127, 0]


def test_a_declared_kernel_refuses_other_arrays_before_anything_happens():
    @cuda.jit([cuda.void(cuda.float32[:]), "void(int32[::1])"])
    def fill(x):
        x[cuda.grid(1)] = 7

    told = []
    current_device().timeline.listeners.append(told.append)
    try:
        for array in (
            np.zeros(3),
            np.zeros((3, 1), np.float32),
            np.zeros(6, "i4")[::2],
        ):
            with pytest.raises(KernelTypeError, match="fits no signature"):
                fill[1, 3](array)
    finally:
        current_device().timeline.listeners.clear()
    assert not told
    for array in (np.zeros(3, np.float32), np.zeros(6, "f4")[::2], np.zeros(3, "i4")):
        fill[1, 3](array)
        assert (array == 7).all()
