"""Tolerances: by dtype, exact where numbers are whole."""

import numpy as np
import pytest

from tinytorch_gpu.library.comparison import TOLERANCES, difference


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_tolerances_are_where_they_are_told(dtype):
    relative, absolute = TOLERANCES[dtype]
    one = np.ones(1, dtype)
    inside = one * dtype_of(dtype)(1 + 0.5 * (relative + absolute))
    assert difference(inside, np.ones(1)) is None
    outside = np.array([1 + 3 * (relative + absolute)], dtype)
    assert difference(outside, np.ones(1)).count == 1
    assert difference(outside, np.ones(1), slack=10) is None


def test_without_slack_the_last_digit_counts():
    one = np.ones(1, np.float32)
    beside = np.nextafter(one, np.float32(2))
    assert difference(beside, one) is None
    assert difference(beside, one, slack=0).count == 1
    nan = np.float32([np.nan])
    assert difference(nan, nan, slack=0) is None


def test_small_numbers_have_digits_too():
    small, zero = np.float32([1e-6]), np.zeros(1, np.float32)
    assert difference(zero, small) is None
    assert difference(zero, small, is_relative=True).count == 1
    subnormal = np.float32([1e-40])
    assert difference(zero, subnormal, is_relative=True) is None


def dtype_of(name):
    return np.dtype(name).type


def test_whole_numbers_are_compared_exactly():
    found = difference(np.array([1, 2, 4]), np.array([1, 2, 3]))
    assert (found.index, found.got, found.expected, found.largest) == ((2,), 4, 3, 1.0)
    assert difference(np.array([True]), np.array([True])) is None


def test_nan_equals_nan_only():
    nan = np.array([np.nan, 1.0])
    assert difference(nan, nan) is None
    found = difference(np.array([0.0, 1.0]), nan)
    assert found.index == (0,)
    assert found.largest == np.inf


def test_overflow_in_float32_is_no_difference():
    assert difference(np.float32([np.inf]), np.array([1e300])) is None
