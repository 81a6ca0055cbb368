"""Half-precision functions: float16 in and out, rounded once."""

import math

import numpy as np
import pytest

from tinytorch_gpu.cuda import fp16

HALF, NAN = np.float16, np.float16(np.nan)
QUESTIONS = {"heq", "hne", "hge", "hgt", "hle", "hlt"}


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def count(function):
    return len(function.parameters.args)


@pytest.mark.parametrize("name", fp16.__all__)
def test_results_are_float16_whatever_goes_in(name):
    function = getattr(fp16, name)
    assert function.name == f"fp16.{name}"
    for kind in (HALF, np.float32, np.int64):
        found = function.lower(*[kind(1)] * count(function))
        assert found.dtype == (np.bool_ if name in QUESTIONS else HALF)


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("hadd", (2048, 1), 2048),
        ("hadd", (65504, 65504), math.inf),
        ("hsub", (1, 0.5), 0.5),
        ("hmul", (300, 300), math.inf),
        ("hdiv", (1, 3), HALF(1 / 3)),
        ("hdiv", (1, 0), math.inf),
        ("hneg", (2,), -2),
        ("habs", (-2,), 2),
        ("hfloor", (-1.5,), -2),
        ("hceil", (-1.5,), -1),
        ("htrunc", (-1.5,), -1),
        ("hrint", (2.5,), 2),
        ("hsqrt", (9,), 3),
        ("hrsqrt", (4,), 0.5),
        ("hrcp", (8,), 0.125),
        ("hexp", (1,), HALF(math.e)),
        ("hexp2", (5,), 32),
        ("hexp10", (3,), 1000),
        ("hlog", (10,), HALF(math.log(10))),
        ("hlog2", (1024,), 10),
        ("hlog10", (1000,), 3),
        ("hsin", (1,), HALF(math.sin(1))),
        ("hcos", (1,), HALF(math.cos(1))),
        ("htanh", (1,), HALF(math.tanh(1))),
        ("hmax", (1, 2), 2),
        ("hmin", (1, 2), 1),
    ],
)
def test_values(name, values, expected):
    function = getattr(fp16, name)
    assert function.lower(*map(HALF, values)) == expected
    lanes = function.lower(*(np.full((1, 2), v, HALF) for v in values))
    assert lanes.tolist() == [[expected, expected]]


def test_every_function_without_a_value_above_is_tested_below():
    tested = {mark[0] for mark in test_values.pytestmark[0].args[1]}
    assert set(fp16.__all__) - tested == {*QUESTIONS, "hfma"}


def test_hfma_rounds_once():
    a, c = HALF(1 + 2**-10), HALF(-1)
    assert fp16.hfma.lower(a, a, c) == HALF(2**-9 + 2**-20)
    assert a * a + c == HALF(2**-9)


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("heq", (False, True, False)),
        ("hne", (True, False, True)),
        ("hge", (False, True, True)),
        ("hgt", (False, False, True)),
        ("hle", (True, True, False)),
        ("hlt", (True, False, False)),
    ],
)
def test_comparisons_of_1_2_3_with_2(name, answers):
    compare = getattr(fp16, name).lower
    assert compare(HALF([[1, 2, 3]]), HALF(2)).tolist() == [list(answers)]
    assert not compare(NAN, HALF(2))
    assert not compare(NAN, NAN)


def test_a_nan_loses_hmax_and_hmin():
    assert fp16.hmax.lower(NAN, HALF(1)) == fp16.hmin.lower(HALF(1), NAN) == 1


@pytest.mark.parametrize("count", [1, 7, 64])  # NumPy's sign hangs on its code path
def test_hmax_and_hmin_tell_zeros_apart(count):
    plus, minus = np.full(count, HALF(0.0)), np.full(count, HALF(-0.0))
    for a, b in ((plus, minus), (minus, plus)):
        assert not np.signbit(fp16.hmax.lower(a, b)).any()
        assert np.signbit(fp16.hmin.lower(a, b)).all()
        assert fp16.hmax.lower(a, b).dtype == np.float16
