"""Bit functions give what Python's own integers and strings give."""

import numpy as np
import pytest

from tests.semantics.numba_types import DTYPES, unary_dtype
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.bits import (
    count_leading_zeros,
    count_ones,
    find_first_set,
    reverse_bits,
)

FUNCTIONS = {
    "popc": count_ones,
    "clz": count_leading_zeros,
    "ffs": find_first_set,
    "brev": reverse_bits,
}
INTEGERS = list(map(np.dtype, "bhiqBHIQ"))


@pytest.fixture(autouse=True)
def quiet():
    """As the engine runs lane programs."""
    with np.errstate(all="ignore"):
        yield


def samples(dtype):
    """0, 1, -1 or the largest, the extremes, and some in between."""
    limits = np.iinfo(dtype)
    random = np.random.default_rng(dtype.num)
    some = random.integers(limits.min, limits.max, 20, dtype=dtype, endpoint=True)
    return np.array([0, 1, 2, limits.min, limits.max, *some.tolist()], dtype)


def text(value, width=None):
    """The bits of an integer, highest first."""
    width = width or 8 * value.dtype.itemsize
    return format(int(value) % 2**width, f"0{width}b")


def by_lane_and_at_once(function, values):
    lanes = function(values[None])
    one_by_one = [function(value) for value in values]
    assert lanes[0].tolist() == one_by_one
    assert lanes.dtype == one_by_one[0].dtype
    return one_by_one


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_popc_counts_ones(dtype):
    values = samples(dtype)
    found = by_lane_and_at_once(count_ones, values)
    assert found == [text(v).count("1") for v in values]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_clz_counts_zeros_in_front(dtype):
    values = samples(dtype)
    found = by_lane_and_at_once(count_leading_zeros, values)
    assert found == [len(t) - len(t.lstrip("0")) for t in map(text, values)]


@pytest.mark.parametrize("dtype", list(map(np.dtype, "iqIQ")), ids=str)
def test_ffs_finds_the_lowest_one(dtype):
    values = samples(dtype)
    found = by_lane_and_at_once(find_first_set, values)
    assert found == [text(v)[::-1].find("1") + 1 for v in values]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_brev_reverses(dtype):
    values = samples(dtype)
    width = 64 if dtype == np.uint64 else 32
    found = by_lane_and_at_once(reverse_bits, values)
    assert found == [int(text(v, width)[::-1], 2) for v in values]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_types_are_numbas(name):
    for dtype in map(np.dtype, DTYPES):
        expected = unary_dtype(name, dtype)
        if expected is not None:
            assert FUNCTIONS[name](dtype.type(1)).dtype == expected
            continue
        with pytest.raises(KernelTypeError) as caught:
            FUNCTIONS[name](dtype.type(1))
        assert dtype.name in caught.value.what
