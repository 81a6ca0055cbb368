"""Names are looked up in the closure, then the globals, by what they stand for."""

import ast
import math as m

import numpy as np
import pytest

import tinytorch_gpu.cuda as cu
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda.names import NOT_STATIC, Names
from tinytorch_gpu.errors import KernelSyntaxError, KernelWarning

SIZE = 4
PAIR = (2, 3)
SCALE = np.float32(0.5)
FLAG = True
unrelated = {"a": 1}


def sample(x, n):
    a = x + n
    for k in range(SIZE):
        a += k
    (b, c), d = (a, a), a
    return b, c, d


def names_of(function):
    return Names(function, ast.parse(__import__("inspect").getsource(function)).body[0])


def static(text, function=sample):
    return names_of(function).static(ast.parse(text, mode="eval").body)


def test_local_names_are_parameters_and_whatever_is_assigned():
    names = names_of(sample)
    assert names.parameters == ("x", "n")
    assert names.local == {"x", "n", "a", "k", "b", "c", "d"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("SIZE", 4),
        ("2 * SIZE + 1", 9),
        ("SIZE ** 2 // 3", 5),
        ("(SIZE, 2 * SIZE)", (4, 8)),
        ("PAIR", (2, 3)),
        ("SCALE", np.float32(0.5)),
        ("cuda.grid", cuda.grid),
        ("cu.threadIdx.x", cuda.threadIdx.x),
        ("m.sqrt", m.sqrt),
        ("range", range),
    ],
)
def test_what_is_known_before_the_launch(text, value):
    assert static(text) == value


@pytest.mark.parametrize(
    "text", ["x", "a + 1", "nowhere", "SIZE + n", "m.nothing", "x.size"]
)
def test_what_is_not(text):
    assert static(text) is NOT_STATIC


def test_a_folded_division_by_zero_is_not_static():
    assert static("SIZE // 0") is NOT_STATIC


def test_the_closure_comes_before_the_globals():
    SIZE = 7

    def inner():
        return SIZE

    SIZE = 8
    assert names_of_text(inner).lookup("SIZE") == 8


def names_of_text(function):
    return Names(function, ast.parse("def inner():\n    return SIZE").body[0])


def make(cuda, size):
    """Take `cuda` as an argument, as GPU-Puzzles does."""

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < size:
            out[i] = size * SCALE

    return kernel


def test_cuda_may_be_a_closure_variable():
    out = np.zeros(5, np.float32)
    make(cu, 3)[1, 32](out)
    assert out.tolist() == [1.5, 1.5, 1.5, 0, 0]


def test_cuda_may_be_imported_in_the_enclosing_function():
    from tinytorch_gpu import cuda as gpu

    @gpu.jit
    def kernel(out):
        out[gpu.grid(1)] = gpu.float32(PAIR[1]) + FLAG

    out = np.zeros(2, np.float32)
    kernel[1, 2](out)
    assert out.tolist() == [4, 4]


def test_a_global_is_frozen_at_the_first_launch(monkeypatch):
    @cuda.jit
    def kernel(out):
        out[0] = SIZE

    out = np.zeros(1)
    kernel[1, 1](out)
    monkeypatch.setitem(globals(), "SIZE", 99)
    with pytest.warns(KernelWarning, match="`SIZE` is 99 now"):
        kernel[1, 1](out)
    assert out[0] == 4


def test_a_closure_variable_that_is_never_assigned_is_undefined():
    @cuda.jit
    def kernel(out):
        out[0] = late

    with pytest.raises(KernelSyntaxError) as caught:
        kernel[1, 1](np.zeros(1))
    assert "`late` is not defined" in caught.value.what
    late = 1
