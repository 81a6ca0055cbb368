"""What a fused function does beside ops on its arguments: nothing is lost or hidden."""

import contextvars
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda, fuse, library, profiler
from tinytorch_gpu.kernels.reduce import reduce_sum

pytestmark = pytest.mark.filterwarnings("ignore::tinytorch_gpu.errors.KernelWarning")


def device(value=1.0, shape=(4, 64)):
    return cuda.to_device(np.full(shape, value, np.float32))


def gives_its_argument(x):
    _ = x * 2.0 + 1.0
    return x


def keeps_the_first(x):
    return [x * 2.0 + 1.0, x * 3.0 + 1.0][0]


@pytest.mark.parametrize("function", [gives_its_argument, keeps_the_first])
def test_what_nobody_keeps_is_no_error(function):
    fused, x = fuse(function), device()
    wanted = function(device()).copy_to_host()
    for _ in range(2):
        np.testing.assert_array_equal(fused(x).copy_to_host(), wanted)


def test_what_is_done_in_place_is_not_lost_where_no_kernel_is_made():
    def change(x, y):
        x *= 2.0
        x += 1.0
        _ = y * 2.0 + 1.0

    fused, x, y = fuse(change), device(), device(shape=(3, 5))
    fused(x, y)
    assert "nobody keeps" in fused.reason
    assert (x.copy_to_host() == 3.0).all()


def change_twice(x):
    x *= 2.0
    x += 1.0


def test_an_error_while_a_kernel_is_made_loses_nothing(monkeypatch):
    def fails(*_):
        raise RuntimeError

    monkeypatch.setattr("tinytorch_gpu.fusion.calls.program_of", fails)
    x = device()
    with pytest.raises(RuntimeError):
        fuse(change_twice)(x)
    assert (x.copy_to_host() == 3.0).all()


@pytest.mark.parametrize("number", [0.0, -0.0])
@pytest.mark.parametrize("value", [0.0, -0.0])
@pytest.mark.parametrize("op", [np.maximum, np.minimum])
@pytest.mark.parametrize("is_left", [True, False])
def test_of_two_zeros_the_same_one_is_taken(op, number, value, is_left):
    def quotient(x):
        y = x * 1.0
        return 1.0 / (op(number, y) if is_left else op(y, number))

    fused = fuse(quotient)
    fused(device())
    got = fused(device(value)).copy_to_host()
    assert fused.reason == ""
    np.testing.assert_array_equal(got, quotient(device(value)).copy_to_host())


NAMES = ["abs", "range", "math", "float32", "block_max", "larger", "print", "<lambda>"]


@pytest.mark.parametrize("name", NAMES)
def test_a_function_may_have_any_name(name):
    def of_rows(x):
        return np.abs(x) - np.max(np.abs(x), axis=-1, keepdims=True)

    of_rows.__name__ = name
    fused, x = fuse(of_rows), device()
    assert (fused(x).copy_to_host() == 0.0).all()
    assert fused.reason == ""
    assert fused.compare(x).max_difference == 0.0


