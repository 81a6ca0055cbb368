"""Section 2 of simt-semantics, values on paths that part: a test for each row."""

import contextlib

import numpy as np
import pytest

from tests.semantics.rows import Rows, integers
from tinytorch_gpu import cuda
from tinytorch_gpu.errors import (
    KernelRaisedError,
    KernelTypeError,
    KernelWarning,
    OutOfBoundsError,
)

row = Rows()


def ints(n):
    return np.zeros(n, np.int64)


@row("return value of a device function on divergent paths")
def _values_merge_and_types_unify():
    @cuda.jit(device=True)
    def half_or_all(t):
        if t % 2:
            return 0.5
        return t

    @cuda.jit(device=True)  # noqa: RET503  (the other lanes return None)
    def sometimes(t):
        if t > 1:
            return 3

    @cuda.jit
    def kernel(out):
        out[cuda.threadIdx.x] = half_or_all(cuda.threadIdx.x) / 1

    @cuda.jit
    def mixed(out):
        out[cuda.threadIdx.x] = sometimes(cuda.threadIdx.x)

    out = np.zeros(4)
    kernel[1, 4](out)
    assert out.tolist() == [0, 0.5, 2, 0.5]
    with pytest.raises(KernelTypeError):
        mixed[1, 4](out)


@row("ternary `a if c else b`")
def _only_the_chosen_side_is_evaluated():
    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[t] = x[t] if t < x.size else -1

    out = ints(4)
    kernel[1, 4](integers(5, 6), out)
    assert out.tolist() == [5, 6, -1, -1]


@row("`and` / `or`")
def _the_right_side_is_for_lanes_that_need_it():
    @cuda.jit
    def kernel(x, out, calls):
        t = cuda.threadIdx.x
        if t < x.size and x[t] > 0:
            out[t] = 1
        if t >= x.size or cuda.atomic.add(calls, 0, 1) < 0:
            out[t] += 10
        out[t] += 100 * ((t and 5) + (t - 1 or 7))

    out, calls = ints(4), ints(1)
    kernel[1, 4](integers(5, -6), out, calls)
    assert calls.tolist() == [2]
    assert out.tolist() == [1 - 100, 1200, 610, 710]


@row("chained comparison `a < b < c`")
def _the_middle_is_evaluated_once():
    @cuda.jit
    def kernel(x, out, calls):
        t = cuda.threadIdx.x
        if 0 < t < cuda.atomic.add(calls, 0, 1) + 10 < 12:
            out[t] = 1
        if x.size > t >= x[t]:
            out[t] += 10

    out, calls = ints(4), ints(1)
    kernel[1, 4](integers(0, 5), out, calls)
    # Lanes 1, 2, 3 count: they see 0, 1, 2, so lane 3 compares 12 < 12.
    assert calls.tolist() == [3]
    assert out.tolist() == [10, 1, 1, 0]


@row("conditional assignment, variable defined on one side only")
def _an_undefined_lane_is_reported_where_it_takes_effect():
    @cuda.jit
    def thrown_away(out, limit):
        t = cuda.threadIdx.x
        if t < limit:
            v = t * 2
        w = v + 1
        if t < 2:
            out[t] = w

    @cuda.jit
    def as_address(out, limit):
        t = cuda.threadIdx.x
        if t < limit:
            v = t
        out[v] = 1

    @cuda.jit
    def as_branch(out, limit):
        t = cuda.threadIdx.x
        if t < limit:
            v = t
        if v > 0:
            out[t] = 1

    out = ints(4)
    thrown_away[1, 4](out, 2)
    assert out.tolist() == [1, 3, 0, 0]
    for kernel, limit in ((thrown_away, 1), (as_address, 3), (as_branch, 3)):
        with (
            pytest.warns(KernelWarning, match="never assigned it"),
            contextlib.suppress(OutOfBoundsError),  # a leftover as an index may be that
        ):
            kernel[1, 4](out, limit)
        kernel[1, 4](out, 4)


@row("assigning different types on two sides")
def _numbers_unify_and_the_rest_is_refused():
    @cuda.jit
    def numbers(y, out):
        t = cuda.threadIdx.x
        if t < 0:  # noqa: SIM108
            v = 1
        else:
            v = y[t]
        out[t] = v * v

    @cuda.jit
    def refused(y, out):
        t = cuda.threadIdx.x
        if t < 2:  # noqa: SIM108
            v = y
        else:
            v = 1
        out[t] = v

    out = np.zeros(1)
    third = np.float32(1 / 3)
    numbers[1, 1](np.array([third]), out)
    assert out[0] == float(third) ** 2 != float(third * third)  # as float64
    with pytest.raises(KernelTypeError, match="array") as caught:
        refused[1, 4](np.zeros(4), np.zeros(4))
    assert "int64" in str(caught.value)
    assert "out[t] = v" in str(caught.value)


@row("`selp(p,a,b)`")
def _both_are_evaluated():
    @cuda.jit
    def kernel(x, out, i):
        t = cuda.threadIdx.x
        out[t] = cuda.selp(t < 2, x[t], x[t + i])

    out = ints(3)
    kernel[1, 3](integers(1, 2, 3), out, 0)
    assert out.tolist() == [1, 2, 3]
    with pytest.raises(OutOfBoundsError):
        kernel[1, 3](integers(1, 2, 3), out, 2)


@row("`assert`/`raise`")
def _the_host_learns_which_thread_failed():
    @cuda.jit(debug=True)
    def kernel(x, out):
        t = cuda.threadIdx.x
        assert x[t] > 0
        if x[t] > 8:
            raise ValueError("too large")
        out[t] = 1

    out = ints(3)
    kernel[1, 3](integers(1, 2, 3), out)
    assert out.tolist() == [1, 1, 1]
    cases = (-2, AssertionError, "assert x"), (9, ValueError, "too large")
    for value, kind, text in cases:
        with pytest.raises(KernelRaisedError, match=text) as caught:
            kernel[1, 3](integers(1, value, 3), out)
        assert isinstance(caught.value, kind)
        assert "thread (1, 0, 0)" in str(caught.value)
        assert "block (0, 0, 0)" in str(caught.value)


test_the_construct = row.as_test()
