"""Operators compute in the GPU's type, on scalars and on lanes, and never warn."""

import itertools

import numpy as np
import pytest

from tests.semantics.numba_types import BINARY as TABLE
from tests.semantics.numba_types import DTYPES, binary_dtype, unary_dtype
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor import arithmetic
from tinytorch_gpu.executor.arithmetic import (
    BINARY,
    COMPARE,
    UNARY,
    absolute,
    maximum,
    minimum,
    select,
    truth,
    typed,
    typed_unary,
    unify,
)

KINDS = [np.dtype(c) for c in DTYPES]
PAIRS = list(itertools.product(KINDS, repeat=2))
OPERATIONS = [name for name in TABLE if name in BINARY]


@pytest.fixture(autouse=True)
def quiet():
    """As the engine runs lane programs."""
    with np.errstate(all="ignore"):
        yield


def both_forms(dtype):
    """Give a one as a uniform scalar and as lanes."""
    return dtype.type(1), np.ones((1, 4), dtype)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_dtype_of_a_result_is_numbas(name):
    wrong = []
    for a, b in PAIRS:
        expected = binary_dtype(name, a, b)
        if expected is None or (name == "pow" and (a.char, b.char) == ("?", "i")):
            continue
        for x, y in itertools.product(both_forms(a), both_forms(b)):
            found = BINARY[name](x, y)
            if found.dtype != expected:
                wrong.append(f"{a} {name} {b}: numba {expected}, here {found.dtype}")
    assert not wrong, "\n".join(dict.fromkeys(wrong))


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "lshift", "rshift"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_bit_operation_on_floats_is_refused(name, dtype):
    for pair in (
        (np.int64(1), np.dtype(dtype).type(1)),
        (np.dtype(dtype).type(1),) * 2,
    ):
        with pytest.raises(KernelTypeError):
            BINARY[name](*pair)


@pytest.mark.parametrize("name", ["neg", "pos", "invert", "not_"])
def test_the_dtype_of_a_unary_result_is_numbas(name):
    for dtype in KINDS:
        expected = unary_dtype(name, dtype)
        if expected is not None:
            assert [UNARY[name](x).dtype for x in both_forms(dtype)] == [expected] * 2


@pytest.mark.parametrize("name", COMPARE)
def test_comparisons_give_bools(name):
    for a, b in PAIRS:
        assert COMPARE[name](a.type(1), np.ones((1, 4), b)).dtype == np.bool_


def test_abs_keeps_the_dtype():
    for dtype in KINDS:
        assert absolute(dtype.type(1)).dtype == unary_dtype("abs", dtype)


@pytest.mark.parametrize(
    ("a", "b", "is_less"),
    [
        (np.int64(-1), np.uint64(2**63), True),
        (np.uint64(2**64 - 1), np.int64(-1), False),
        (np.int32(-1), np.uint32(0), True),
        (np.int8(-1), np.uint64(0), True),
        (np.int32(2**24 + 1), np.float32(2**24), False),  # compared in float64
        (np.int32(2**24), np.float32(2**24 + 2), True),
        (np.float32(0.1), np.float64(0.1), False),
    ],
)
def test_numbers_of_two_types_compare_by_value(a, b, is_less):
    for x, y in ((a, b), (np.full((1, 3), a), b), (a, np.full((1, 3), b))):
        assert np.all(COMPARE["lt"](x, y) == is_less)
        assert np.all(COMPARE["ge"](x, y) != is_less)
        assert not np.any(COMPARE["eq"](x, y))


def test_an_operator_of_ones_own_follows_the_row_it_names():
    larger = typed(np.maximum, "arithmetic")
    assert larger(np.int32(1), np.uint8(2)).dtype == np.int64
    assert typed_unary(np.square, "half_math")(np.int8(3)).dtype == np.float64


def lanes(values, dtype):
    return np.array([values], dtype)


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("floordiv", [7, -7, 7, -7], [2, 2, -2, -2], [3, -4, -4, 3]),
        ("mod", [7, -7, 7, -7], [2, 2, -2, -2], [1, 1, -1, -1]),
        ("floordiv", [5, -5, 0], [0, 0, 0], [0, 0, 0]),
        ("mod", [5, -5, 0], [0, 0, 0], [0, 0, 0]),
        ("pow", [2, 2, 0, 7, 1, -1], [3, -1, -1, 0, -5, -3], [8, 0, 0, 1, 1, -1]),
        ("lshift", [1, 1, 1, 1], [63, 64, -1, 1000], [-(2**63), 0, 0, 0]),
        ("rshift", [-8, -8, -8, 8], [1, 64, -1, 64], [-4, -1, -1, 0]),
        ("add", [2**63 - 1], [1], [-(2**63)]),
        ("mul", [2**62], [4], [0]),
    ],
)
def test_integer_results(name, a, b, expected):
    found = BINARY[name](lanes(a, np.int64), lanes(b, np.int64))
    assert found.tolist() == [expected]
    one_by_one = [
        BINARY[name](np.int64(x), np.int64(y)) for x, y in zip(a, b, strict=True)
    ]
    assert one_by_one == expected


