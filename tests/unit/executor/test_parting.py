"""Missing threads are found at the statement where they parted from those that wait."""

import inspect

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import BarrierDivergenceError


@cuda.jit(device=True)
def meets(t):
    cuda.syncthreads()
    return t


@cuda.jit(device=True)
def may_return(t):
    if t == 7:
        return 1
    cuda.syncthreads()
    return 2


@cuda.jit
def in_if(x):
    t = cuda.threadIdx.x
    if t < 40:
        cuda.syncthreads()


@cuda.jit
def in_elif(x):
    t = cuda.threadIdx.x
    if t >= 50:
        x[t] = 1
    elif t < 60:
        cuda.syncthreads()


@cuda.jit
def in_inner_if(x):
    t = cuda.threadIdx.x
    if x[0] == 0:
        if t >= 60:
            return
        if t < 33:
            cuda.syncthreads()


@cuda.jit
def in_for(x):
    t = cuda.threadIdx.x
    for k in range(1 + t % 2):
        x[t] = k
        cuda.syncthreads()


@cuda.jit
def in_while(x):
    t = cuda.threadIdx.x
    k = 0
    while k < t + 1:
        cuda.syncthreads()
        k += 1


@cuda.jit
def in_while_test(x):
    t = cuda.threadIdx.x
    while cuda.syncthreads_or(int(t < 70)):
        if t == 9:
            break
        t += 1


@cuda.jit
def after_break(x):
    t = cuda.threadIdx.x
    for _ in range(4):
        if x[0] == 0:
            if t == 33:
                break
            cuda.syncthreads()


@cuda.jit
def after_break_of_the_other_side(x):
    t = cuda.threadIdx.x
    for _ in range(4):
        if t >= 33:
            if t < 64:
                break
        else:
            cuda.syncthreads()


@cuda.jit
def after_continue(x):
    t = cuda.threadIdx.x
    for _ in range(4):
        if t == 33:
            continue
        cuda.syncthreads()


@cuda.jit
def after_inner_loop(x):
    t = cuda.threadIdx.x
    for _ in range(2):
        for k in range(t):
            if k + t == 3:
                break
        if t > 40:
            continue
        for _ in range(2):
            cuda.syncthreads()


@cuda.jit
def in_loop_else(x):
    t = cuda.threadIdx.x
    for k in range(34):
        if t == k:
            break
    else:
        cuda.syncthreads()


@cuda.jit
def in_callee(x):
    t = cuda.threadIdx.x
    if t < 50:
        x[t] = meets(t)


@cuda.jit
def after_return_from_callee(x):
    t = cuda.threadIdx.x
    x[t] = may_return(t)


@cuda.jit
def after_return_in_a_loop_of_the_caller(x):
    t = cuda.threadIdx.x
    for _ in range(2):
        x[t] = may_return(t)


@cuda.jit
def some_here_and_some_there(x):
    t = cuda.threadIdx.x
    if t < 50:
        for _ in range(2):
            if t > 19:
                break
            cuda.syncthreads()


@cuda.jit
def waits_elsewhere(x):
    if cuda.threadIdx.x < 40:
        cuda.syncthreads()
    else:
        cuda.syncthreads()


@cuda.jit
def at_a_grid_barrier(x):
    t = cuda.threadIdx.x
    grid = cuda.cg.this_grid()
    if t < 40:
        grid.sync()
    x[t] = 1
    cuda.syncthreads()


@cuda.jit
def of_a_long_line(x, first_operand, second_operand):
    if first_operand + second_operand + cuda.threadIdx.x < 40:
        cuda.syncthreads()


LEFT, SKIPPED = "left {} before", "skipped the rest of {} in this turn"
CASES = [  # kernel, statement, what they did, threads that did, threads missing
    (in_if, "if t < 40:", "did not take {}", 24, 24),
    (in_elif, "if t >= 50:", "took {}", 14, 14),
    (in_inner_if, "if t < 33:", "did not take {}", 27, 27),  # 4 have returned
    (in_for, "for k in range(1 + t % 2):", LEFT, 32, 32),
    (in_while, "while k < t + 1:", LEFT, 1, 1),
    (in_while_test, "while cuda.syncthreads_or(int(t < 70)):", LEFT, 1, 1),
    (after_break, "for _ in range(4):", SKIPPED, 1, 1),
    (after_break_of_the_other_side, "for _ in range(4):", SKIPPED, 31, 31),
    (after_continue, "for _ in range(4):", SKIPPED, 1, 1),
    (after_inner_loop, "for _ in range(2):", SKIPPED, 23, 23),
    (in_loop_else, "for k in range(34):", "left {} by `break`", 34, 34),
    (in_callee, "if t < 50:", "did not take {}", 14, 14),
    (after_return_from_callee, "", "returned from may_return before", 1, 1),
    (after_return_in_a_loop_of_the_caller, "", "returned from may_return before", 1, 1),
    (some_here_and_some_there, "if t < 50:", "did not take {}", 14, 44),
    (at_a_grid_barrier, "if t < 40:", "did not take {}", 24, 24),
]


def line_of(kernel, text):
    lines, first = inspect.getsourcelines(kernel.py_func)
    return first + [line.strip() for line in lines].index(text)


def fault_of(kernel, *arguments):
    with pytest.raises(BarrierDivergenceError) as caught:
        kernel[2, 64](np.zeros(64, np.int64), *arguments)
    return caught.value


@pytest.mark.filterwarnings("ignore::tinytorch_gpu.errors.KernelWarning")
@pytest.mark.parametrize("run", ["plain", "counted"])
@pytest.mark.parametrize(
    ("kernel", "statement", "did", "parted", "missing"),
    [pytest.param(*case, id=case[0].py_func.__name__) for case in CASES],
)
def test_they_are_found(run, kernel, statement, did, parted, missing):
    with settings.override(counters=run == "counted"):
        error = fault_of(kernel)
    line = line_of(kernel, statement) if statement else None
    who = "they" if parted == missing else f"{parted} of them"
    assert error.where.endswith(
        f"\n{who} " + did.format(f"`{statement}` (line {line})")
    )
    assert error.elsewhere == line
    assert len(error.threads) == missing


@pytest.mark.parametrize("schedule", ["warps", "reversed", "shuffled"])
def test_warp_by_warp_too(schedule):
    with settings.override(schedule=schedule):
        error = fault_of(in_if)
    line = line_of(in_if, "if t < 40:")
    assert error.where.endswith(f"they did not take `if t < 40:` (line {line})")
    assert error.elsewhere == line


@cuda.jit
def of_one_warp(x):
    if cuda.threadIdx.x < 32:
        cuda.syncthreads()


def test_a_warp_that_is_through_has_run_to_the_end():
    with (
        settings.override(schedule="warps"),
        pytest.raises(BarrierDivergenceError) as caught,
    ):
        of_one_warp[1, 96](np.zeros(1))
    error = caught.value
    assert error.where.endswith("\nthey ran to the end of the kernel")
    assert error.elsewhere is None


def test_a_long_statement_is_cut():
    error = fault_of(of_a_long_line, 1, 2)
    assert "`if first_operand + second_operand + cuda.th…`" in error.where
    assert max(map(len, str(error).splitlines())) <= 91


def test_another_barrier_goes_first():
    error = fault_of(waits_elsewhere)
    assert "they wait at line" in error.where
    assert "did not take" not in error.where
