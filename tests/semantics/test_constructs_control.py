"""Section 2 of simt-semantics, who runs what: a test for each row."""

import numpy as np
import pytest

from tests.semantics import test_constructs_values
from tests.semantics.rows import ROWS_IN_ALL, Rows, counts_of, integers, line_of
from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import KernelWarning, SimGPUError, StepBudgetError

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


test_the_construct = row.as_test()


def test_every_row_of_the_section_has_its_test():
    names = row.names | test_constructs_values.row.names
    assert len(names) == ROWS_IN_ALL[2]
