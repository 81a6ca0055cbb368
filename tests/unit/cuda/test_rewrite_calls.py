"""Calls in a kernel: known functions, device functions, shared arrays."""

import math

import numpy as np
import pytest

from tinytorch_gpu import cuda, runtime
from tinytorch_gpu.cuda import float32, int32
from tinytorch_gpu.errors import KernelSyntaxError, SharedMemoryLimitError

N = 16
INT16 = np.dtype("int16")


@cuda.jit(device=True)
def total(x, start, stop):
    result = float32(0)
    for k in range(start, stop):
        result += x[k]
    return result


@cuda.jit(device=True)
def nested(x, i):
    return total(x, 0, i) - total(x, i, i + 1)


@cuda.jit
def caller(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = nested(x, i) * math.sqrt(4.0)


def test_device_functions_call_device_functions():
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    caller[1, 32](x, out)
    assert out.tolist() == [2 * (sum(range(i)) - i) for i in range(8)]


@cuda.jit(device=True)
def fill_shared(part, t, value):
    part[t] = value


@cuda.jit
def shared_as_argument(out):
    part = cuda.shared.array(N, int32)
    t = cuda.threadIdx.x
    fill_shared(part, t, cuda.blockIdx.x * 100 + t)
    cuda.syncthreads()
    out[cuda.grid(1)] = part[N - 1 - t]


def test_a_shared_array_is_passed_to_a_device_function():
    out = np.zeros(2 * N, np.int32)
    shared_as_argument[2, N](out)
    assert out.tolist() == [*range(15, -1, -1), *range(115, 99, -1)]


@cuda.jit(device=True)
def with_shared(t, value):
    part = cuda.shared.array(4 * N, float32)
    part[t] = value
    return part[t]


@cuda.jit(device=True)
def greedy(t):
    part = cuda.shared.array(12_289, float32)
    part[t] = 1
    return part[t]


@cuda.jit
def uses_shared(out):
    t = cuda.threadIdx.x
    out[t] = with_shared(t, t + 1)


@cuda.jit
def uses_too_much(out):
    out[0] = greedy(0)


def test_shared_memory_of_a_device_function_belongs_to_the_kernel():
    out = np.zeros(N)
    record = runtime.launch(uses_shared, 1, N, (out,))
    assert out.tolist() == list(range(1, N + 1))
    assert record.shared_bytes == 4 * N * 4


def test_shared_memory_of_a_device_function_counts_against_the_limit():
    with pytest.raises(SharedMemoryLimitError):
        uses_too_much[1, 1](np.zeros(1))


@cuda.jit
def shapes(out):
    a = cuda.shared.array(N, float32)
    b = cuda.shared.array(shape=(N, 2 * N), dtype=np.float64)
    c = cuda.shared.array((N // 4,), "int8")
    d = cuda.shared.array(N + 1, dtype=INT16)
    out[0] = a.size + b.size * 1000 + c.size * 10**7 + d.size * 10**9


def test_shapes_are_folded_and_dtypes_are_taken_in_any_form():
    out = np.zeros(1, np.int64)
    record = runtime.launch(shapes, 1, 1, (out,))
    assert out[0] == 16 + 512_000 + 4 * 10**7 + 17 * 10**9
    assert record.shared_bytes == 64 + 4096 + 4 + 34


@cuda.jit
def calls_a_method(x):
    x[0] = x.sum()


@cuda.jit
def calls_a_plain_function(x):
    x[0] = test_device_functions_call_device_functions()


@cuda.jit
def calls_numpy(x):
    x[0] = np.exp(x[0])


@pytest.mark.parametrize("kernel", [calls_a_plain_function, calls_numpy])
def test_other_calls_are_refused_by_name(kernel):
    with pytest.raises(KernelSyntaxError) as caught:
        kernel[1, 1](np.zeros(1))
    assert "cannot be called in a kernel" in caught.value.what
    assert "@cuda.jit function" in caught.value.fix


def test_methods_are_refused_by_name():
    with pytest.raises(KernelSyntaxError) as caught:
        calls_a_method[1, 1](np.zeros(1))
    assert "`.sum()`" in caught.value.what
