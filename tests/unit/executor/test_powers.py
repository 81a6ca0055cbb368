"""Integer exponents multiply; integers to a negative power are 0, 1 or -1."""

import numpy as np
import pytest

from tests.semantics.numba_types import DTYPES, binary_dtype
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.powers import power


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def test_types_are_numbas():
    for a in map(np.dtype, DTYPES):
        for b in map(np.dtype, DTYPES):
            if (a.char, b.char) != ("?", "i"):
                assert power(a.type(1), b.type(1)).dtype == binary_dtype("pow", a, b)


@pytest.mark.parametrize("exponent", range(40))
def test_integers_wrap_as_python_modulo_2_to_the_64(exponent):
    expected = (7**exponent + 2**63) % 2**64 - 2**63
    assert power(np.int32(7), np.int64(exponent)) == expected


def test_each_lane_has_its_own_exponent():
    base = np.array([[2, 3, -1, 5, 0, 9]])
    exponent = np.array([[10, 0, -3, -1, 0, 1]])
    assert power(base, exponent).tolist() == [[1024, 1, -1, 0, 1, 9]]
    assert power(np.int64(2), exponent).tolist() == [[1024, 1, 0, 0, 1, 2]]
    assert power(base, np.int64(2)).tolist() == [[4, 9, 1, 25, 0, 81]]


def test_floats_multiply_in_their_own_type():
    x = np.float32(1.1)
    assert power(x, np.int64(3)) == x * (x * x)
    assert power(x, np.int64(-3)) == np.float32(1) / (x * (x * x))
    assert power(np.float64(0), np.int64(-1)) == np.inf
    assert power(np.full((1, 2), x), np.array([[3, 5]])).tolist() == [
        [power(x, np.int64(3)), power(x, np.int64(5))]
    ]


def test_a_float_exponent_calls_the_pow_function():
    assert power(np.float32(2), np.float32(0.5)) == np.float32(2**0.5)
    assert np.isnan(power(np.float64(-8), np.float64(1 / 3)))


def test_exponents_beyond_65536_call_it_too():
    found = power(np.array([[1.0, 1.0001]]), np.array([[10**6, 10**6]]))
    assert found.tolist() == [[1.0, pytest.approx(1.0001**10**6, rel=1e-12)]]
    assert power(np.int64(3), np.int64(100_000)) == 2**63 - 1  # saturates


def test_what_is_no_number_is_refused():
    for pair in ((None, np.int64(1)), (np.int64(1), (np.int64(1),))):
        with pytest.raises(KernelTypeError):
            power(*pair)
