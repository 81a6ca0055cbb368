"""Ops whose functions call them again: told with the ops, the keys and the places."""

import sys
import traceback

import numpy as np
import pytest

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import OpRecursionError

OP = "test_recursion::op"
library.define(OP, "(x)")


@pytest.fixture
def x():
    return cuda.to_device(np.float32([1, 2, 3]))


def again(x):
    return library.call(OP, x)


def circle(call):
    with pytest.raises(OpRecursionError) as caught:
        call()
    error = caught.value
    assert isinstance(error, RecursionError)
    assert all((error.what, error.where, error.why, error.fix))
    assert len(str(error).splitlines()) <= 12
    assert str(sys.getrecursionlimit()) in error.why
    assert len(list(traceback.walk_tb(error.__traceback__))) < 20
    return error


@pytest.mark.parametrize("key", ["simgpu", "Decompose"])
def test_a_function_that_calls_its_own_op(x, key):
    with library.override(OP, key, again):
        error = circle(lambda: library.call(OP, x))
    line = again.__code__.co_firstlineno
    assert (error.op, error.ops, error.sites) == (OP, (OP,), (f"{__file__}:{line}",))
    assert f"again (test_recursion.py:{line})" in error.where
    assert "Autograd" in error.fix


def test_a_log_holds_all_its_calls_and_stays_readable(x):
    with library.log() as log, library.override(OP, "simgpu", again):
        circle(lambda: library.call(OP, x))
    assert len(log.ops) > 20
    assert all(entry.error.startswith("OpRecursionError: ") for entry in log.ops)
    for line in log.table().splitlines()[2:-2]:
        assert "raised OpRecursion" in line


def test_a_circle_of_ops_by_operators(x):
    def add(x, y, out=None):
        return x - -y

    def sub(x, y, out=None):
        return x + -y

    with (
        library.override("add", "simgpu", add),
        library.override("sub", "simgpu", sub),
    ):
        error = circle(lambda: x + x)
        outer = circle(
            lambda: library.call("test::outer", x, decomposition=lambda: x - x)
        )
    assert set(error.ops) == set(outer.ops) == {"tinytorch::add", "tinytorch::sub"}
    assert "`tinytorch::add`" in error.what
    assert "`tinytorch::sub`" in error.what
    assert f"add (test_recursion.py:{add.__code__.co_firstlineno})" in error.where


def test_one_without_a_label(x):
    with (
        library.override(OP, "Profiler", library.fallthrough_kernel),
        library.override(OP, "simgpu", again),
    ):
        assert circle(lambda: library.call(OP, x)).ops == (OP,)


def test_own_code_that_calls_its_op(x):
    def code():
        return library.call(OP, x, decomposition=code)

    error = circle(code)
    assert "own code" in error.where


def test_what_the_fix_says_works(x):
    def square(x, out=None):
        return library.call("square", x)

    with library.override("square", "simgpu", square):
        fix = circle(lambda: np.square(x)).fix
    (shipped,) = (line for line in fix.splitlines() if line.startswith("from "))
    namespace = {}
    exec(shipped.partition(";")[0], namespace)
    with library.override("square", "simgpu", namespace["square"]):
        assert np.square(x).copy_to_host().tolist() == [1, 4, 9]
    with library.override("square", "Autograd", square):
        assert np.square(x).copy_to_host().tolist() == [1, 4, 9]


def test_a_recursion_that_ends_is_no_circle(x):
    def down(x):
        return x if x.size == 1 else library.call(OP, x[1:])

    long = cuda.to_device(np.arange(60, dtype=np.float32))
    with library.override(OP, "simgpu", down):
        assert library.call(OP, long).copy_to_host().tolist() == [59]


def test_pythons_own_recursion_stays_pythons(x):
    def own(x):
        return own(x)

    with (
        library.log() as log,
        library.override(OP, "simgpu", own),
        pytest.raises(RecursionError) as caught,
    ):
        library.call(OP, x)
    assert not isinstance(caught.value, OpRecursionError)
    assert log.ops[0].error.startswith("RecursionError: ")
