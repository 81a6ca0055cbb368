"""Errors and warnings of real launches become findings with all their facts."""

import contextlib
import warnings

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import KernelTypeError, SimGPUError
from tinytorch_gpu.sanitizer.finding import LEVELS
from tinytorch_gpu.sanitizer.from_errors import TOOLS, finding_of

ALL = 0xFFFFFFFF


@cuda.jit
def past_the_end(x):
    x[cuda.grid(1)] = 1


@cuda.jit
def left_neighbour(x):
    i = cuda.grid(1)
    x[i] = x[i - 1]


@cuda.jit
def one_branch(x):
    i = cuda.grid(1)
    if i > 2:
        v = 1
    x[i] = v


@cuda.jit
def no_branch(x):
    if x[0] > 5:
        v = 1
    x[0] = v


@cuda.jit
def barrier_in_a_branch(x):
    if cuda.threadIdx.x < 2:
        cuda.syncthreads()
    x[0] = 1


@cuda.jit
def barrier_after_return(x):
    if cuda.threadIdx.x > 4:
        return
    cuda.syncthreads()
    x[0] = 1


@cuda.jit
def not_in_its_mask(x):
    x[0] = cuda.ballot_sync(6, True)


@cuda.jit
def masks_that_differ(x):
    x[0] = cuda.ballot_sync(1 << cuda.laneid | 3, True)


@cuda.jit
def reads_a_stranger(x):
    if cuda.laneid < 2:
        x[cuda.laneid] = cuda.shfl_sync(3, 1, 9)


@cuda.jit
def without_the_others(x):
    if cuda.laneid < 3:
        cuda.syncwarp()
    x[0] = 1


@cuda.jit
def waits_for_ever(x):
    while x[0] == 0:
        pass


@cuda.jit
def runs_for_ever(x):
    while x[0] == 0:
        x[1] += 1


def found(kernel, size=8, threads=8):
    """Return the findings of a launch of one block."""
    with warnings.catch_warnings(record=True) as told, settings.override(loop_budget=9):
        warnings.simplefilter("always")
        stopped = []
        try:
            kernel[1, threads](np.zeros(size, np.int64))
        except SimGPUError as error:
            stopped.append(error)
    errors = [warning.message for warning in told] + stopped
    return [finding_of(error) for error in errors]


@pytest.mark.parametrize(
    ("kernel", "kind", "level", "threads"),
    [
        (past_the_end, "out_of_bounds", "error", (8, 9)),
        (left_neighbour, "negative_index", "warning", (0,)),
        (one_branch, "undefined_variable", "error", (0, 1, 2)),
        (no_branch, "undefined_variable", "error", range(10)),
        (barrier_in_a_branch, "divergent_barrier", "error", range(2, 10)),
        (barrier_after_return, "barrier_after_return", "warning", range(5, 10)),
        (not_in_its_mask, "warp_mask", "error", (0, *range(3, 10))),
        (masks_that_differ, "warp_mask", "error", range(2, 10)),
        (reads_a_stranger, "warp_mask", "error", (0, 1)),
        (without_the_others, "divergent_warp", "error", range(3, 10)),
        (runs_for_ever, "endless_loop", "error", range(10)),
    ],
)
def test_kind_level_and_place(kernel, kind, level, threads):
    size = 8 if kernel is past_the_end else 16
    (finding,) = found(kernel, size, 10)
    assert (finding.tool, finding.kind) == (TOOLS[kind], kind)
    assert finding.level == level
    assert finding.level in LEVELS
    assert finding.threads == tuple((t, 0, 0) for t in threads)
    assert finding.block == ((0, 0, 0) if threads else None)
    assert finding.count == len(finding.threads)
    assert finding.line.kernel == kernel.py_func.__name__
    assert finding.line.file == __file__
    assert finding.line.text in str(finding)
    assert all((finding.what, finding.where, finding.why, finding.fix))


def test_waiting_that_nothing_ends():
    with settings.override(loop_budget=1000), pytest.raises(SimGPUError) as caught:
        waits_for_ever[1, 4](np.zeros(1, np.int64))
    finding = finding_of(caught.value)
    assert (finding.tool, finding.kind, finding.count) == ("synccheck", "deadlock", 4)
    assert finding.line.text == "while x[0] == 0:"
    assert finding.threads[-1] == (3, 0, 0)


def test_the_array_and_the_index():
    (finding,) = found(past_the_end, 8, 10)
    assert (finding.array, finding.space, finding.index) == ("x", "global", (8,))
    (finding,) = found(left_neighbour, 8, 4)
    assert (finding.array, finding.space, finding.index) == ("x", "global", (-1,))


def test_what_is_no_fault_of_a_kernel():
    with contextlib.suppress(SimGPUError):
        past_the_end[1, 2048](np.zeros(1))
    assert finding_of(KernelTypeError("no")) is None
