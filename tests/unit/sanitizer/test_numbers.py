"""Numbers that go wrong are found, with line, threads and values; right ones are not."""

import re

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.runtime.watching import watching
from tinytorch_gpu.sanitizer.numbers import NumberChecks


@cuda.jit
def divide(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 7 // x[i]


@cuda.jit
def remain(x, out):
    i = cuda.grid(1)
    out[i] = 7 % x[i]


@cuda.jit
def divide_guarded(x, out):
    i = cuda.grid(1)
    if x[i] != 0:
        out[i] = 7 // x[i]


@cuda.jit
def divide_floats(x, out):
    i = cuda.grid(1)
    out[i] = 7.0 // x[i]


@cuda.jit
def left(x, out):
    i = cuda.grid(1)
    out[i] = 1 << x[i]


@cuda.jit
def right(x, out):
    i = cuda.grid(1)
    out[i] = out[i] >> x[i]


@cuda.jit
def keep(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


@cuda.jit
def as_int8(x, out):
    i = cuda.grid(1)
    out[i] = np.int8(x[i])


@cuda.jit
def as_uint32(x, out):
    i = cuda.grid(1)
    out[i] = np.uint32(x[i])


@cuda.jit
def as_int(x, out):
    i = cuda.grid(1)
    out[i] = int(x[i])


@cuda.jit
def in_a_loop(x, out):
    for _ in range(3):
        out[0] = x[0]


def check(kernel, x, out, blocks=1):
    """Return the findings of one launch with one thread for each element."""
    checks = NumberChecks()
    with watching(checks):
        kernel[blocks, len(x) // blocks](np.array(x), np.array(out))
    return checks.findings()


I8, U8 = np.int8, np.uint8
I32, U32, I64, U64 = np.int32, np.uint32, np.int64, np.uint64
F16, F32, F64 = np.float16, np.float32, np.float64
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("kernel", "x", "out", "kind", "threads", "why"),
    [
        (divide, I64([1, 0, 2, 0]), I64([0] * 4), "division_by_zero", (1, 3), "gets 0"),
        (remain, U8([0, 3]), I64([0] * 2), "division_by_zero", (0,), "gets"),
        (left, I64([0, 63, 64]), I64([0] * 3), "shift_count", (2,), "by 64 and gets 0"),
        (left, I32([-1, 5]), I64([0] * 2), "shift_count", (0,), "by -1 and"),
        (right, I64([70, 1]), I64([-8] * 2), "shift_count", (0,), "by 70 and gets -1"),
        (
            keep,
            I64([127, 128]),
            I8([0] * 2),
            "narrowing_loss",
            (1,),
            "128 becomes -128",
        ),
        (keep, I64([-1, 255]), U8([0] * 2), "narrowing_loss", (0,), "-1 becomes 255"),
        (keep, I64([-1, 4]), U64([0] * 2), "narrowing_loss", (0,), "-1 becomes 1844"),
        (
            keep,
            U64([2**63, 4]),
            I64([0] * 2),
            "narrowing_loss",
            (0,),
            "uint64|becomes -",
        ),
        (keep, F64([1e30, 1e39]), F32([0] * 2), "narrowing_loss", (1,), "becomes inf"),
        (keep, I64([7e4, 2]), F16([0] * 2), "narrowing_loss", (0,), "up to 6.55e"),
        (
            as_int8,
            I64([300, 2]),
            I64([0] * 2),
            "narrowing_loss",
            (0,),
            "300 becomes 44",
        ),
        (keep, F32([NAN, 2]), I32([0] * 2), "conversion_out_of_range", (0,), "nan bec"),
        (keep, F32([2, INF]), I32([0] * 2), "conversion_out_of_range", (1,), "inf bec"),
        (
            keep,
            F32([3e10, 2]),
            I32([0] * 2),
            "conversion_out_of_range",
            (0,),
            "3000000",
        ),
        (
            keep,
            F64([-1, -0.9]),
            U8([0] * 2),
            "conversion_out_of_range",
            (0,),
            "-1.0 bec",
        ),
        (
            as_int,
            F64([2.0**63, 1]),
            I64([0, 0]),
            "conversion_out_of_range",
            (0,),
            r"e\+18",
        ),
    ],
)
def test_what_goes_wrong(kernel, x, out, kind, threads, why):
    (finding,) = check(kernel, x, out)
    assert (finding.tool, finding.kind, finding.level) == ("numcheck", kind, "warning")
    assert finding.threads == tuple((t, 0, 0) for t in threads)
    assert finding.count == len(threads)
    assert finding.block == (0, 0, 0)
    assert re.search(why, finding.why)
    assert finding.line.text in finding.where


@pytest.mark.parametrize(
    ("kernel", "x", "out"),
    [
        (divide, I64([1, -3]), I64([0, 0])),
        (divide_guarded, I64([1, 0]), I64([0, 0])),
        (divide_floats, F64([1, 0]), F64([0, 0])),
        (left, I64([0, 63]), I64([0, 0])),
        (keep, I64([-128, 127]), I8([0, 0])),
        (keep, U64([0, 2**63 - 1]), I64([0, 0])),
        (keep, I32([-1, 5]), U32([0, 0])),  # a ballot, say
        (as_uint32, U64([2**40, 5]), I64([0, 0])),  # meant: random numbers, hashes
        (keep, F64([0.1, INF]), F32([0, 0])),  # rounded; infinite before
        (keep, F64([NAN, 1.5]), F32([0, 0])),
        (keep, I64([2**53 + 1, 3]), F64([0, 0])),
        (keep, F32([-2147483648, 2.9]), I32([0, 0])),
        (keep, F64([255.9, -0.9]), U8([0, 0])),
        (as_int8, I64([-128, 127]), I64([0, 0])),
    ],
)
def test_what_is_right(kernel, x, out):
    assert check(kernel, x, out) == []


def test_lanes_of_all_blocks_and_turns_are_counted():
    (finding,) = check(keep, I64([1, 1, 300, 1, 300, 300]), U8([0] * 6), blocks=3)
    assert (finding.block, finding.threads) == ((1, 0, 0), ((0, 0, 0),))
    assert finding.count == 3
    assert "3 times in the launch" in finding.where
    assert (finding.array, finding.space) == ("out", "global")
    (finding,) = check(in_a_loop, I64([300, 1]), U8([0]))
    assert finding.count == 6


def test_a_new_launch_begins_anew():
    checks = NumberChecks()
    with watching(checks):
        keep[1, 1](I64([300]), U8([0]))
        keep[1, 1](I64([3]), U8([0]))
    assert checks.findings() == []
