"""floor_divide and remainder equal NumPy's results: signs, zeros, dtypes, scalars."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels import quotients

OPS = {
    "floor_divide": (quotients.floor_divide, np.floor_divide),
    "remainder": (quotients.remainder, np.remainder),
}
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 2.5, -7.0, 7.0, 1e-30, 1e30]
FLOATS += [np.inf, -np.inf, np.nan]
EVERY = ["int8", "int16", "int32", "int64", "uint8", "bool", "float32", "float64"]


@pytest.fixture(params=OPS)
def op(request):
    return OPS[request.param]


def equal(result, expected):
    found = result.copy_to_host()
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(found, expected)
    if found.dtype.kind == "f":
        zeros = found == 0
        np.testing.assert_array_equal(
            np.signbit(found[zeros]), np.signbit(expected[zeros])
        )


def numpys_of(function, a, b):
    with np.errstate(all="ignore"):
        return np.asarray(function(a, b))


def every_pair(dtype):
    if dtype.startswith("f"):
        values = np.array(FLOATS, dtype)
    elif dtype == "bool":
        values = np.array([False, True])
    else:
        ends = np.iinfo(dtype)
        values = [0, 1, 2, 3, 7, 100, ends.min, ends.max]
        values = np.array(values + [-1, -2, -3, -7] * (ends.min < 0), dtype)
    return [np.ascontiguousarray(grid) for grid in np.meshgrid(values, values)]


@pytest.mark.parametrize("dtype", EVERY)
def test_every_pair_of_odd_numbers(op, dtype):
    ours, numpys = op
    a, b = every_pair(dtype)
    equal(ours(cuda.to_device(a), cuda.to_device(b)), numpys_of(numpys, a, b))


@pytest.mark.parametrize("value", [3, -3, 0, 2.5, -2.5, 0.0])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_scalars_on_either_side(op, dtype, value):
    ours, numpys = op
    a = np.array([-7, -3, -1, 0, 1, 3, 7], dtype)
    x = cuda.to_device(a)
    of_integers = dtype == "int32" and isinstance(value, float)
    wide = np.float32 if of_integers else dtype  # a float makes integers float32
    equal(ours(x, value), numpys_of(numpys, a.astype(wide), np.dtype(wide).type(value)))
    equal(ours(value, x), numpys_of(numpys, np.dtype(wide).type(value), a.astype(wide)))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=20),
    st.floats(-1e3, 1e3, width=32),
)
def test_quotient_and_remainder_belong_together(values, divisor):
    a = np.array(values, np.float32)
    x, b = cuda.to_device(a), np.float32(divisor)
    for ours, numpys in OPS.values():
        equal(ours(x, b), numpys_of(numpys, a, b))


def test_broadcast_views_and_out(op, pair, close):
    ours, numpys = op
    a, x = pair((20, 30), order=(1, 0))
    b, y = pair((30,), seed=1)
    equal(ours(x[::2], y), numpys(a[::2], b))
    assert ours(x, y, out=x) is x
    equal(x, numpys(a, b))


@pytest.mark.parametrize(("left", "right"), [("int32", "int64"), ("int32", "float32")])
def test_mixed_dtypes_follow_numpy(op, left, right):
    ours, numpys = op
    a, b = np.array([-7, 7, 5], left), np.array([2, -2, 0], right)
    equal(ours(cuda.to_device(a), cuda.to_device(b)), numpys_of(numpys, a, b))


def test_no_float64_arithmetic_on_float32(op, launches, pair):
    ours, _ = op
    (_, x), (_, y) = pair((64, 32)), pair((64, 32), seed=1)
    (record,) = launches(lambda: ours(x, y))
    assert {a.sectors_per_request for a in record.counts.accesses} == {4.0}
    assert record.counts.total("fp64") == 0
