"""Python functions inside kernels have numba's types and the GPU's corner cases."""

import builtins
import math

import numpy as np
import pytest

from tests.semantics.numba_types import DTYPES, UNARY, unary_dtype
from tinytorch_gpu.cuda.functions import FUNCTIONS

BY_NAME = {
    "abs": abs,
    "int": int,
    "float": float,
    "round": round,
    "bool": bool,
    **{n: getattr(math, n.partition(".")[2]) for n in UNARY if n.startswith("math.")},
}


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
            found = call(BY_NAME[name], value).dtype
            if expected is not None and found != expected:
                wrong.append(f"{name}({dtype}): numba {expected}, here {found}")
    assert not wrong, "\n".join(dict.fromkeys(wrong))


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
    assert builtins.print not in FUNCTIONS
    assert np.exp not in FUNCTIONS
