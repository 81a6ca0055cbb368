"""Every loop becomes one over `range`, and gives what Python's own loop gives."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import KernelSyntaxError, KernelTypeError

TABLE = (3, 1, 4)
X = np.array([5.0, 2.0, 8.0, 1.0], np.float32)
Y = np.array([10, 20, 30], np.int64)


def over_an_array(x, y, out):
    total = 0.0
    for v in x:
        total = total * 10 + v
    out[0] = total


def over_a_slice(x, y, out):
    total = 0.0
    for v in x[::-2]:
        total = total * 10 + v
    out[0] = total


def over_a_tuple(x, y, out):
    total = 0
    for v in TABLE:
        total = total * 10 + v
    out[0] = total


def over_numbered_elements(x, y, out):
    total = 0.0
    for i, v in enumerate(x):
        total += v * i
    out[0] = total


def numbered_from(x, y, out):
    total = 0.0
    for i, v in enumerate(x, 7):
        total += v * i
    out[0] = total


def over_pairs(x, y, out):
    total = 0.0
    for a, b in zip(x, y):
        total = total * 100 + a * b
    out[0] = total


def over_numbered_pairs(x, y, out):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        total += i * a * b
    out[0] = total


def over_pairs_with_ranges(x, y, out):
    total = 0.0
    for a, k, j in zip(x, range(9, 0, -4), range(5)):
        total = total * 100 + a * k + j
    out[0] = total


def the_sequence_is_taken_once(x, y, out):
    total = 0.0
    for v in x:
        total += v
        x = y
    out[0] = total


def leaving_early(x, y, out):
    total = 0.0
    for i, v in enumerate(x):
        if v == 2:
            continue
        if v == 1:
            break
        total += v
    else:
        total = -1.0
    out[0] = total


def without_leaving(x, y, out):
    total = 0.0
    for v in y:
        total += v
    else:
        total += 0.5
    out[0] = total


LOOPS = (
    over_an_array, over_a_slice, over_a_tuple, over_numbered_elements, numbered_from,
    over_pairs, over_numbered_pairs, over_pairs_with_ranges, leaving_early,
    without_leaving,
)  # fmt: skip


@pytest.mark.parametrize("function", LOOPS, ids=lambda f: f.__name__)
def test_a_loop_gives_what_pythons_gives(function):
    expected, found = np.zeros(1), np.zeros(1)
    function(X, Y, expected)
    cuda.jit(function)[1, 1](X, Y, found)
    assert found[0] == expected[0]


@pytest.mark.parametrize("x", [X, Y], ids=["another type", "the same type"])
def test_the_sequence_is_taken_once_though_its_name_is_reassigned(x):
    found = np.zeros(1)
    cuda.jit(the_sequence_is_taken_once)[1, 1](x, Y * 2, found)
    assert found[0] == x.sum()


def numbered_range(out, start, stop, step):
    total = 0
    for i, k in enumerate(range(start, stop, step)):
        total = total * 10 + i * k
    out[0] = total


def four_bounds(out, start, stop, step):
    for i, k in zip(range(5), range(start, stop, step, 7)):
        out[0] += i * k


def test_a_range_inside_enumerate_gives_what_pythons_gives():
    expected, found = np.zeros(1, np.int64), np.zeros(1, np.int64)
    numbered_range(expected, 9, 2, -2)
    cuda.jit(numbered_range)[1, 1](found, 9, 2, -2)
    assert found[0] == expected[0]


@pytest.mark.parametrize(
    ("function", "step", "problem"),
    [(numbered_range, 0, "step 0"), (four_bounds, 2, "4 bounds")],
)
def test_a_wrong_range_inside_enumerate_or_zip_is_refused(function, step, problem):
    with pytest.raises(KernelTypeError, match=problem) as caught:
        cuda.jit(function)[1, 1](np.zeros(1, np.int64), 3, 9, step)
    assert f"{function.__name__}, line" in caught.value.where


def member_of(x, y, out):
    v = y[0] // 10
    out[0] = v in (3, 1)
    out[0] += 10 * (v in (2, 3))
    out[0] += 100 * (v not in (2, 3))
    out[0] += 1000 * (v not in (1, 1))


def test_membership_of_a_tuple_is_what_pythons_is():
    expected, found = np.zeros(1), np.zeros(1)
    member_of(X, Y, expected)
    cuda.jit(member_of)[1, 1](X, Y, found)
    assert found[0] == expected[0] == 101


@cuda.jit
def compared_further(out):
    v = 3
    out[0] = 1 if v in (3, 4) == True else 2


@cuda.jit
def member_of_nothing(out):
    v = 3
    out[0] = v in ()


@pytest.mark.parametrize("kernel", [compared_further, member_of_nothing])
def test_other_memberships_are_refused(kernel):
    with pytest.raises(KernelSyntaxError, match="v in"):
        kernel[1, 1](np.zeros(1))
