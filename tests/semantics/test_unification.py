"""A variable has one type wherever two assignments meet, whichever lanes took which.

The compiler of a GPU kernel decides types before any thread runs, so a result must not
depend on which branches the lanes of a batch happen to take. Expected types are those
of numba-cuda 0.30.4 for the same functions.
"""

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.cuda import float32

N = 96  # three blocks of 32 threads
X = np.float32(16777216.0) + np.zeros(N, np.float32)  # 2**24: the next float32 is +2
ONE = np.ones(N, np.float32)


@cuda.jit
def assigned_by_some(x, y, out, limit):
    i = cuda.grid(1)
    v = x[i]
    if i < limit:
        v = 0.5
    out[i] = v + y[i]


@cuda.jit
def ternary(x, y, out, limit):
    i = cuda.grid(1)
    v = 0.5 if i < limit else x[i]
    out[i] = v + y[i]


@cuda.jit
def ternary_of_variables(x, y, out, limit):
    i = cuda.grid(1)
    a = x[i]
    out[i] = (0.5 if i < limit else a) + y[i]


@cuda.jit
def uniform_ternary(x, y, out, limit):
    i = cuda.grid(1)
    out[i] = (0.5 if limit > 0 else x[i]) + y[i]


@cuda.jit
def or_operand(x, y, out, limit):
    i = cuda.grid(1)
    out[i] = (x[i] or y[i] * 0.5) + y[i]


@cuda.jit
def carried_by_a_loop(x, y, out, limit):
    i = cuda.grid(1)
    v = x[i]
    for _ in range(limit):
        v = v * 0.0
    out[i] = v + y[i]


@cuda.jit(device=True)
def two_returns(x, i, limit):
    if i < limit:
        return 0.5
    return x[i]


@cuda.jit
def returned(x, y, out, limit):
    i = cuda.grid(1)
    out[i] = two_returns(x, i, limit) + y[i]


@cuda.jit
def tuple_element(x, y, out, limit):
    i = cuda.grid(1)
    pair = (x[i], y[i])
    if i < limit:
        pair = (0.5, y[i])
    out[i] = pair[0] + y[i]


MEETINGS = (
    assigned_by_some, ternary, ternary_of_variables, uniform_ternary, or_operand,
    carried_by_a_loop, returned, tuple_element,
)  # fmt: skip


@pytest.mark.parametrize("kernel", MEETINGS)
def test_float32_meets_float64_though_no_lane_takes_that_side(kernel):
    out = np.zeros(N)
    kernel[3, 32](X, ONE, out, 0)
    assert (out == 2.0**24 + 1).all()


@pytest.mark.parametrize("kernel", [assigned_by_some, ternary, returned, tuple_element])
def test_float32_meets_float64_whatever_the_batch_size(kernel):
    results = []
    for lanes in (32, 64, 16_384):
        out = np.zeros(N)
        with settings.override(batch_lanes=lanes):
            kernel[3, 32](X, ONE, out, 40)
        results.append(out.tolist())
    assert results == [[1.5] * 40 + [2.0**24 + 1] * 56] * 3


@cuda.jit
def assigned_anew(x, y, out):
    i = cuda.grid(1)
    v = 0.0
    v = x[i]
    out[i] = v + y[i]


@cuda.jit
def assigned_anew_in_a_branch(x, y, out):
    i = cuda.grid(1)
    v = 0.0
    if i < out.size:
        v = x[i]
        out[i] = v + y[i]


@cuda.jit
def assigned_anew_in_a_loop(x, y, out):
    i = cuda.grid(1)
    v = 0.0
    for _ in range(2):
        v = x[i]
        out[i] = v + y[i]


@cuda.jit
def float32_all_the_way(x, y, out):
    i = cuda.grid(1)
    v = float32(0)
    for _ in range(2):
        if i % 2:
            v = x[i]
        else:
            v = x[i] * float32(1)
        out[i] = v + y[i]


@pytest.mark.parametrize(
    ("kernel", "grid", "block"),
    [
        (assigned_anew, 1, N - 5),
        (assigned_anew_in_a_branch, 3, 32),
        (assigned_anew_in_a_loop, 1, N - 5),
        (float32_all_the_way, 1, N - 5),
    ],
)
def test_a_value_that_is_overwritten_does_not_widen_its_successor(kernel, grid, block):
    out = np.zeros(N - 5)
    kernel[grid, block](X, ONE, out)
    assert (out == 2.0**24).all()
