"""Expressions evaluate for the lanes that need them, once, with typed constants."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import int32

LIMIT = 3
HALF = np.float32(0.5)
SIZES = (4, 5)


@cuda.jit(device=True)
def note(log, i, value):
    log[i] += 1
    return value


@cuda.jit
def middle_once(log, out):
    i = cuda.grid(1)
    out[i] = 0 <= note(log, i, i) < 3 < i + 9


@cuda.jit
def short_circuit_and(log, out):
    i = cuda.grid(1)
    out[i] = i < 3 and note(log, i, i > 0)


@cuda.jit
def short_circuit_or(log, out):
    i = cuda.grid(1)
    out[i] = i < 3 or note(log, i, i > 6)


@cuda.jit
def one_side(log, out):
    i = cuda.grid(1)
    out[i] = note(log, i, 1) if i < 3 else -1


@cuda.jit
def nested_sides(log, out):
    i = cuda.grid(1)
    out[i] = (
        (note(log, i, 1) if i % 2 else 2) if i < 3 else 3 if i < 5 else note(log, i, 4)
    )


@cuda.jit
def chain_stops(log, out):
    i = cuda.grid(1)
    out[i] = 2 < i < note(log, i, 6)


@pytest.mark.parametrize(
    ("kernel", "calls", "values"),
    [
        (middle_once, [1] * 8, [1, 1, 1, 0, 0, 0, 0, 0]),
        (short_circuit_and, [1, 1, 1, 0, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0, 0]),
        (short_circuit_or, [0, 0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0, 1]),
        (one_side, [1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, -1, -1, -1, -1, -1]),
        (nested_sides, [0, 1, 0, 0, 0, 1, 1, 1], [2, 1, 2, 3, 3, 4, 4, 4]),
        (chain_stops, [0, 0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 0, 0]),
    ],
)
def test_who_evaluates_what(kernel, calls, values):
    log, out = np.zeros((2, 8), np.int32)
    kernel[1, 8](log, out)
    assert log.tolist() == calls
    assert out.tolist() == values


@cuda.jit
def constants(out):
    out[0] = LIMIT * HALF
    out[1] = SIZES[1] + len(SIZES)
    out[2] = 7 if True else 8
    out[3] = 2**3 + -1
    out[4] = 1_000_000 * 1_000_000 // 10**6
    out[5] = -2.5


def test_constants():
    out = np.zeros(6)
    constants[1, 1](out)
    assert out.tolist() == [1.5, 7, 7, 7, 1e6, -2.5]


@cuda.jit
def index_of_an_index(x, out):
    i = cuda.grid(1)
    out[x[x[i]]] = x[3 - x[i]]


def test_indices_nest():
    x, out = np.array([1, 2, 3, 0], np.int32), np.zeros(4, np.int32)
    index_of_an_index[1, 4](x, out)
    assert out.tolist() == [1, 0, 3, 2]


@cuda.jit
def an_update_counts_once(log, out):
    i = cuda.grid(1)
    out[note(log, i, int32(i))] += 5


def test_the_index_of_an_augmented_assignment_is_evaluated_once():
    log, out = np.zeros((2, 4), np.int32)
    an_update_counts_once[1, 4](log, out)
    assert log.tolist() == [1, 1, 1, 1]
    assert out.tolist() == [5, 5, 5, 5]
