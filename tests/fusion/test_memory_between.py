"""Steps that write where others read are no group, and what is read later is stored."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda, fuse


def shifted(x, y, _):
    a = x[1:] * 2.0
    np.multiply(y[1:], 2.0, out=x[:-1])
    return a


def turned(x, y, _):
    a = x[::-1] * 2.0
    np.multiply(y, 2.0, out=x)
    return a


def overlapping(x, y, out):
    np.multiply(x[1:], 2.0, out=out[1:])
    np.multiply(y[1:], 3.0, out=out[:-1])
    return out


def apart(x, y, out):
    np.multiply(x[:100], 2.0, out=out[:100])
    np.multiply(y[:100], 2.0, out=out[100:200])
    return out


@pytest.mark.filterwarnings("ignore::tinytorch_gpu.errors.KernelWarning")
@pytest.mark.parametrize("size", [300, 100_000])
@pytest.mark.parametrize("program", [shifted, turned, overlapping, apart])
def test_parts_that_share_memory_are_done_one_after_another(program, size):
    def made():
        rng = np.random.default_rng(1)
        return [cuda.to_device(rng.random(size, np.float32)) for _ in range(3)]

    fused = fuse(program)
    for _ in range(2):
        given, other = made(), made()
        results = fused(*given), program(*other)
        pairs = zip((*given, results[0]), (*other, results[1]), strict=True)
        for one, wanted in pairs:
            np.testing.assert_array_equal(one.copy_to_host(), wanted.copy_to_host())
    assert (fused.reason == "") == (program is apart)


@cuda.jit
def own_kernel(x):
    x[0] = 1.0


HOST = np.ones((40, 40), np.float32)


def host_copied_over(x):
    a = np.exp(x)
    x.copy_to_device(HOST)
    return a * 2.0


def host_assigned(x):
    a = np.exp(x)
    x[:] = HOST
    return a * 2.0 + x


def product_of_the_middle(x):
    x *= 2.0
    s = x @ x
    x += 1.0
    return s, x


def columns_of_the_middle(x):
    x *= 2.0
    s = np.sum(x, axis=0)
    x += 1.0
    return s, x


@pytest.mark.parametrize("program", [host_copied_over, product_of_the_middle])
def test_what_is_overwritten_in_between_is_no_opportunity(found, arrays, program):
    assert list(found(program, *arrays((40, 40)))) == []


@pytest.mark.parametrize(
    ("program", "ops"), [(host_assigned, "exp"), (columns_of_the_middle, "mul")]
)
def test_a_reader_of_the_middle_keeps_the_ops_apart(found, arrays, program, ops):
    assert all(ops != one.ops[0] for one in found(program, *arrays((40, 40))))


def test_what_an_own_kernel_may_read_is_stored(found, arrays):
    def program(x):
        a = x * 2.0
        b = a + 1.0
        own_kernel[1, 1](a[0])
        del a
        return b

    (one,) = found(program, *arrays((40, 40)))
    assert one.after.dram_bytes == 3 * 40 * 40 * 4
