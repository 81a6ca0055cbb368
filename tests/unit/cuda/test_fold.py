"""Constants are folded as Python's compiler does; aliases stand for what they name."""

import enum
import math

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32

TPB = 32
SHAPE = (16, 2)
MODE = 1
NAME = "fast"
STEPS = (1, 10, 100)
MOVES = ((0, 1), (1, 0), (0, -1))


@cuda.jit
def literals(out, u):
    out[0] = 10**-6
    out[1] = 2**-2
    out[2] = (2**63) >> 60
    out[3] = ((1 << 64) - 1) >> 40
    out[4] = (u[0] & ((1 << 64) - 1)) >> 60
    out[5] = -7 // 2 + True
    out[6] = float("-inf")
    out[7] = np.finfo(np.float32).eps
    out[8] = np.iinfo(np.int16).max
    out[9] = not 0


def test_literals_are_folded_as_python_does():
    out = np.zeros(10)
    literals[1, 1](out, np.array([2**64 - 1], np.uint64))
    assert out.tolist() == [
        1e-6, 0.25, 8, 2**24 - 1, 15, -3, -math.inf, 2.0**-23, 2**15 - 1, 1
    ]  # fmt: skip


@cuda.jit
def aliases(out):
    where = cuda.threadIdx
    g = cuda.grid
    f = math.sqrt
    t = float32
    n = 1
    out[g(n)] = f(t(where.x))


def test_aliases_stand_for_what_they_name():
    out = np.zeros(40)
    aliases[1, 40](out)
    assert (out == np.sqrt(np.arange(40, dtype=np.float32))).all()


@cuda.jit
def shapes(out):
    n = 4
    m = k = TPB
    shape = (TPB, 2)
    a = cuda.shared.array(n, int32)
    b = cuda.shared.array(shape, int32)
    c = cuda.local.array(SHAPE[0], int32)
    d = cuda.local.array(m * 2, int32)
    out[0] = a.size
    out[1] = b.size
    out[2] = c.size
    out[3] = d.size + k


def test_shapes_may_be_variables_that_are_constants():
    out = np.zeros(4)
    shapes[1, 1](out)
    assert out.tolist() == [4, 64, 16, 96]


@cuda.jit
def sides_that_do_not_fit(x, out):
    i = cuda.grid(1)
    if x.ndim == 1:
        out[i] = x[i]
    else:
        out[i] = x[i, 0]
    if MODE == 2:
        out[i] = x[i, 0, 0]
    if NAME == "fast":
        out[i] += 1
    else:
        out[i] = nowhere
    out[i] += 5 if NAME != "slow" else nowhere
    print(NAME)


@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_sides_that_constants_rule_out_are_not_looked_at(shape, capsys):
    out = np.zeros(3)
    sides_that_do_not_fit[1, 3](np.ones(shape), out)
    assert out.tolist() == [7] * 3
    assert capsys.readouterr().out == "fast\n" * 3


@cuda.jit
def picked(out):
    i = cuda.grid(1)
    near = (i, 2 * i, 3 * i)
    out[i, 0] = STEPS[i % 3]
    out[i, 1] = STEPS[-1 - i % 3]
    out[i, 2] = MOVES[i % 3][1]
    dx, dy = MOVES[i % 3]
    out[i, 3] = dx * 10 + dy
    out[i, 4] = near[i % 3]


def test_lanes_pick_from_tuples():
    out = np.zeros((40, 5))
    picked[1, 40](out)
    expected = [
        [STEPS[i % 3], STEPS[-1 - i % 3], MOVES[i % 3][1],
         MOVES[i % 3][0] * 10 + MOVES[i % 3][1], i * (i % 3 + 1)]
        for i in range(40)
    ]  # fmt: skip
    assert out.tolist() == expected


class Cell(enum.IntEnum):
    DEAD = 0
    ALIVE = 1


@cuda.jit
def members(x):
    i = cuda.grid(1)
    x[i] = Cell.DEAD if x[i] == Cell.ALIVE else Cell.ALIVE


def test_members_of_an_intenum_are_integers():
    x = np.array([0, 1, 1])
    members[1, 3](x)
    assert x.tolist() == [1, 0, 0]


@cuda.jit
def assigned_in_a_branch(x, out):
    i = cuda.grid(1)
    if i == 0:
        n = 3
    if i == 0 and n:
        out[i] = n


def test_what_only_a_branch_assigns_is_no_constant():
    out = np.zeros(2)
    assigned_in_a_branch[1, 2](out, out)
    assert out.tolist() == [3, 0]


@cuda.jit
def never_else(x):
    i = cuda.grid(1)
    while True:
        x[i] += 1
        if x[i] > 3:
            break
    else:
        x[i] = -1


def test_the_else_of_an_endless_loop_is_never_run():
    x = np.arange(3)
    never_else[1, 3](x)
    assert x.tolist() == [4, 4, 4]


@cuda.jit
def variables_of_a_decided_side(x, out):
    i = cuda.grid(1)
    for k in range(2):
        if MODE == 1:
            a = x[i] + k
            if a > 3:
                b = a * 2
                out[i] += b
        else:
            cuda.atomic.add(out, x[i], nowhere)
    if MODE == 2 and x[i] > 0:
        out[int(x[i])] = x[99]
    out[i] += x[i] if 1 == 1 else cuda.atomic.add(out, 99, 1)


def test_a_decided_side_stands_in_place_of_the_branch():
    x, out = np.arange(5.0), np.zeros(5)
    variables_of_a_decided_side[1, 5](x, out)
    sums = [sum(2 * (v + k) for k in range(2) if v + k > 3) + v for v in x]
    assert out.tolist() == sums


@cuda.jit
def nothing_is_left(x):
    i = cuda.grid(1)
    if MODE == 2:
        x[i] = 1
    for _ in range(2):
        if NAME == "slow":
            x[i] = 2
    while x[i] > 5:
        if MODE != 1:
            x[i] = 3
        x[i] -= 1


def test_what_is_left_empty_does_nothing():
    x = np.arange(8)
    nothing_is_left[1, 8](x)
    assert x.tolist() == [0, 1, 2, 3, 4, 5, 5, 5]