def test_threads_do_not_meet_in_one_function():
    @fuse
    def slow(x):
        y = x * 2.0
        time.sleep(0.003)
        return y + 1.0

    wrong = []

    def work():
        for _ in range(5):
            found = slow(device()).copy_to_host()
            wrong.extend(found[found != 3.0])

    threads = [threading.Thread(target=work) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_compare_puts_back_what_is_no_argument():
    kept = [device(0.0)]

    def add(x):
        kept[0] += x
        return kept[0] * 2.0

    told = fuse(add).compare(device())
    assert told.max_difference == 0.0
    assert (kept[0].copy_to_host() == 0.0).all()


def test_compare_puts_back_arguments_after_an_error():
    def fails(x):
        x += 1.0
        raise KeyError

    x = device()
    with pytest.raises(KeyError):
        fuse(fails).compare(x)
    assert (x.copy_to_host() == 1.0).all()


def with_events(x):
    before, after = (simgpu.Event(enable_timing=True) for _ in range(2))
    before.record()
    y = np.exp(x) * 2.0
    after.record()
    simgpu.synchronize()
    return y, before.elapsed_time(after) > 0.0


def with_log(x):
    with library.log() as log:
        y = np.exp(x) * 2.0
    return y, len(log.entries) == 4


def with_profile(x):
    with profiler.profile() as prof:
        y = np.exp(x) * 2.0
    return y, len(prof.events()) == 4


@pytest.mark.parametrize("function", [with_events, with_log, with_profile])
def test_what_measures_inside_sees_the_ops(function):
    fused = fuse(function)
    assert function(device())[1]
    assert fused(device())[1]
    assert "measures" in fused.reason


class Counter:
    def __init__(self):
        self.w = device()

    @fuse
    def step(self):
        self.w *= 0.5
        self.w += 1.0
        return self.w


def test_a_method_without_arrays_is_fused():
    counter = Counter()
    assert (counter.step().copy_to_host() == 1.5).all()
    assert counter.step.reason == ""
    assert "def step(" in counter.step.source
    assert (counter.step().copy_to_host() == 1.75).all()


def sum_for_max(x, axis=None, *, keepdims=False):
    return reduce_sum(x, axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("function", [sum_for_max, reduce_sum])
def test_a_kernel_of_another_op_is_not_taken_for_the_ops(function):
    def largest(x):
        return np.max(x * 2.0, axis=-1, keepdims=True) + x

    fused = fuse(largest)
    with library.override("tinytorch::max", "simgpu", function):
        fused(device(0.0))
        assert "max is served by" in fused.reason
        assert (fused(device()).copy_to_host() == 129.0).all()


@pytest.mark.parametrize("is_out", [True, False])
def test_an_overlap_is_not_told_as_a_launch_of_the_functions(is_out):
    def moved(x):
        a, b = x[0], x.reshape(-1)[8:72]
        if is_out:
            np.add(a, 1.0, out=b)
        else:
            a += b
        b *= 2.0

    x, y = device(), device()
    fused = fuse(moved)
    fused(x)
    moved(y)
    assert "by itself" not in fused.reason
    np.testing.assert_array_equal(x.copy_to_host(), y.copy_to_host())


def test_a_look_from_a_copied_context_loses_nothing():
    def change(x):
        x *= 2.0
        contextvars.copy_context().run(lambda: float(x[0, 0]))
        x += 1.0
        x *= 3.0
        return x + 1.0

    x = device()
    assert (fuse(change)(x).copy_to_host() == 10.0).all()
    assert (x.copy_to_host() == 9.0).all()


@pytest.mark.parametrize("pair", [(0.0, -0.0), (-0.0, 0.0)])
def test_zeros_of_both_signs_are_two_parameters(pair):
    by = SimpleNamespace(a=5.0, b=7.0)

    def apart(x):
        first, second = 1.0 / (x * by.a), 1.0 / (x * by.b)
        return np.maximum(first, -9.0) - np.maximum(second, -9.0)

    fused = fuse(apart)
    for by.a, by.b in [(5.0, 7.0), (3.0, 3.0), pair]:
        got = fused(device()).copy_to_host()
        np.testing.assert_array_equal(got, apart(device()).copy_to_host())


def test_a_number_may_have_the_name_of_another():
    by = SimpleNamespace(k=3.0)

    def line(x, number1):
        return x * number1 + by.k

    fused = fuse(line)
    for number, by.k in [(2.0, 3.0), (float("4"), float("4")), (5.0, 6.0), (7.0, 1.0)]:
        got = fused(device(), number).copy_to_host()
        assert (got == number + by.k).all()


def test_a_number_may_have_the_name_of_a_derived_one():
    def step(arrays, x, rate, step):
        library.call("fused_adam", *arrays, step, lr=0.1)
        arrays[0] *= rate
        return x

    def run(function, rate, count):
        arrays = [device(v, (64,)) for v in (1.0, 0.5, 0.0, 0.0)]
        function(arrays, device(), rate, count)
        return [a.copy_to_host() for a in arrays]

    fused = fuse(step)
    for rate, count in [(2.0, 1), (0.1 / (1 - 0.9**2), 2), (4.0, 3)]:
        for got, wanted in zip(
            run(fused, rate, count), run(step, rate, count), strict=True
        ):
            np.testing.assert_allclose(got, wanted, rtol=1e-6)
