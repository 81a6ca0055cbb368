"""A fused multiply-add rounds once: it equals exact fractions, rounded."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.fused import fused_multiply_add, fused_to


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def rounded(exact, dtype):
    """Round a fraction to the nearest number of a type, halves to an even mantissa."""
    near = dtype(float(exact))
    neighbours = (
        np.nextafter(near, dtype(-np.inf)),
        near,
        np.nextafter(near, dtype(np.inf)),
    )
    unsigned = np.dtype(f"u{near.itemsize}")
    return min(
        neighbours,
        key=lambda x: (abs(Fraction(float(x)) - exact), int(x.view(unsigned)) & 1),
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_random_values_round_once(dtype):
    random = np.random.default_rng(5)
    a, b = random.uniform(-2, 2, (2, 300)).astype(dtype)
    # Summands close to the product, far below it, and at ties.
    tiny = dtype(2.0**-10)
    c = np.where(np.arange(300) % 3 == 0, -(a * b), random.uniform(-1, 1, 300) * tiny)
    c = c.astype(dtype)
    compute = fused_multiply_add if dtype != np.float16 else half
    found = compute(a[None], b[None], c[None])
    assert found.dtype == dtype
    for x, y, z, have in zip(a, b, c, found[0], strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        want = rounded(exact, dtype)
        assert have == want == compute(x, y, z)
    twice = np.count_nonzero(found[0] != (a * b).astype(dtype) + c)
    assert twice > 50  # the samples do tell one rounding from two


def half(a, b, c):
    return fused_to(np.dtype("float16"), a, b, c)


def test_a_sum_that_rounds_through_float64_would_be_wrong():
    # a * b + c = 1 + 2**-24 + 2**-80: float64 drops the last part and leaves a tie.
    a, b, c = np.float32(2**-40), np.float32(2**-40), np.float32(1 + 2**-23)
    assert fused_multiply_add(a, b, c) == c
    tie = fused_multiply_add(np.float32(1 + 2**-12), np.float32(2**-12), np.float32(1))
    assert tie == np.float32(1 + 2**-12)  # 2**-24 beyond: below half of 2**-23
    above = np.float32((1 + 2**-12) * 2**-12)
    assert above == np.float32(2**-12 + 2**-24)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinities_zeros_and_overflow(dtype):
    big = np.finfo(dtype).max
    assert fused_multiply_add(big, dtype(2), -big) == big  # no overflow between
    assert fused_multiply_add(big, dtype(2), dtype(0)) == np.inf
    assert fused_multiply_add(big, dtype(-2), dtype(0)) == -np.inf
    assert np.isnan(fused_multiply_add(dtype(np.inf), dtype(0), dtype(1)))
    assert np.isnan(fused_multiply_add(dtype(np.inf), dtype(1), dtype(-np.inf)))
    minus_zero = fused_multiply_add(dtype(-1), dtype(0), dtype(-0.0))
    assert (minus_zero, math.copysign(1, minus_zero)) == (0, -1)
    zero = fused_multiply_add(dtype(2), dtype(3), dtype(-6))
    assert (zero, math.copysign(1, zero)) == (0, 1)


def test_types():
    single, double = np.float32(1), np.float64(1)
    assert fused_multiply_add(single, np.int8(2), single).dtype == np.float32
    assert fused_multiply_add(single, single, np.int64(1)).dtype == np.float64
    assert fused_multiply_add(single, double, single).dtype == np.float64
    with pytest.raises(KernelTypeError):
        fused_multiply_add(single, None, single)