def test_unsigned_integers_divide_by_zero_to_zero():
    for name in ("floordiv", "mod"):
        assert BINARY[name](np.uint32(7), np.uint32(0)) == 0


def test_unsigned_shifts_bring_zeros():
    high = np.uint64(2**63)
    assert BINARY["rshift"](high, np.int64(63)) == 1
    assert BINARY["rshift"](high, np.int64(64)) == 0


def test_the_smallest_integer_over_minus_one_wraps():
    assert BINARY["floordiv"](np.int64(-(2**63)), np.int64(-1)) == -(2**63)


def test_floats_divide_by_zero_to_infinity():
    found = BINARY["truediv"](lanes([1, -1, 0], np.float32), np.float32(0))
    assert found[0, :2].tolist() == [np.inf, -np.inf]
    assert np.isnan(found[0, 2])


def test_float32_results_are_rounded_at_every_operation():
    big = np.float32(2**24)
    assert BINARY["add"](BINARY["add"](big, np.float32(1)), np.float32(1)) == big


def test_a_nan_loses_min_and_max():
    nan = np.float32(np.nan)
    for choose in (minimum, maximum):
        assert choose(nan, np.float32(2)) == choose(np.float32(2), nan) == 2
        assert np.isnan(choose(nan, nan))
        assert choose(np.int32(1), np.float32(1)).dtype == np.float64


def test_select_picks_by_lane_in_the_unified_dtype():
    found = select(lanes([1, 0, 2], np.int32), np.float32(0.5), np.int32(7))
    assert (found.dtype, found.tolist()) == (np.float64, [[0.5, 7.0, 0.5]])


def test_select_of_scalars_is_a_scalar():
    assert isinstance(select(np.bool_(True), np.int64(1), np.int64(2)), np.int64)


def test_truth_is_non_zero():
    assert truth(lanes([0, -2, 3], np.int32)).tolist() == [[False, True, True]]
    assert truth(lanes([0.0, np.nan, -0.0], np.float32)).tolist() == [
        [False, True, False]
    ]
    assert truth(True).dtype == np.bool_


def test_unify_gives_both_values_one_dtype():
    a, b = unify(np.int32(1), lanes([1.5], np.float32))
    assert a.dtype == b.dtype == np.float64


@pytest.mark.parametrize("value", [None, (np.int64(1),), "text", [1], 1j, print])
@pytest.mark.parametrize("name", ["add", "mul", "truediv", "pow", "and_", "lshift"])
def test_what_is_no_number_is_refused_on_both_sides(name, value):
    number = np.int64(1)
    assert BINARY[name](number, number) is not None  # the pair of dtypes is learned
    for pair in ((value, number), (number, value)):
        with pytest.raises(KernelTypeError) as caught:
            BINARY[name](*pair)
        assert all((caught.value.what, caught.value.why, caught.value.fix))


@pytest.mark.parametrize("operation", [absolute, truth, UNARY["neg"], UNARY["not_"]])
def test_functions_of_one_value_refuse_what_is_no_number(operation):
    with pytest.raises(KernelTypeError):
        operation((np.int64(1),))


def test_every_public_name_is_there():
    assert all(hasattr(arithmetic, name) for name in arithmetic.__all__)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("count", [1, 7, 64])
def test_negative_zero_is_less_than_zero(dtype, count):
    a = np.resize(np.array([0.0, -0.0, 0.0, -0.0], dtype), (1, count))
    b = np.resize(np.array([-0.0, 0.0, 0.0, -0.0], dtype), (1, count))
    is_less = np.resize([True, True, False, True], (1, count))
    is_greater = np.resize([False, False, False, True], (1, count))
    assert (np.signbit(minimum(a, b)) == is_less).all()
    assert (np.signbit(maximum(a, b)) == is_greater).all()
    assert np.signbit(minimum(a[0, 0], b[0, 0]))
    assert not np.signbit(maximum(a[0, 0], b[0, 0]))
