"""`print`, `assert` and `raise` in kernels: lane by lane, in the order of threads."""

import pickle

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import (
    BarrierDivergenceError,
    DeadlockError,
    KernelRaisedError,
    KernelWarning,
    OutOfBoundsError,
)


@cuda.jit
def prints(x):
    i = cuda.grid(1)
    if i % 3 == 0:
        print("lane", i, x[i], (i, 2 * i), x[i] > 1)
    if i == 1:
        print()


def test_each_lane_prints_a_line(capsys):
    prints[2, 4](np.arange(8, dtype=np.float32) / 2)
    assert capsys.readouterr().out.splitlines() == [
        "lane 0 0.0 (0, 0) False",
        "lane 3 1.5 (3, 6) True",
        "lane 6 3.0 (6, 12) True",
        "",
    ]


@cuda.jit
def prints_in_the_plane():
    if cuda.threadIdx.y == 1 and cuda.threadIdx.x == 2:
        print("here")
    if cuda.grid(1) < 0:
        print("never")


def test_each_line_begins_with_its_thread_when_asked(capsys):
    with settings.override(print_threads=True, batch_lanes=32):
        prints_in_the_plane[(2, 2), (4, 2)]()
    assert capsys.readouterr().out.splitlines() == [
        "block (0, 0, 0), thread (2, 1, 0): here",
        "block (1, 0, 0), thread (2, 1, 0): here",
        "block (0, 1, 0), thread (2, 1, 0): here",
        "block (1, 1, 0), thread (2, 1, 0): here",
    ]


def checked(x, out):
    i = cuda.grid(1)
    out[i] = 1
    assert x[i] < 5, "too large"
    out[i] = 2


def raises(x, out):
    i = cuda.grid(1)
    out[i] = 1
    if x[i] >= 5:
        raise ValueError("too large")
    out[i] = 2


@pytest.mark.parametrize(
    ("function", "kind"), [(checked, AssertionError), (raises, ValueError)]
)
def test_with_debug_the_launch_stops_and_nothing_has_changed(function, kind):
    out = np.zeros(40)
    kernel = cuda.jit(debug=True, opt=False)(function)
    with pytest.raises(KernelRaisedError) as caught:
        kernel[1, 40](np.arange(40), out)
    assert isinstance(caught.value, kind)
    assert "35 lanes" in caught.value.what
    assert "too large" in caught.value.what
    assert "threads (5, 0, 0) to (39, 0, 0)" in caught.value.where
    assert not out.any()
    kernel[1, 5](np.arange(40), out)
    assert out.tolist() == [2] * 5 + [0] * 35


def test_without_debug_an_assertion_is_not_checked():
    out = np.zeros(40)
    cuda.jit(checked)[1, 40](np.arange(40), out)
    assert (out == 2).all()


def test_without_debug_a_thread_that_raises_is_over():
    out = np.zeros(40)
    cuda.jit(raises)[1, 40](np.arange(40), out)
    assert out.tolist() == [2] * 5 + [1] * 35


@pytest.mark.parametrize("operator", ["//", "%", "/"])
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_with_debug_division_by_zero_is_told(operator, dtype, tmp_path):
    path = tmp_path / "divides.py"
    path.write_text(
        "from tinytorch_gpu import cuda\n"
        "def divides(x, y, out):\n"
        "    i = cuda.grid(1)\n"
        "    if i < 30:\n"
        f"        out[i] = x[i] {operator} y[i]\n"
    )
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    x, y, out = np.ones(40, dtype), np.arange(40).astype(dtype), np.zeros(40)
    cuda.jit(names["divides"])[1, 40](x, y, out)  # no exception without debug
    kernel = cuda.jit(debug=True, opt=False)(names["divides"])
    with pytest.raises(ZeroDivisionError) as caught:
        kernel[1, 40](x, y, out)
    assert "thread (0, 0, 0)" in caught.value.where
    y[0] = 1
    kernel[1, 40](x, y, out)


@cuda.jit
def prints_and_locks(lock, count):
    if cuda.threadIdx.x == 0:
        print("block", cuda.blockIdx.x)
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        count[0] += 1
        cuda.atomic.exch(lock, 0, 0)


def test_an_order_that_fails_and_is_retried_prints_once(capsys):
    lock, count = np.zeros((2, 1), np.int32)
    with pytest.warns(KernelWarning, match="wait for other warps or blocks"):
        prints_and_locks[3, 32](lock, count)
    assert count[0] == 3
    assert capsys.readouterr().out.splitlines() == ["block 0", "block 1", "block 2"]


@cuda.jit
def prints_and_waits(flag):
    print("waits", cuda.threadIdx.x)
    while flag[0] == 0:
        pass


@pytest.mark.parametrize("schedule", ["lockstep", "warps"])
def test_what_was_printed_before_a_deadlock_is_shown_once(capsys, schedule):
    with settings.override(schedule=schedule), pytest.raises(DeadlockError):
        prints_and_waits[1, 2](np.zeros(1))
    assert capsys.readouterr().out.splitlines() == ["waits 0", "waits 1"]


@cuda.jit
def prints_and_overruns(x):
    print("before", cuda.threadIdx.x)
    x[cuda.threadIdx.x + 1] = 1
    print("after", cuda.threadIdx.x)


def test_what_was_printed_before_a_fault_is_shown(capsys):
    with pytest.raises(OutOfBoundsError):
        prints_and_overruns[1, 2](np.zeros(2))
    assert capsys.readouterr().out.splitlines() == ["before 0", "before 1"]


@cuda.jit
def prints_past_a_barrier(x):
    if cuda.threadIdx.x == 0:
        print("before")
        cuda.syncthreads()
    print("past")
    cuda.syncthreads()


def test_what_lies_past_a_barrier_that_never_opened_is_not_shown(capsys):
    with pytest.raises(BarrierDivergenceError):
        prints_past_a_barrier[1, 2](np.zeros(1))
    assert capsys.readouterr().out == "before\n"


@pytest.mark.parametrize(
    ("function", "kind"), [(checked, AssertionError), (raises, ValueError)]
)
def test_what_a_kernel_raised_can_be_pickled(function, kind):
    with pytest.raises(kind) as caught:
        cuda.jit(debug=True, opt=False)(function)[1, 40](np.arange(40), np.zeros(40))
    error = caught.value
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert (again.kernel, again.line) == (function.__name__, error.line)
