"""The engine runs all blocks in batches, and leaves nothing behind when a kernel faults."""

import signal
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import (
    DeadlockError,
    KernelTypeError,
    KernelWarning,
    OutOfBoundsError,
)
from tinytorch_gpu.executor import engine
from tinytorch_gpu.memory import elements_of
from tinytorch_gpu.runtime import launch, use_gpu
from tinytorch_gpu.settings import SCHEDULES


@cuda.jit
def order(out, x):
    out[0] = cuda.blockIdx.x + x[cuda.grid(1)] * 0


def test_blocks_run_in_index_order():
    out, x = np.zeros(1, np.int32), np.zeros(320, np.int32)
    for lanes in (32, 96, 16_384):
        with settings.override(batch_lanes=lanes):
            order[10, 32](out, x)
        assert out[0] == 9


@pytest.mark.parametrize(
    ("lanes", "block", "sizes"),
    [
        (32, 32, [1] * 10),
        (96, 32, [3, 3, 3, 1]),
        (95, 32, [2] * 5),
        (1, 32, [1] * 10),
        (128, 40, [2] * 5),
        (16_384, 40, [10]),
    ],
)
def test_a_batch_has_as_many_blocks_as_fit_but_one_at_least(
    monkeypatch, lanes, block, sizes
):
    seen = []

    class Spy(engine.Batch):
        def __init__(self, *given, **options):
            seen.append(options["count"])
            super().__init__(*given, **options)

    monkeypatch.setattr(engine, "Batch", Spy)
    with settings.override(batch_lanes=lanes):
        order[10, block](np.zeros(1, np.int32), np.zeros(400, np.int32))
    assert seen == sizes


@cuda.jit
def fault_at_the_end(x, y, last):
    i = cuda.grid(1)
    x[i] = -1
    y[0] = i
    x[i + 2 * (i == last) * x.size] = -2


@pytest.mark.parametrize("lanes", [32, 16_384])
def test_a_fault_puts_all_arrays_back(lanes):
    x = cuda.to_device(np.arange(320, dtype=np.float32))
    y = cuda.to_device(np.arange(4, dtype=np.int32))
    before = elements_of(x).tobytes(), elements_of(y).tobytes()
    with settings.override(batch_lanes=lanes), pytest.raises(OutOfBoundsError):
        fault_at_the_end[10, 32](x, y, 319)
    assert (elements_of(x).tobytes(), elements_of(y).tobytes()) == before


def test_a_fault_puts_back_what_a_view_shares():
    base = cuda.to_device(np.arange(640, dtype=np.float32))
    with pytest.raises(OutOfBoundsError):
        fault_at_the_end[10, 32](base[::2], base[1::2], 319)
    assert (base.copy_to_host() == np.arange(640)).all()


@cuda.jit
def type_error_after_a_store(x):
    x[cuda.grid(1)] = 1
    x[0] = 1 / x


@cuda.jit(device=True)
def inner(x, i):
    return x[i + 1000]


@cuda.jit
def fault_in_a_device_function(x):
    x[0] = inner(x, cuda.grid(1))


def test_an_error_without_a_place_is_given_the_kernels_line():
    with pytest.raises(KernelTypeError) as caught:
        type_error_after_a_store[1, 32](np.zeros(32))
    assert "type_error_after_a_store, line" in caught.value.where
    assert caught.value.where.endswith("x[0] = 1 / x")


def test_a_fault_in_a_device_function_names_that_function():
    with pytest.raises(OutOfBoundsError) as caught:
        fault_in_a_device_function[1, 32](np.zeros(32))
    assert caught.value.where.startswith("inner, line")
    assert "return x[i + 1000]" in caught.value.where


