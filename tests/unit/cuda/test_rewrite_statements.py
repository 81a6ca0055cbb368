"""Statements keep their masks: who runs what, and what the lane program looks like."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import KernelSyntaxError


@cuda.jit
def log_visits(log):
    i = cuda.grid(1)
    log[0, i] += 1
    if i < 6:
        log[1, i] += 1
        if i < 2:
            return
        log[2, i] += 1
        for k in range(i):
            if k == 3:
                break
            if k == 1:
                continue
            log[3, i] += 1
        else:
            log[4, i] += 1
    else:
        log[5, i] += 1
    log[6, i] += 1


def test_each_statement_runs_for_its_lanes():
    log = np.zeros((7, 8), np.int32)
    log_visits[1, 8](log)
    assert log.tolist() == [
        [1] * 8,
        [1] * 6 + [0] * 2,
        [0, 0, 1, 1, 1, 1, 0, 0],
        [0, 0, 1, 2, 2, 2, 0, 0],
        [0, 0, 1, 1, 0, 0, 0, 0],
        [0] * 6 + [1] * 2,
        [0, 0, 1, 1, 1, 1, 1, 1],
    ]


@cuda.jit
def nothing(x):
    """Only say something."""


@cuda.jit
def only_pass(x):
    pass


@cuda.jit
def only_return(x):
    return


@cuda.jit
def empty_suites(x):
    if cuda.grid(1) > 3:
        pass
    else:
        """Nothing here."""
    for _ in range(3):
        pass
    while cuda.grid(1) < 0:
        pass


@cuda.jit
def leaves_before_nothing(x):
    for k in range(4):
        if k == cuda.grid(1):
            continue
        """Nothing more."""
    if cuda.grid(1) < 3:
        return
    d: int  # noqa: F842


@pytest.mark.parametrize(
    "kernel", [nothing, only_pass, only_return, empty_suites, leaves_before_nothing]
)
def test_kernels_that_do_nothing(kernel):
    x = np.ones(4)
    kernel[2, 32](x)
    assert (x == 1).all()


@cuda.jit
def no_arguments():
    i = cuda.grid(1)
    i += 1


def test_a_kernel_without_arguments():
    no_arguments[1, 32]()


@cuda.jit
def returns_none(x):
    x[0] = 5


def test_returning_none_is_no_value():
    x = np.zeros(1)
    returns_none[1, 1](x)
    assert x[0] == 5


@cuda.jit
def keyword_names(b, f, op, m0, s1, load, store, v_b):
    lambda_ = b[0] + f[0]
    op[0] = lambda_ + m0
    load[0] = s1
    store[0] = v_b


def test_a_learners_names_do_not_clash_with_the_lane_programs():
    b, f, op, load, store = np.ones((5, 1))
    keyword_names[1, 1](b, f, op, 7, 8, load, store, 9)
    assert (op[0], load[0], store[0]) == (9, 8, 9)


@cuda.jit
def ping_pong(a, b, steps):
    i = cuda.grid(1)
    if i < a.size:
        for _ in range(steps):
            b[i] = a[i] + 1
            a, b = b, a


def test_array_variables_swap():
    a, b = np.zeros(5), np.zeros(5)
    ping_pong[1, 5](a, b, 3)
    assert (a[0], b[0]) == (2, 3)


def test_array_variables_that_only_some_lanes_swap():
    a, b = np.zeros(5), np.zeros(5)
    ping_pong[1, 32](a, b, 3)
    assert (a == 2).all()
    assert (b == 3).all()


@cuda.jit
def barrier_in_an_expression(x):
    x[0] = x[0] if x[0] > 0 else cuda.syncthreads_count(1)


def test_a_barrier_stands_on_a_line_of_its_own():
    with pytest.raises(KernelSyntaxError) as caught:
        barrier_in_an_expression[1, 1](np.zeros(1))
    assert "line of its own" in caught.value.fix


@cuda.jit
def dead_code(x):
    i = cuda.grid(1)
    if i < 3:
        x[i] = 1
        return
        x[i] = [2]
    return
    try:
        x[i] = 3
    finally:
        x[i] = 4


def test_what_no_path_reaches_is_not_looked_at():
    x = np.zeros(5)
    dead_code[1, 5](x)
    assert x.tolist() == [1, 1, 1, 0, 0]
