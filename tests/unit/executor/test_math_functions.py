"""The math functions have numba's types, the host's values, and never raise."""

import itertools
import math

import numpy as np
import pytest

from tests.semantics.numba_types import BINARY, DTYPES, UNARY, binary_dtype, unary_dtype
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.math_functions import (
    BINARY_MATH,
    UNARY_MATH,
    round_half_even,
    round_to,
)

KINDS = list(map(np.dtype, DTYPES))
QUESTIONS = {"isnan", "isinf", "isfinite"}
PAIRS = {"frexp", "modf"}
NUMBERS = [name for name in UNARY_MATH if name not in QUESTIONS | PAIRS]
# Within each function's domain.
POINTS = {"acosh": 2.25, "lgamma": 4.5}


@pytest.fixture(autouse=True)
def quiet():
    """As the engine runs lane programs."""
    with np.errstate(all="ignore"):
        yield


def host(name):
    """Python's own function; exp2 came with Python 3.11."""
    return getattr(math, name, lambda x: 2.0**x)


def test_every_function_is_in_numbas_table():
    ours = {f"math.{name}" for name in (*UNARY_MATH, *BINARY_MATH)}
    assert ours == {n for n in (*UNARY, *BINARY) if n.startswith("math.")}


@pytest.mark.parametrize("name", UNARY_MATH)
def test_the_dtype_of_one_operand_is_numbas(name):
    for dtype in KINDS:
        for value in (dtype.type(1), np.ones((1, 3), dtype)):
            found = UNARY_MATH[name](value)
            first = found[0] if name in PAIRS else found
            assert first.dtype == unary_dtype(f"math.{name}", dtype), dtype


@pytest.mark.parametrize("name", BINARY_MATH)
def test_the_dtype_of_two_operands_is_numbas(name):
    for a, b in itertools.product(KINDS, repeat=2):
        for x in (a.type(1), np.ones((1, 3), a)):
            found = BINARY_MATH[name](x, b.type(1)).dtype
            assert found == binary_dtype(f"math.{name}", a, b), (a, b)


@pytest.mark.parametrize("name", NUMBERS)
def test_values_are_the_hosts(name):
    x = POINTS.get(name, 0.625)
    expected = host(name)(x)
    assert UNARY_MATH[name](np.float64(x)) == pytest.approx(expected, rel=4e-16)
    assert UNARY_MATH[name](np.float32(x)) == pytest.approx(expected, rel=2e-7)
    lanes = UNARY_MATH[name](np.full((2, 3), x))
    assert lanes.shape == (2, 3)
    assert (lanes == UNARY_MATH[name](np.float64(x))).all()


@pytest.mark.parametrize("name", BINARY_MATH)
def test_values_of_two_operands_are_the_hosts(name):
    second = 3 if name == "ldexp" else -0.75
    expected = host(name)(2.5, second) if name != "pow" else 2.5**-0.75
    found = BINARY_MATH[name](np.float64(2.5), np.float64(second))
    assert found == pytest.approx(expected, rel=4e-16)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("sqrt", (-1.0,), math.nan),
        ("log", (0.0,), -math.inf),
        ("acos", (2.0,), math.nan),
        ("exp", (1e4,), math.inf),
        ("gamma", (0.0,), math.inf),
        ("gamma", (-0.0,), -math.inf),
        ("gamma", (-2.0,), math.nan),
        ("gamma", (200.0,), math.inf),
        ("gamma", (-math.inf,), math.nan),
        ("lgamma", (-3.0,), math.inf),
        ("lgamma", (1e308,), math.inf),
        ("erfc", (30.0,), 0.0),
        ("erf", (math.nan,), math.nan),
        ("remainder", (7.0, 2.0), -1.0),
        ("remainder", (5.0, 2.0), 1.0),
        ("remainder", (1.0, 0.0), math.nan),
        ("remainder", (math.inf, 2.0), math.nan),
        ("remainder", (3.0, math.inf), 3.0),
        ("fmod", (-7.0, 2.0), -1.0),
        ("pow", (-8.0, 0.5), math.nan),
        ("nextafter", (1.0, 2.0), 1 + 2**-52),
        ("copysign", (2.0, -0.0), -2.0),
        ("isnan", (math.nan,), True),
        ("isinf", (-math.inf,), True),
        ("isfinite", (math.inf,), False),
    ],
)
def test_corners(name, values, expected):
    function = {**UNARY_MATH, **BINARY_MATH}[name]
    assert_equal(function(*map(np.float64, values)), expected)
    assert_equal(function(*(np.full((1, 2), v) for v in values))[0, 1], expected)


def assert_equal(found, expected):
    assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_nextafter_steps_in_the_type_of_its_operands():
    step = BINARY_MATH["nextafter"](np.float32(1), np.float32(2))
    assert step == np.float32(1) + np.float32(2**-23)


def test_degrees_and_radians_multiply_once():
    x = np.float32(1.3)
    assert UNARY_MATH["degrees"](x) == x * np.float32(180 / math.pi)
    assert UNARY_MATH["radians"](x) == x * np.float32(math.pi / 180)


def test_frexp_and_modf_give_two_parts():
    fraction, exponent = UNARY_MATH["frexp"](np.float32([[8, -0.3]]))
    assert (fraction.tolist(), exponent.tolist()) == (
        [[0.5, np.float32(-0.6)]],
        [[4, -1]],
    )
    assert exponent.dtype == np.int32
    part, whole = UNARY_MATH["modf"](np.float64(-2.75))
    assert (part, whole) == (-0.75, -2.0)


def test_ldexp_takes_its_exponent_as_int32():
    assert BINARY_MATH["ldexp"](np.int32(3), np.int64(4)) == 48.0
    assert BINARY_MATH["ldexp"](np.float32(1), np.int64(-149)) == np.float32(2**-149)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.5, 0), (1.5, 2), (-2.5, -2), (2.51, 3), (1e30, 2**63 - 1), (math.nan, 0)],
)
def test_round_gives_int64(value, expected):
    for found in (
        round_half_even(np.float64(value)),
        round_half_even(np.full(1, value))[0],
    ):
        assert (found, found.dtype) == (expected, np.int64)


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [
        (2.675, 2, 2.68),  # Python says 2.67: it rounds the decimal expansion
        (2.25, 1, 2.2),
        (2.35, 1, 2.4),
        (1250.0, -2, 1200.0),
        (1350.0, -2, 1400.0),
        (3.7, 0, 4.0),
        (0.125, 30, 2.0**63 / 1e8 / 1e22),
        (math.inf, 2, math.inf),
        (math.nan, 2, math.nan),
        (1e300, 22, 1e300),
    ],
)
def test_round_with_digits(value, digits, expected):
    assert_equal(round_to(np.float64(value), np.int64(digits)), expected)
    lanes = round_to(np.full((1, 2), value), np.array([[digits, 0]]))
    assert_equal(lanes[0, 0], expected)


def test_round_with_digits_keeps_float32():
    assert round_to(np.float32(2.25), np.int64(1)).dtype == np.float32
    assert round_to(np.int64(15), np.int64(-1)) == np.float64(20)


@pytest.mark.parametrize("name", ["sqrt", "erf", "isnan", "frexp", "degrees"])
def test_what_is_no_number_is_refused(name):
    for value in ((np.int64(1),), None):
        with pytest.raises(KernelTypeError):
            UNARY_MATH[name](value)
