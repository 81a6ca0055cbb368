"""Python functions inside kernels have numba's types and the GPU's corner cases."""

import builtins
import math
import operator

import numpy as np
import pytest

from tests.semantics.numba_types import DTYPES, unary_dtype
from tinytorch_gpu.cuda.functions import FUNCTIONS, known_function
from tinytorch_gpu.errors import KernelTypeError

BY_NAME = {"abs": abs, "int": int, "float": float, "round": round, "bool": bool}


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def call(function, *values):
    return FUNCTIONS[function].function(*values)


@pytest.mark.parametrize("name", BY_NAME)
def test_the_dtype_of_a_result_is_numbas(name):
    wrong = []
    for dtype in map(np.dtype, DTYPES):
        expected = unary_dtype(name, dtype)
        for value in (dtype.type(1), np.ones((1, 3), dtype)):
            found = dtype_or_none(BY_NAME[name], value)
            if found != expected:
                wrong.append(f"{name}({dtype}): numba {expected}, here {found}")
    assert not wrong, "\n".join(dict.fromkeys(wrong))


def dtype_or_none(function, value):
    """The result's dtype, or None where the compiler refuses, as of float(bool)."""
    try:
        return call(function, value).dtype
    except KernelTypeError:
        return None


@pytest.mark.parametrize(
    "kind", ["int8", "uint16", "int64", "float16", "float32", "bool_"]
)
def test_a_type_name_converts_to_itself(kind):
    numpy_type = getattr(np, kind)
    assert call(numpy_type, np.float64(1.75)).dtype == np.dtype(numpy_type)


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        (round, (np.float32(0.5),), 0),
        (round, (np.float32(1.5),), 2),
        (round, (np.float64(-2.5),), -2),
        (int, (np.float32(-2.9),), -2),
        (int, (np.float64(np.nan),), 0),
        (int, (np.float64(1e30),), 2**63 - 1),
        (math.floor, (np.float32(-1.5),), -2),
        (math.ceil, (np.float32(-1.5),), -1),
        (math.trunc, (np.float32(-1.5),), -1),
        (math.floor, (np.float64(1e300),), 1e300),
        (math.fmod, (np.float32(-7), np.float32(2)), -1),
        (math.copysign, (np.float32(2), np.float32(-0.0)), -2),
        (math.hypot, (np.float64(3), np.float64(4)), 5),
        (math.pow, (np.float64(2), np.float64(10)), 1024),
        (math.isnan, (np.float32(np.nan),), True),
        (math.isinf, (np.float32(-np.inf),), True),
        (math.isfinite, (np.int32(3),), True),
        (abs, (np.int64(-3),), 3),
        (min, (np.int64(3), np.int64(1), np.int64(2)), 1),
        (max, (np.int64(3), np.int64(5), np.int64(2)), 5),
        (pow, (np.int64(2), np.int64(5)), 32),
        (len, ((np.int64(1), np.int64(2)),), 2),
        (divmod, (np.int64(-7), np.int64(2)), (-4, 1)),
        (divmod, (np.float32(7.5), np.float32(2)), (3.0, 1.5)),
        (math.frexp, (np.float32(8),), (0.5, 4)),
        (math.modf, (np.float64(-2.75),), (-0.75, -2.0)),
        (math.erf, (np.float64(0.5),), math.erf(0.5)),
        (round, (np.float32(2.25), np.int64(1)), np.float32(2.2)),
        (operator.add, (np.int32(2**31 - 1), np.int32(1)), 2**31),
        (operator.itruediv, (np.int32(1), np.int32(2)), 0.5),
        (operator.iand, (np.int32(6), np.int32(3)), 2),
        (operator.lt, (np.int32(1), np.int32(2)), True),
        (operator.neg, (np.uint32(0),), 0),
        (operator.not_, (np.float32(0),), True),
        (np.hypot, (np.float32(3), np.float32(4)), 5),
        (np.maximum, (np.int32(3), np.int32(4)), 4),
        (math.sqrt, (np.int32(9),), 3),
        (math.log, (np.float32(1),), 0),
        (math.exp, (np.float32(0),), 1),
        (math.atan2, (np.float32(0), np.float32(-1)), np.float32(np.pi)),
    ],
)
def test_values(function, values, expected):
    assert call(function, *values) == expected


def test_a_root_of_a_negative_number_is_nan_and_log_of_0_is_minus_infinity():
    assert np.isnan(call(math.sqrt, np.float32(-1)))
    assert call(math.log, np.float32(0)) == -np.inf


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (math.exp, "special"),
        (math.sqrt, "special"),
        (pow, "special"),
        (abs, "arithmetic"),
        (min, "arithmetic"),
        (math.isnan, "arithmetic"),
        (np.float32, "convert"),
        (int, "convert"),
    ],
)
def test_how_a_call_is_counted(function, kind):
    assert FUNCTIONS[function].kind == kind


def test_functions_are_known_by_what_they_are():
    assert known_function(builtins.print) is None
    assert known_function([]) is None
    assert known_function(math.exp) is FUNCTIONS[math.exp]


@pytest.mark.parametrize("function", [np.exp, np.sqrt, np.add, math.gcd, complex, sum])
def test_what_the_compiler_has_no_code_for_is_unknown(function):
    assert known_function(function) is None


def test_operators_and_their_in_place_forms_are_known():
    names = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift".split()  # noqa: SIM905
    for name in names:
        plain = FUNCTIONS[getattr(operator, name)]
        assert FUNCTIONS[getattr(operator, "i" + name.rstrip("_"))] is plain
    assert FUNCTIONS[operator.truediv].kind == "special"
    assert FUNCTIONS[operator.lt].kind == "compare"
