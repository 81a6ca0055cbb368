"""The NumPy functions that kernels may call have numba's types and NumPy's values."""

import itertools

import numpy as np
import pytest

from tests.semantics.numba_types import BINARY, DTYPES, UNARY, binary_dtype, unary_dtype
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.numpy_functions import NUMPY_FUNCTIONS

KINDS = list(map(np.dtype, DTYPES))
ONE = [name for name in UNARY if name.startswith("np.")]
TWO = [name for name in BINARY if name.startswith("np.")]


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def ours(name):
    return NUMPY_FUNCTIONS[getattr(np, name.partition(".")[2])]


@pytest.mark.parametrize("name", ONE)
def test_the_dtype_of_one_operand_is_numbas(name):
    for dtype in KINDS:
        expected = unary_dtype(name, dtype)
        if expected is None:
            with pytest.raises(KernelTypeError):
                ours(name)(dtype.type(1))
        else:
            assert ours(name)(dtype.type(1)).dtype == expected


@pytest.mark.parametrize("name", TWO)
def test_the_dtype_of_two_operands_is_numbas(name):
    for a, b in itertools.product(KINDS, repeat=2):
        expected = binary_dtype(name, a, b)
        if expected is None:
            with pytest.raises(KernelTypeError):
                ours(name)(a.type(1), b.type(1))
        else:
            assert ours(name)(np.ones((1, 3), a), b.type(1)).dtype == expected


@pytest.mark.parametrize("ufunc", NUMPY_FUNCTIONS, ids=lambda u: u.__name__)
def test_values_are_numpys(ufunc):
    values = np.array([[0, 1, 3, 7]], np.int64)
    others = np.array([[1, 1, 2, 5]], np.int64)
    given = (values, others)[: ufunc.nin]
    found, expected = NUMPY_FUNCTIONS[ufunc](*given), ufunc(*given)
    assert np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")


def test_minimum_keeps_nan_and_fmin_drops_it():
    nan, one = np.float32(np.nan), np.float32(1)
    assert np.isnan(ours("np.minimum")(nan, one))
    assert ours("np.fmin")(nan, one) == one


def test_logic_is_about_truth():
    assert ours("np.logical_xor")(np.int64(2), np.float32(0.5)) == np.False_
    assert ours("np.logical_not")(np.float32(0)) == np.True_


def test_functions_without_code_are_absent():
    assert not NUMPY_FUNCTIONS.keys() & {np.exp, np.sqrt, np.add, np.floor, np.absolute}
