"""The typing table is numba-cuda's own typing; what it does not type is refused."""

import itertools

import numpy as np
import pytest

from tests.semantics.numba_types import BINARY, DTYPES, UNARY, binary_dtype, unary_dtype
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.typing_rules import (
    BINARY_TYPES,
    LETTERS,
    UNARY_TYPES,
    result_dtype,
    unified_dtype,
)

KINDS = list(map(np.dtype, DTYPES))
PAIRS = list(itertools.product(KINDS, repeat=2))
BINARY_ROWS = {
    "arithmetic": "add",
    "division": "truediv",
    "floor": "mod",
    "power": "pow",
    "bits": "xor",
    "shift": "lshift",
    "unify": "unify",
    "angle": "math.atan2",
    "remainder": "math.fmod",
    "math_pow": "math.pow",
    "numpy_float": "np.hypot",
    "numpy_choice": "np.minimum",
    "numpy_bits": "np.bitwise_and",
}
UNARY_ROWS = {
    "sign": "neg",
    "invert": "invert",
    "abs": "abs",
    "int": "int",
    "float": "float",
    "math": "math.tan",
    "half_math": "math.sin",
    "modf": "math.modf",
    "small_math": "cbrt",
    "numpy": "np.sin",
    "numpy_invert": "np.invert",
    "count_bits": "popc",
    "find_bit": "ffs",
    "reverse_bits": "brev",
}


def found_dtype(*arguments):
    """Our result, or None where the table refuses."""
    try:
        return result_dtype(*arguments)
    except KernelTypeError:
        return None


def test_every_row_is_compared():
    assert BINARY_ROWS.keys() == BINARY_TYPES.keys()
    assert UNARY_ROWS.keys() == UNARY_TYPES.keys()
    assert set(BINARY_ROWS.values()) <= BINARY.keys()
    assert set(UNARY_ROWS.values()) <= UNARY.keys()
    assert LETTERS == DTYPES


@pytest.mark.parametrize(("row", "operation"), BINARY_ROWS.items())
def test_a_row_of_two_operands_is_numbas(row, operation):
    wrong = [
        f"{a} {operation} {b}: numba {binary_dtype(operation, a, b)}"
        for a, b in PAIRS
        if (row, a.char, b.char) != ("power", "?", "i")  # float32 there, by accident
        if found_dtype(row, a, b) != binary_dtype(operation, a, b)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("row", "operation"), UNARY_ROWS.items())
def test_a_row_of_one_operand_is_numbas(row, operation):
    wrong = [
        f"{operation} {a}: numba {unary_dtype(operation, a)}"
        for a in KINDS
        if found_dtype(row, a) != unary_dtype(operation, a)
    ]
    assert not wrong, "\n".join(wrong)


def test_both_names_of_64_bits_are_one_type():
    assert result_dtype("sign", np.dtype("longlong")) == np.int64
    assert unified_dtype(np.dtype("int64"), np.dtype("longlong")) == np.int64


@pytest.mark.parametrize("row", ["arithmetic", "division", "unify", "bits"])
@pytest.mark.parametrize("dtype", ["complex64", "U3", "datetime64[s]"])
def test_what_is_no_number_is_refused(row, dtype):
    for pair in (
        (np.dtype(dtype), np.dtype("int32")),
        (np.dtype("int32"), np.dtype(dtype)),
        (np.dtype(dtype), np.dtype(dtype)),
    ):
        with pytest.raises(KernelTypeError) as caught:
            result_dtype(row, *pair)
        assert str(np.dtype(dtype)) in caught.value.what
        assert all((caught.value.why, caught.value.fix))
    with pytest.raises(KernelTypeError, match=r"cannot compute with"):
        result_dtype("math", np.dtype(dtype))
