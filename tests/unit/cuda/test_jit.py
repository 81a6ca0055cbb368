"""`cuda.jit`: decorating costs nothing, configuring is reusable, calling launches."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import (
    KernelSyntaxError,
    KernelTypeError,
    LaunchConfigError,
    StepBudgetError,
    UnsupportedError,
)


@cuda.jit
def add_one(x):
    """Add one to every element."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


def test_a_kernel_is_launched_and_returns_none():
    x = np.zeros(5)
    assert add_one[1, 32](x) is None
    assert x.tolist() == [1] * 5


def test_a_configuration_is_reusable_and_independent_of_others():
    x = np.zeros(64)
    small, large = add_one[1, 32], add_one[2, 32]
    small(x)
    large(x)
    small(x)
    assert x.tolist() == [3] * 32 + [1] * 32


@pytest.mark.parametrize(
    ("grid", "block"),
    [
        (2, 3),
        ((2,), (3,)),
        ([2], [3]),
        (np.int32(2), np.int64(3)),
        ((2, 1, 1), (3, 1, 1)),
    ],
)
def test_ints_tuples_and_numpy_ints_configure(grid, block):
    x = np.zeros(8)
    add_one[grid, block](x)
    assert x.sum() == 6


def test_the_default_stream_and_no_dynamic_memory_are_accepted():
    x = np.zeros(8)
    add_one[1, 8, 0](x)
    add_one[1, 8, 0, 0](x)
    assert x.tolist() == [2] * 8


def test_the_python_function_and_its_names_stay():
    assert add_one.py_func.__name__ == add_one.__name__ == "add_one"
    assert add_one.__doc__ == "Add one to every element."
    assert repr(add_one).startswith("<cuda kernel add_one (test_jit.py:")


def test_decorating_does_not_rewrite():
    @cuda.jit
    def broken(x):
        x[0] = [1]

    with pytest.raises(KernelSyntaxError):
        broken[1, 1](np.zeros(1))


@pytest.mark.parametrize(
    "options",
    [{}, {"device": True}, {"fastmath": True, "debug": False}, {"inline": "always"}],
)
def test_options_of_numba_that_change_nothing_are_accepted(options):
    @cuda.jit(**options)
    def kernel(x):
        x[0] = 7

    x = np.zeros(1)
    kernel[1, 1](x)
    assert x[0] == 7


@pytest.mark.parametrize(
    "make",
    [
        lambda: cuda.jit("void(float32[:])")(np.sum),
        lambda: cuda.jit(link="x.cu"),
        lambda: cuda.jit(3),
        lambda: cuda.jit(np.sum),
    ],
)
def test_what_makes_no_kernel_is_refused(make):
    with pytest.raises(UnsupportedError):
        make()


def test_a_launch_without_configuration_says_how():
    with pytest.raises(LaunchConfigError) as caught:
        add_one(np.zeros(3))
    assert "add_one[blocks, threads](...)" in caught.value.fix


def test_arguments_by_name_are_refused():
    with pytest.raises(KernelTypeError):
        add_one[1, 1](x=np.zeros(3))


@cuda.jit
def countdown(n):
    if n > 0:
        return countdown(n - 1)
    return n


@cuda.jit
def endless(n):
    return endless(n - 1)


@cuda.jit
def recursive(x):
    i = cuda.grid(1)
    x[i] = countdown(i)


@cuda.jit
def without_end(x):
    x[0] = endless(3)


def test_a_device_function_may_call_itself():
    x = np.full(40, 7.0)
    recursive[1, 40](x)
    assert (x == 0).all()


@cuda.jit(device=True)
def is_even(n):
    return True if n == 0 else is_odd(n - 1)


@cuda.jit(device=True)
def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@cuda.jit
def in_turns(x):
    x[0] = is_even(4)


@cuda.jit(device=True)
def with_memory(n):
    own = cuda.local.array(1, "int64")
    own[0] = n
    if n > 0:
        own[0] += with_memory(n - 1)
    return own[0]


@cuda.jit
def recursive_with_memory(x):
    i = cuda.grid(1)
    x[i] = with_memory(i)


@cuda.jit(device=True)
def waits(n):
    cuda.syncthreads()
    return n if n == 0 else waits(n - 1)


@cuda.jit
def recursive_with_barrier(x):
    x[0] = waits(3)


def test_two_functions_that_call_each_other_are_refused():
    with pytest.raises(UnsupportedError) as caught:
        in_turns[1, 1](np.zeros(1))
    assert "is called by a function that it calls" in caught.value.what


def test_each_depth_of_a_recursion_has_its_own_memory():
    x = np.zeros(5)
    recursive_with_memory[1, 5](x)
    assert x.tolist() == [0, 1, 3, 6, 10]


def test_a_recursive_function_with_a_barrier_is_refused():
    with pytest.raises(KernelSyntaxError) as caught:
        recursive_with_barrier[1, 1](np.zeros(1))
    assert "a recursive function with a barrier" in caught.value.what


@cuda.jit(device=True)
def deeper(n):
    return 0 if n < 0 else deeper(n + 1)


@cuda.jit
def too_deep(x):
    x[1] = 7
    x[0] = deeper(cuda.grid(1))


def test_recursion_without_end_is_a_fault():
    x = np.zeros(40)
    with pytest.raises(StepBudgetError) as caught:
        too_deep[1, 40](x)
    assert "deeper" in caught.value.where
    assert not x.any()


def test_recursion_that_never_returns_is_refused():
    with pytest.raises(UnsupportedError) as caught:
        without_end[1, 1](np.zeros(1))
    assert "endless" in caught.value.what


def test_a_function_without_source_is_told_so():
    names = {}
    exec("from tinytorch_gpu import cuda\ndef k(x):\n    x[0] = 1\n", names)
    with pytest.raises(KernelSyntaxError) as caught:
        cuda.jit(names["k"])[1, 1](np.zeros(1))
    assert "source" in caught.value.what
    assert caught.value.fix


def test_a_kernel_can_be_called_from_a_kernel():
    @cuda.jit
    def inner(x, i):
        return x[i] * 2

    @cuda.jit
    def outer(x):
        i = cuda.grid(1)
        x[i] = inner(x, i) + 1

    x = np.arange(4.0)
    outer[1, 4](x)
    assert x.tolist() == [1, 3, 5, 7]
