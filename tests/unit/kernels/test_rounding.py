"""floor, ceil, trunc, round and sign equal NumPy's results bit by bit."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import DtypeError, UnsupportedError
from tinytorch_gpu.kernels import rounding

OPS = {
    "floor": (rounding.floor, np.floor),
    "ceil": (rounding.ceil, np.ceil),
    "trunc": (rounding.trunc, np.trunc),
    "round": (rounding.round_half_even, np.round),
    "sign": (rounding.sign, np.sign),
}
ODD = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 1e-30, -1e-30, -1.5, 7.0]
HUGE = [2.0**22 + 0.5, 2.0**23 - 0.5, 2.0**23 + 1, 1e19, -1e30, 2.0**52 - 0.5]
SPECIAL = [np.inf, -np.inf, np.nan]
INTEGERS = ["int8", "int32", "int64", "uint8"]


@pytest.fixture(params=OPS)
def op(request):
    return OPS[request.param]


def same_bits(result, expected):
    found = result.copy_to_host()
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(found, expected)
    if found.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_odd_huge_and_special_numbers(op, dtype):
    ours, numpys = op
    with np.errstate(over="ignore"):
        a = np.array([*ODD, *HUGE, *SPECIAL]).astype(dtype)
    same_bits(ours(cuda.to_device(a)), numpys(a))


@pytest.mark.parametrize("shape", [(), (1,), (1000,), (17, 33), (0,)], ids=str)
def test_shapes(op, shape, pair):
    ours, numpys = op
    a, x = pair(shape)
    same_bits(ours(x), np.asarray(numpys(a)))


def test_views_and_in_place(op, pair):
    ours, numpys = op
    a, x = pair((20, 30), order=(1, 0))
    same_bits(ours(x[::2, 1:]), numpys(a[::2, 1:]))
    assert ours(x, out=x) is x
    same_bits(x, numpys(a))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_stay_as_they_are(op, dtype):
    ours, numpys = op
    ends = np.iinfo(dtype)
    a = np.array([0, 1, 5, ends.min, ends.max, ends.max - 1], dtype)
    same_bits(ours(cuda.to_device(a)), numpys(a).astype(dtype))


def test_round_takes_no_decimals():
    x = cuda.to_device(np.float32([1.234, 123.4]))
    with pytest.raises(UnsupportedError, match=r"np.round\(x \* 100\) / 100"):
        rounding.round_half_even(x, 2)
    with pytest.raises(UnsupportedError, match=r"np.round\(x / 10\) \* 10"):
        rounding.round_half_even(x, decimals=-1)


def test_an_out_that_cannot_hold_it_is_refused(op):
    ours, _ = op
    x = cuda.to_device(np.float32([1.5]))
    with pytest.raises(DtypeError):
        ours(x, out=cuda.device_array(1, np.int32))


def test_contiguous_requests_need_four_sectors(op, launches, pair):
    ours, _ = op
    _, x = pair((64, 32))
    (record,) = launches(lambda: ours(x))
    assert {a.sectors_per_request for a in record.counts.accesses} == {4.0}
    assert record.counts.total("fp64") == 0