@cuda.jit
def everything_overflows(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * 1e300 * 1e300 / 0 - 2**63 * i + (i // 0) + x[i] / x[i]


def test_nothing_warns_and_the_callers_error_state_stays():
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        everything_overflows[1, 32](np.zeros(32, np.float32), np.zeros(32, np.float32))
        assert set(np.geterr().values()) == {"raise"}


@cuda.jit
def loop_for_ever(x, y):
    i = cuda.grid(1)
    x[i] = -1
    k = 0
    while y[0] == 0:
        k += 1
        x[i] += k


@cuda.jit
def barriers_for_ever(x, y):
    i = cuda.grid(1)
    x[i] = -1
    while y[0] == 0:
        cuda.syncthreads()


def interrupted_launch(kernel, x, y):
    """Launch, send this process Ctrl-C after 0.3 s; return how long it then took."""
    sent = []

    def send():
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(0.3, send)
    timer.start()
    try:
        with settings.override(loop_budget=10**9), pytest.raises(KeyboardInterrupt):
            kernel[x.size // 256, 256](x, y)
        return time.perf_counter() - sent[0]
    finally:
        timer.cancel()
        timer.join()


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", [loop_for_ever, barriers_for_ever])
def test_ctrl_c_returns_within_a_second_and_puts_all_arrays_back(kernel, schedule):
    x = cuda.to_device(np.arange(2**16, dtype=np.float32))
    y = cuda.to_device(np.zeros(1, np.int32))
    with settings.override(schedule=schedule):
        assert interrupted_launch(kernel, x, y) < 1
    assert (x.copy_to_host() == np.arange(2**16)).all()
    y[0] = 1
    kernel[2**16 // 256, 256](x, y)
    assert (x.copy_to_host() == -1).all()


@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + x[i]


def test_a_launch_of_4_million_threads_needs_little_memory_of_its_own():
    n = 2**22
    x = cuda.to_device(np.ones(n, np.float32))
    out = cuda.device_array(n, np.float32)
    tracemalloc.start()
    try:
        double[n // 256, 256](x, out)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # 4 bytes a thread for the journal's copy of `out`; a batch of 65,536 lanes the rest.
    assert peak < 4 * n + 16_000_000


# Lanes that wait for each other.


@cuda.jit
def lock_of_block_leaders(lock, out):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        out[0] += cuda.blockIdx.x + 1
        cuda.atomic.exch(lock, 0, 0)


@cuda.jit
def lock_of_all_threads(lock, out):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    out[0] += 1
    cuda.atomic.exch(lock, 0, 0)


@cuda.jit
def wait_for_the_next_block(flags, out):
    i = cuda.blockIdx.x
    if i + 1 < flags.size:
        while flags[i + 1] == 0:
            pass
    out[i] = 1
    flags[i] = 1


@cuda.jit
def wait_for_nobody(flags, out):
    out[cuda.grid(1)] = 1
    while flags[0] == 0:
        pass


def zeros(n):
    return cuda.to_device(np.zeros(n, np.int32))


def counted(kernel, arrays):
    use_gpu("t4").replays.clear()
    return launch(kernel, 5, 64, arrays).counts


def test_a_lock_taken_by_one_thread_of_each_block_works_with_a_warning():
    lock, out = zeros(1), zeros(1)
    with pytest.warns(KernelWarning, match="wait for other warps or blocks") as told:
        counts = counted(lock_of_block_leaders, (lock, out))
    assert (out.copy_to_host().tolist(), lock.copy_to_host().tolist()) == ([15], [0])
    assert "co-residency" in told[0].message.why
    assert told[0].filename == __file__
    assert max(map(len, str(told[0].message).splitlines())) <= 91
    with settings.override(schedule="warps"):  # without any warning
        assert counted(lock_of_block_leaders, (zeros(1), zeros(1))) == counts


def test_a_wait_for_a_later_block_works_when_later_blocks_run_first():
    flags, out = zeros(5), zeros(5)
    with pytest.warns(KernelWarning, match="wait for other warps or blocks"):
        wait_for_the_next_block[5, 64](flags, out)
    assert out.copy_to_host().tolist() == [1] * 5
    with settings.override(schedule="reversed"):
        wait_for_the_next_block[5, 64](zeros(5), zeros(5))


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kernel", [lock_of_all_threads, wait_for_nobody])
def test_a_wait_that_cannot_end_is_a_deadlock(kernel, schedule):
    lock, out = zeros(1), zeros(320)
    with settings.override(schedule=schedule), pytest.raises(DeadlockError) as caught:
        kernel[5, 64](lock, out)
    expected = 320 if schedule == "lockstep" else 32
    if kernel is lock_of_all_threads:
        expected -= 1  # which holds the lock
    assert caught.value.what.startswith(f"{expected} lanes waiting at line")
    assert not lock.copy_to_host().any()
    assert not out.copy_to_host().any()
