"""Device functions with signatures: what goes in and out has the declared types."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda.dummies import array_dummy
from tinytorch_gpu.errors import KernelTypeError, UnsupportedError
from tinytorch_gpu.runtime import current_device


@pytest.fixture
def records():
    told = []
    current_device().timeline.listeners.append(told.append)
    yield told
    current_device().timeline.listeners.clear()


@cuda.jit("float32(float32, float32)", device=True)
def add32(a, b):
    return a + b


@cuda.jit("int8(int64)", device=True)
def narrow(a):
    return a * 2


@cuda.jit(["int64(int64)", "float64(float64)"], device=True)
def kind(a):
    return a / 2


@cuda.jit("(float32,)", device=True)
def open_result(a):
    return a * 0.5


@cuda.jit("void(int64[:], int64)", device=True)
def put(x, i):
    x[i] = i + 10


@cuda.jit("int64(int64[:])", device=True)
def first_after_barrier(x):
    cuda.syncthreads()
    return x[0]


@cuda.jit("int64(int64[:], int64)", device=True)
def links_from(x, n):  # only the recursion makes its branch hang on memory
    if n < 0:
        return 0
    return links_from(x, x[n]) + 1


@cuda.jit("int8(int64)", device=True)
def wrapping_sum(n):  # the result of each call is an int8
    if n == 0:
        return 0
    return wrapping_sum(n - 1) + 100


@cuda.jit("int64(int64)", device=True, debug=True)
def positive(n):
    assert n > 0
    return n


@cuda.jit("int64(int64)", device=True)
def even(n):
    return 1 if n == 0 else odd(n - 1)


@cuda.jit("int64(int64)", device=True)
def odd(n):
    return 0 if n == 0 else even(n - 1)


@cuda.jit("void(int64)", device=True)
def nothing(n):
    return n


@cuda.jit
def call_all(out, x):
    out[0] = add32(0.1, 0.2)  # in float64 it were 0.30000000000000004
    out[1] = narrow(100)
    out[2] = narrow(3.9)
    out[3] = kind(7)
    out[4] = kind(7.0)
    out[5] = open_result(0.1)
    put(x, 1)


@cuda.jit
def with_barrier(x, out):
    t = cuda.threadIdx.x
    if t == 33:
        x[0] = 5
    out[t] = first_after_barrier(x)


@cuda.jit
def misfit(x):
    x[0] = first_after_barrier(3)


def test_numbers_are_cast_on_the_way_in_and_out():
    out, x = np.zeros(6), np.zeros(2, np.int64)
    call_all[1, 1](out, x)
    assert out.tolist() == [
        float(np.float32(0.1) + np.float32(0.2)),
        -56.0,  # 200 as int8
        6.0,  # 3.9 becomes 3
        3.0,  # 3.5 as int64
        3.5,
        float(np.float32(0.1)) * 0.5,
    ]
    assert x.tolist() == [0, 11]


def test_lanes_are_cast_as_numbers_are():
    @cuda.jit
    def each(x, out):
        i = cuda.grid(1)
        out[i] = narrow(x[i])

    x = np.arange(-100, 100)
    out = np.zeros(200)
    each[2, 100](x, out)
    assert out.tolist() == (2 * x).astype(np.int8).tolist()


def test_a_barrier_in_a_declared_function_holds_the_block():
    x, out = np.zeros(1, np.int64), np.zeros(64)
    with_barrier[1, 64](x, out)
    assert (out == 5).all()


@cuda.jit
def count_links(x, out):
    out[cuda.threadIdx.x] = links_from(x, 0)


def test_what_a_recursive_function_loads_steers_the_kernel():
    line = array_dummy("int64", 1)
    assert count_links.function.kernel_program([line, line]).is_data_dependent


def test_counts_of_a_recursive_function_are_not_replayed(records):
    x, out = (cuda.device_array(4, np.int64) for _ in range(2))
    for links, count in (([-1, 0, 0, 0], 1), ([1, 2, 3, -1], 4)):
        x.copy_to_device(np.array(links))
        count_links[1, 4](x, out)
        assert out.copy_to_host().tolist() == [count] * 4
        accesses = records[-2].counts.accesses
        assert sum(a.requests for a in accesses if a.kind == "load") == count


def test_each_result_of_a_recursive_function_is_cast():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = wrapping_sum(i)

    out = np.zeros(4)
    kernel[1, 4](out)
    assert out.tolist() == [0, 100, 200 - 256, 300 - 256]


def test_a_cast_result_takes_part_in_a_ternary():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = narrow(100) if i == 0 else 0.5

    out = np.zeros(2)
    kernel[1, 2](out)
    assert out.tolist() == [-56, 0.5]


def test_a_declared_function_is_debugged_too():
    @cuda.jit
    def kernel(out):
        out[0] = positive(0)

    with pytest.raises(AssertionError):
        kernel[1, 1](np.zeros(1))


def test_functions_that_call_each_other_are_refused():
    @cuda.jit
    def kernel(out):
        out[0] = even(4)

    with pytest.raises(UnsupportedError, match="even is called by a function"):
        kernel[1, 1](np.zeros(1))


def test_a_result_declared_void_is_none():
    @cuda.jit
    def kernel(out):
        out[0] = nothing(3) + 1

    with pytest.raises(KernelTypeError):
        kernel[1, 1](np.zeros(1))


def test_a_call_that_fits_no_signature_is_refused():
    with pytest.raises(KernelTypeError) as caught:
        misfit[1, 1](np.zeros(1))
    assert "int64(int64[:])" in caught.value.why


# Declared kernels: faults show where they are declared, as numba compiles them there.


def test_a_kernel_with_a_result_is_refused():
    with pytest.raises(KernelTypeError, match="int32"):

        @cuda.jit("int32(int32)")
        def kernel(x):
            return x


def test_a_declared_kernel_has_a_type_for_each_parameter():
    with pytest.raises(KernelTypeError) as caught:

        @cuda.jit("void(float32[:])")
        def kernel(x, n):
            x[0] = n

    assert "x, n" in caught.value.why


def test_a_declared_kernel_is_typed_at_once():
    with pytest.raises(KernelTypeError):

        @cuda.jit("void(float32)")
        def kernel(x):
            x[0] = 1
