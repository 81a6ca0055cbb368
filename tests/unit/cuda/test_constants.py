"""Compile-time numbers: values and types of a run, and nothing counted."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.cuda import float32, int32
from tinytorch_gpu.cuda.constants import compile_time, known_divisor
from tinytorch_gpu.cuda.dummies import typed_constant
from tinytorch_gpu.cuda.functions import known_function
from tinytorch_gpu.cuda.names import NOT_STATIC, Names
from tinytorch_gpu.errors import KernelWarning

N, PI, HALF, BIG = 6, math.pi, np.float32(0.5), 2**63
TURNS = 200
TYPES = [
    np.bool_,
    *(np.int8, np.int16, np.int32, np.int64),
    *(np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64),
]


def empty(x, i):
    n = 32
    m = int32(32)
    total = 1.0
    total = x[i] + n + m


def found(text, ask=compile_time):
    """Return what is known of an expression in a kernel with parameters x and i."""
    body = "n = 32\n m = int32(32)\n total = 1.0\n total = x[i] + n + m"
    tree = ast.parse(f"def empty(x, i):\n {body}").body[0]
    return ask(ast.parse(text, mode="eval").body, Names(empty, tree))


def same(value, expected):
    return value.dtype == expected.dtype and value.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "name", [t.__name__.replace("bool", "bool_").replace("__", "_") for t in TYPES]
)
@pytest.mark.parametrize("number", ["0", "1", "3", "0.5", "2.9", "1e-3", "-1", "-2.5"])
def test_a_conversion_is_what_a_thread_would_compute(name, number):
    value = found(f"np.{name}({number})")
    run = known_function(getattr(np, name)).function(typed_constant(eval(number)))
    is_lost = name.startswith("uint") and number.startswith("-")
    if is_lost and (name, number) != ("uint32", "-1"):
        assert value is NOT_STATIC  # a run tells of it
    else:
        assert same(value, run)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-float32(1)", np.float32(-1)),
        ("-int32(3)", np.int64(-3)),  # as numba: integers widen
        ("-9223372036854775808", np.int64(-(2**63))),
        ("-BIG", np.uint64(2**63)),  # a uint64
        ("float32(1) / float32(3)", np.float32(1) / np.float32(3)),
        ("float64(1) / 3", np.float64(1 / 3)),
        ("float32(2.0 * PI)", np.float32(2 * math.pi)),
        ("2 * N + 1", np.int64(13)),
        ("HALF * HALF", np.float32(0.25)),
        ("HALF * 0.1", np.float64(0.05)),
        ("int32(7) // 2", np.int64(3)),
        ("-7 % N", np.int64(5)),
        ("float(N) ** 2", np.float64(36)),
        ("int(2.9)", np.int64(2)),
        ("bool(N)", np.bool_(True)),
        ("not N", np.bool_(False)),
        ("np.int32(1) << 5", np.int64(32)),
        ("math.pi", np.float64(math.pi)),
        ("uint32(0xFFFFFFFF)", np.uint32(0xFFFFFFFF)),
        ("int64(9223372036854775807) + N", np.int64(-(2**63) + 5)),  # wraps
        ("float32(float32(0.1))", np.float32(0.1)),
    ],
)
def test_arithmetic_on_constants(text, expected, monkeypatch):
    for name in ("float64", "uint32", "int64"):
        monkeypatch.setitem(globals(), name, getattr(cuda, name))
    assert same(found(text), expected)


@pytest.mark.parametrize(
    "text",
    [
        "x", "i + 1", "x[0]", "n", "float32(i)", "float32(x[0])", "math.sqrt(2.0)",
        "len((1, 2))", "round(2.5)", "float32(1) < N", "(1, 2)", "'a'", "None",
        "nowhere + 1", "float32()", "min(1, 2)", "cuda.threadIdx.x + 1",
        # these go wrong, and it is the run that tells of it
        "1 // 0", "N % 0", "float32(1) / float32(0)", "1 << 64", "1 >> -1",
        "np.int8(300)", "np.uint8(-1)", "int32(3e9)", "int32(float('nan'))",
        "np.float16(1e6)", "np.float32(1e300)", "float32('a')", "~HALF",
        "18446744073709551616 + 1",
    ],
)  # fmt: skip
def test_what_is_no_constant(text):
    assert found(text) is NOT_STATIC


@pytest.mark.parametrize(
    ("text", "expected"),
    [("32", 32), ("n", 32), ("m", 32), ("N", 6), ("-N", -6), ("2 * N", 12)],
)
def test_a_divisor_may_be_a_variable_that_is_a_constant(text, expected):
    assert found(text, known_divisor) == expected
    assert found("total", known_divisor) is NOT_STATIC
    assert found("i", known_divisor) is NOT_STATIC


ONE = np.float32(1)


@cuda.jit
def with_globals(x):
    i = cuda.grid(1)
    a = x[i]
    for _ in range(TURNS):
        a = a * HALF + ONE
    x[i] = a


@cuda.jit
def with_casts(x):
    i = cuda.grid(1)
    a = x[i]
    for _ in range(TURNS):
        a = a * float32(0.5) + float32(1.0)
    x[i] = a


@cuda.jit
def with_expressions(x):
    i = cuda.grid(1)
    a = x[i]
    for _ in range(TURNS):
        a = a * -(float32(1) / float32(-2)) + np.float32(N - 5)
    x[i] = a


def totals(counts):
    names = ("instructions", "active_lanes", "integer", "fp32", "fp64", "special")
    fused = ("fused_instructions", "fused_fp32", "fp32_warps")
    return {name: counts.total(name) for name in names + fused}


@pytest.mark.parametrize("kernel", [with_globals, with_casts, with_expressions])
def test_constants_are_not_counted(kernel):
    counts = profiler.estimate(kernel, 2, 64, [profiler.like(128)]).counts
    # 4 warps of 128 threads: a product and a sum in each turn, fused; a load, a store
    assert totals(counts) == {
        "instructions": 4 * (2 * TURNS + 2),
        "active_lanes": 128 * (2 * TURNS + 2),
        "integer": 0,
        "fp32": 128 * 2 * TURNS,
        "fp64": 0,
        "special": 0,
        "fused_instructions": 4 * TURNS,
        "fused_fp32": 128 * TURNS,
        "fp32_warps": 4 * TURNS,
    }


def test_constants_give_the_same_bits():
    start = np.linspace(-3, 3, 128, dtype=np.float32)
    results = []
    for kernel in (with_globals, with_casts, with_expressions):
        x = start.copy()
        kernel[2, 64](x)
        results.append(x.tobytes())
    assert len(set(results)) == 1


@cuda.jit
def product_of_constants(x):
    i = cuda.grid(1)
    x[i] = x[i] + HALF * ONE


def test_a_product_of_constants_is_not_fused():
    counts = profiler.estimate(product_of_constants, 1, 32, [profiler.like(32)]).counts
    found = totals(counts)
    assert (found["fp32"], found["fused_fp32"], found["fp32_warps"]) == (32, 0, 1)
    assert (found["instructions"], found["fused_instructions"]) == (3, 0)


SCALE = 2


@cuda.jit
def of_a_global(x):
    x[0] = float32(3 * SCALE)


def test_a_constant_that_changes_is_still_told_of(monkeypatch):
    x = np.zeros(1, np.float32)
    of_a_global[1, 1](x)
    monkeypatch.setitem(globals(), "SCALE", 5)
    with pytest.warns(KernelWarning, match="SCALE"):
        of_a_global[1, 1](x)
    assert x[0] == 6


@cuda.jit
def branch_on_a_cast(x, out):
    flag = int32(1)
    if flag == 1:
        value = x[0]
    else:
        value = 1.0
    out[0] = value / 3


def test_types_are_those_of_both_sides_where_a_test_is_no_literal():
    """numba drops a side for a literal only: `value` is float64 here."""
    out = np.zeros(1)
    branch_on_a_cast[1, 1](np.ones(1, np.float32), out)
    assert out[0] == 1 / 3
