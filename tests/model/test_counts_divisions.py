"""Integer `//` and `%`: shifts, products, or long sequences, but never special.

Expected operations are by hand, from PTX: of unsigned numbers by a power of two one; of
signed ones three; by another constant five; by a variable twenty.
"""

from __future__ import annotations

import operator

import numpy as np
import pytest

from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.cuda import uint64

SIZE = 32
EIGHT = np.uint64(8)


@cuda.jit
def by_power(x, n):
    i = cuda.grid(1)
    x[i] = x[i] // 32


@cuda.jit
def rest_by_power(x, n):
    i = cuda.grid(1)
    x[i] = x[i] % SIZE


@cuda.jit
def by_a_variable_that_is_constant(x, n):
    i = cuda.grid(1)
    size = SIZE
    x[i] = x[i] % size


@cuda.jit
def in_place(x, n):
    i = cuda.grid(1)
    x[i] //= 16


@cuda.jit
def unsigned(x, n):
    i = cuda.grid(1)
    x[i] = x[i] // EIGHT


@cuda.jit
def cast(x, n):
    i = cuda.grid(1)
    x[i] = x[i] % uint64(8)


@cuda.jit
def by_seven(x, n):
    i = cuda.grid(1)
    x[i] = x[i] // 7


@cuda.jit
def by_minus_eight(x, n):
    i = cuda.grid(1)
    x[i] = x[i] % -8


@cuda.jit
def by_parameter(x, n):
    i = cuda.grid(1)
    x[i] = x[i] % n


@cuda.jit
def by_element(x, n):
    i = cuda.grid(1)
    x[i] = x[i] // x[0]


@cuda.jit
def by_function(x, n):
    i = cuda.grid(1)
    x[i] = operator.floordiv(x[i], 32)


@cuda.jit
def both(x, n):
    i = cuda.grid(1)
    x[i] = divmod(x[i], 7)[0]


# Kernel, dtype, integer operations of each thread.
CASES = [
    (by_power, "int64", 3),
    (by_power, "int32", 3),
    (rest_by_power, "int64", 3),
    (by_a_variable_that_is_constant, "int32", 3),
    (in_place, "int64", 3),
    (unsigned, "uint64", 1),
    (cast, "uint64", 1),
    (by_power, "uint64", 3),  # uint64 // int64 is int64, in numba
    (unsigned, "int64", 3),
    (by_seven, "int32", 5),
    (by_minus_eight, "int64", 5),
    (by_parameter, "int64", 20),
    (by_element, "uint64", 20),
    (by_function, "int64", 3),
    (both, "int64", 5),
]


@pytest.mark.parametrize(
    ("kernel", "dtype", "times"),
    CASES,
    ids=[f"{k.py_func.__name__} {dtype}" for k, dtype, _ in CASES],
)
def test_integer_divisions(kernel, dtype, times):
    x = profiler.like(64, dtype)
    counts = profiler.estimate(kernel, 1, 64, [x, 9], gpu="t4").counts
    assert counts.total("integer") == 64 * times
    assert counts.total("special") == counts.total("special_warps") == 0
    accesses = sum(a.requests for a in counts.accesses)
    assert counts.total("instructions") == 2 * times + accesses


@pytest.mark.parametrize("kernel", [by_power, by_seven, by_parameter, both])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_divisions_of_floats_are_special(kernel, dtype):
    x = profiler.like(64, dtype)
    counts = profiler.estimate(kernel, 1, 64, [x, 9], gpu="t4").counts
    assert (counts.total("special"), counts.total("integer")) == (64, 0)


@pytest.mark.parametrize("kernel", [by_power, rest_by_power, by_seven, in_place])
def test_quotients_are_those_of_python(kernel):
    values = np.array([-65, -64, -33, -1, 0, 1, 31, 32, 2**40], np.int64)
    x = values.copy()
    kernel[1, len(x)](x, 9)
    compute = {
        by_power: lambda v: v // 32,
        rest_by_power: lambda v: v % 32,
        by_seven: lambda v: v // 7,
        in_place: lambda v: v // 16,
    }[kernel]
    assert x.tolist() == [compute(int(v)) for v in values]


@cuda.jit
def around(x, out):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(32):
        total += x[(i // 32) * 32 + (i + k) % 32]
    out[i] = total


@cuda.jit
def around_by_shifts(x, out):
    i = cuda.grid(1)
    total = np.float32(0)
    for k in range(32):
        total += x[((i >> 5) << 5) + ((i + k) & 31)]
    out[i] = total


def test_an_index_by_powers_of_two_costs_no_special_functions():
    n = 2**20
    args = [profiler.like(n), profiler.like(n)]
    slow, fast = (
        profiler.estimate(kernel, n // 256, 256, args, gpu="t4")
        for kernel in (around, around_by_shifts)
    )
    # In a turn: 3 + 1 + 1 + 3 + 1 integer operations, and 1 + 1 + 1 + 1 + 1
    assert slow.counts.total("integer") == 9 * 32 * n
    assert fast.counts.total("integer") == 5 * 32 * n
    assert slow.time.terms["special"] == 0
    assert fast.duration_ns < slow.duration_ns < 1.3 * fast.duration_ns
