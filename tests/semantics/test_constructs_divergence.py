"""Section 2 of simt-semantics, divergence and reconvergence: a test for each row."""

import contextlib

import numpy as np
import pytest

from tests.semantics.rows import ROWS_IN_ALL, Rows, counts_of, integers, line_of
from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import (
    KernelRaisedError,
    KernelTypeError,
    KernelWarning,
    OutOfBoundsError,
    SimGPUError,
    StepBudgetError,
)

row = Rows()


def ints(n):
    return np.zeros(n, np.int64)


@row("`if/elif/else`")
def _both_sides_run_under_a_mask():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t < 10:
            out[t] = 1
        elif t < 64:
            out[t] = 2
        else:
            out[t] = 3

    out = ints(64)
    counts = counts_of(lambda: kernel[1, 64](out))
    assert out.tolist() == [1] * 10 + [2] * 54
    first = next(a for a in counts.accesses if a.line.text == "out[t] = 1")
    second = next(a for a in counts.accesses if a.line.text == "out[t] = 2")
    assert (first.requests, first.active_lanes) == (1, 10)
    assert (second.requests, second.active_lanes) == (2, 54)
    assert not [a for a in counts.accesses if a.line.text == "out[t] = 3"]
    branch = line_of(counts, "if t < 10:")
    assert (branch.branches, branch.divergent_branches) == (2, 1)


@row("`while`, `for` with per-thread trip counts")
def _a_finished_lane_keeps_its_values():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        k = 0
        last = -1
        while k < t:
            last = k * 10
            k += 1
        for j in range(t % 3):
            last += j + 1
        out[t] = last

    out = ints(5)
    kernel[1, 5](out)
    assert out.tolist() == [-1, 0 + 1, 10 + 3, 20, 30 + 1]


@row("`for` variable after the loop")
def _it_is_the_last_value_of_the_lane():
    @cuda.jit
    def kernel(out, n):
        t = cuda.threadIdx.x
        for k in range(t):  # noqa: B007  (it is read afterwards)
            pass
        if t >= n:
            out[t] = k

    out = ints(4)
    kernel[1, 4](out, 1)
    assert out.tolist() == [0, 0, 1, 2]
    with pytest.warns(KernelWarning, match="`k` is used"):
        kernel[1, 4](out, 0)
    assert out.tolist()[1:] == [0, 1, 2]


@row("`range(start, stop, step)` per lane")
def _bounds_belong_to_the_lane():
    @cuda.jit
    def kernel(starts, stops, steps, out):
        t = cuda.threadIdx.x
        for k in range(starts[t], stops[t], steps[t]):
            starts[t] = 100
            out[t] = out[t] * 10 + k

    starts, stops, steps = integers(1, 5, 3, 0), integers(4, 0, 3, 9), [1, -2, 1, 4]
    out = ints(4)
    kernel[1, 4](starts, stops, integers(*steps), out)
    assert out.tolist() == [123, 531, 0, 48]
    with pytest.raises(SimGPUError, match="step"):
        kernel[1, 4](integers(0, 0, 0, 0), stops, integers(1, 1, 0, 1), out)


@row("changing the loop variable inside the body")
def _it_does_not_change_the_trips():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        for k in range(3):
            out[t] += k
            k = 50
        out[t] += k

    out = ints(2)
    kernel[1, 2](out)
    assert out.tolist() == [53, 53]


@row("`break`, `continue`")
def _a_lane_leaves_or_skips_and_others_go_on():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        for k in range(4):
            if k == t:
                break
            if k == 1:
                continue
            out[t] = out[t] * 10 + k + 1

    out = ints(5)
    kernel[1, 5](out)
    assert out.tolist() == [0, 1, 1, 13, 134]


@row("`for/else`, `while/else`")
def _else_is_for_lanes_that_did_not_break():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        for k in range(2):
            if k == t:
                break
        else:
            out[t] = 1
        n = 0
        while n < 2:
            if t > 2:
                break
            n += 1
        else:
            out[t] += 10

    out = ints(4)
    kernel[1, 4](out)
    assert out.tolist() == [10, 10, 11, 1]


@row("early `return`")
def _a_lane_leaves_the_kernel_or_only_the_call():
    @cuda.jit(device=True)
    def store(out, t):
        if t == 1:
            return
        out[t] = 7

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t == 0:
            return
        store(out, t)
        out[t] += 100

    out = ints(3)
    kernel[1, 3](out)
    assert out.tolist() == [0, 100, 107]


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


@row("uniform branch, e.g. `if blockIdx.x == 0`")
def _it_is_no_divergence():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if cuda.blockIdx.x == 0:
            out[i] = 1

    out = ints(128)
    branch = line_of(counts_of(lambda: kernel[2, 64](out)), "if cuda.blockIdx.x == 0:")
    assert out.tolist() == [1] * 64 + [0] * 64
    assert (branch.branches, branch.divergent_branches) == (4, 0)


@row("infinite loop")
def _a_budget_ends_it():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        out[t] = 5
        k = 0
        while k >= 0:
            k = (k + t) % 1000

    out = ints(4)
    with (
        settings.override(loop_budget=500),
        pytest.raises(StepBudgetError, match="while k >= 0:") as caught,
    ):
        kernel[1, 4](out)
    assert "thread" in str(caught.value)
    assert out.tolist() == [0, 0, 0, 0]


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


def test_every_row_has_its_test():
    assert len(row.names) == ROWS_IN_ALL[2]
