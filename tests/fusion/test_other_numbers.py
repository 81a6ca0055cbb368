"""A kernel that was written once is used again only for what it computes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.fusion.programs import leaves_of
from tinytorch_gpu import cuda, fuse, library
from tinytorch_gpu.errors import KernelWarning

FACTORS = {"k": 2.0}
COUNT = [0]


def swapped(x, k):
    a = x * 2.0 + 1.0
    b = a * 3.0
    return (a, b) if k > 2 else (b, a)


def one_or_two(x, k):
    a = x * 2.0 + 1.0
    return (a,) if k > 2 else (a, a)


def window(x, k):
    return x[k : k + 2] * 2.0 + 1.0


def rest(x, k):
    return x[int(k) :] * 2.0 + 1.0


def clipped(x, k):
    return x * min(k, 2.5) + 1.0


def signed(x, k):
    return x * (1.0 if k > 2 else -1.0) + k


def floored(x, k):
    return x * float(k // 2) + 1.0


def rooted(x, k):
    return x * float(np.sqrt(float(k))) + 1.0


def spelled(x, k):
    return x * float(str(k)) + 1.0


def looked_up(x, k):
    return x * {1: 5.0, 2: 5.0, 3: 7.0}.get(int(k), 9.0) + 1.0


def lists(x, k):
    return [x * 2.0 + 1.0] * (1 if k < 3 else 2)


@pytest.mark.parametrize(
    "function",
    [
        *(swapped, one_or_two, window, rest, clipped, signed, floored, rooted),
        *(spelled, looked_up, lists),
    ],
)
@pytest.mark.parametrize("kind", [int, float])
def test_what_a_number_decides_is_decided_in_each_call(function, kind):
    if function is window and kind is float:
        pytest.skip("no index")
    x = cuda.to_device(np.arange(8, dtype=np.float32))
    fused = fuse(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        for number in (1, 2, 3, 4, 1, 5, 3, 6, 7, 2, 0, 8, 9, 10, 11, 12):
            got, wanted = fused(x, kind(number)), function(x, kind(number))
            pairs = zip(leaves_of(got), leaves_of(wanted), strict=True)
            for one, other in pairs:
                np.testing.assert_allclose(one, other, rtol=1e-6)


def test_what_is_changed_in_place_is_decided_in_each_call():
    def chosen(x, z, k):
        return np.multiply(x * 2.0, 2.0, out=z if k > 2 else x)

    fused = fuse(chosen)
    for number in (1.0, 3.0, 1.0):
        arrays = [cuda.to_device(np.ones(8, np.float32)) for _ in range(4)]
        fused(*arrays[:2], number)
        chosen(*arrays[2:], number)
        x, z, a, b = (array.copy_to_host() for array in arrays)
        np.testing.assert_array_equal([x, z], [a, b])


def test_arithmetic_of_numbers_still_needs_one_kernel():
    def step(x, lr, count):
        return x - lr / (1.0 - 0.5**count) * x

    x = cuda.to_device(np.ones(8, np.float32))
    fused = fuse(step)
    sources = set()
    for count in (1.0, 2.0, 3.0, 4.0):
        np.testing.assert_allclose(
            fused(x, 0.1 * count, count).copy_to_host(),
            step(x, 0.1 * count, count).copy_to_host(),
            rtol=1e-6,
        )
        sources.add(fused.source)
    assert len(sources) == 2  # one with the number in it, then one that is given it


def test_what_the_code_can_reach_may_change():
    factor = 2.0

    def by_closure(x):
        return x * factor + 1.0

    def by_global(x):
        return x * FACTORS["k"] + 1.0

    def by_counter(x):
        COUNT[0] += 1
        return x * float(COUNT[0]) + 1.0

    x = cuda.to_device(np.ones(8, np.float32))
    closure, by_name, counter = fuse(by_closure), fuse(by_global), fuse(by_counter)
    first = [f(x).copy_to_host()[0] for f in (closure, closure, by_name, by_name)]
    factor, FACTORS["k"] = 5.0, 6.0
    then = [f(x).copy_to_host()[0] for f in (closure, by_name)]
    FACTORS["k"] = 2.0
    assert (first, then) == ([3, 3, 3, 3], [6, 7])
    assert [counter(x).copy_to_host()[0] for _ in range(4)] == [2, 3, 4, 5]


@pytest.mark.parametrize("key", ["Autograd", "Profiler", "simgpu"])
def test_a_function_registered_later_is_asked(key):
    x = cuda.to_device(np.zeros(8, np.float32))
    fused = fuse(lambda x: np.exp(x) * 2.0)
    assert fused(x).copy_to_host()[0] == fused(x).copy_to_host()[0] == 2
    other = library.override("tinytorch::exp", key, lambda v, out=None: v)
    with other, warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        assert fused(x).copy_to_host()[0] == 0
    assert fused(x).copy_to_host()[0] == 2


def test_compare_runs_the_kernel_that_calls_run():
    x = cuda.to_device(np.ones(8, np.float32))
    fused = fuse(clipped)
    for number in (1.0, 2.0, 4.0):
        told = fused.compare(x, number)
        assert told.max_difference == 0
        fused(x, number)
        assert fused.compare(x, number).max_difference == 0
