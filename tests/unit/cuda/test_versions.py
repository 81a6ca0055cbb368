"""Types of variables: what numba's compiler finds for the same functions.

`RETURNED` was read with numba-cuda 0.30.4, `cuda.compile(f, types, device=True,
abi="numba", cc=(8, 0))`, which returns the type of the result.
"""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda.jit import function_behind
from tinytorch_gpu.cuda.rewrite import KernelFunction
from tinytorch_gpu.cuda.versions import convert
from tinytorch_gpu.errors import (
    KernelTypeError,
    OutOfBoundsError,
    UninitializedReadError,
)

FLAG = 0
EMPTY = None


def one_branch(a, b):
    if a > 1:
        a = b
    return a


def overwritten(a, b):
    if a > 1:
        a = b
    a = 1
    return a


def never_read_where_they_meet(a, b):
    v = a
    if a > 1:
        v = b
        a = v * 2
    return a


def carried(a, b):
    total = 0
    for _ in range(3):
        total += b
    return total


def in_a_while(a, b):
    while a < 5:
        a += 1
    return a


def left_by_break(a, b):
    v = a
    for k in range(3):
        if k > 1:
            v = b
            break
    return v


def after_continue(a, b):
    v = a
    for k in range(3):
        if k > 1:
            v = b
            continue
        v = a
    return v


def swapped(a, b):
    for _ in range(3):
        a, b = b, a
    return a


def two_returns(a, b):
    if a > 1:
        return b
    return a


def ternary(a, b):
    return a if a > 1 else b


def operand(a, b):
    return a or b


def constant_operand(a, b):
    return 1 and a


def constant_branch(a, b):
    v = a
    if FLAG:
        v = b
    return v


def by_none(a, b):
    v = a
    if EMPTY is not None:
        v = b
    return v


def constant_tests(a, b):
    v = a
    if (2 > 1 and 3 > 2) or a > 3:
        v = a
    else:
        v = b
    n = 3
    return v if not (n < 3 or 1 == 2) else b


def negated(a, b):
    return -a


def nested_loops(a, b):
    for _ in range(3):
        while a < 5:
            a += 1
    return a


def else_of_a_loop(a, b):
    v = a
    for _ in range(3):
        v = a
    else:
        v = b
    return v


RETURNED = {  # (int32, float32), (float32, float64), (uint32, int8)
    one_branch: "float64 float64 int64",
    overwritten: "int64 int64 int64",
    never_read_where_they_meet: "float64 float64 int64",
    carried: "float64 float64 int64",
    in_a_while: "int64 float64 int64",
    left_by_break: "float64 float64 int64",
    after_continue: "float64 float64 int64",
    swapped: "float64 float64 int64",
    two_returns: "float64 float64 int64",
    ternary: "float64 float64 int64",
    operand: "float64 float64 int64",
    constant_operand: "int32 float32 uint32",
    constant_branch: "int32 float32 uint32",
    by_none: "int32 float32 uint32",
    constant_tests: "int32 float32 uint32",
    negated: "int64 float32 uint64",
    nested_loops: "int64 float64 int64",
    else_of_a_loop: "float32 float64 int8",
}
ARGUMENTS = (("int32", "float32"), ("float32", "float64"), ("uint32", "int8"))


@pytest.mark.parametrize("function", RETURNED, ids=lambda f: f.__name__)
def test_the_type_of_the_result_is_numbas(function):
    found = []
    for names in ARGUMENTS:
        dummies = [np.dtype(name).type(1) for name in names]
        program = KernelFunction(function, function_behind).device_program(dummies)
        found.append(program.returned.dtype.name)
    assert " ".join(found) == RETURNED[function]


def read_too_early(a, b):
    a = v
    v = b
    return a


def sometimes_nothing(a, b):
    if a > 1:
        return b


def a_tuple_or_a_number(a, b):
    v = a
    if a > 1:
        v = (a, b)
    return v


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (read_too_early, UninitializedReadError),
        (sometimes_nothing, KernelTypeError),
        (a_tuple_or_a_number, KernelTypeError),
    ],
)
def test_what_has_no_type_is_refused(function, kind):
    with pytest.raises(kind) as caught:
        KernelFunction(function, function_behind).device_program([np.int64(1)] * 2)
    assert caught.value.where


def deep(a, b, c):
    v = w = a
    for _ in range(3):
        for _ in range(3):
            for _ in range(3):
                while v < w:
                    if c:
                        v, w = w, b
                        continue
                    if a > b:
                        break
                    v += w
                w = v
            v = w
    return v


def test_nested_loops_settle_quickly():
    function = KernelFunction(deep, function_behind)
    dummies = [np.int8(1), np.float32(1), np.bool_(1)]
    assert function.device_program(dummies).returned.dtype == np.float64


def test_a_value_is_converted_part_by_part():
    lanes = np.int64([[1, 2]])
    whole, half = convert((lanes, np.float32(0.5)), (np.float64(1), np.float32(1)))
    assert whole.dtype == np.float64
    assert half == np.float32(0.5)


@cuda.jit
def with_names_like_versions(x, out):
    v__int64 = 10
    my__value = 0
    v = 2
    if x.size:
        v = v + 0.5
    if cuda.grid(1) < 0:
        late__one = 1
    out[0] = v + v__int64 + my__value


def test_versions_have_names_that_nobody_else_has():
    out = np.zeros(1)
    with_names_like_versions[1, 1](np.zeros(3), out)
    assert out[0] == 12.5


@cuda.jit
def two_types_of_array(x, y, out):
    a = x
    out[0] = a[0]
    a = y
    out[1] = a[9]


def test_messages_use_the_learners_names():
    with pytest.raises(OutOfBoundsError) as caught:
        two_types_of_array[1, 1](np.zeros(3), np.zeros(3, np.int32), np.zeros(2))
    assert "past the end of `a`" in caught.value.what
