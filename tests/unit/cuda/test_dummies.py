"""Dummies stand for types; joining them is numba's unification."""

import enum
import re
from collections import namedtuple

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda.dummies import (
    array_dummy,
    dummy_of,
    index_dummy,
    join_dummies,
    key_of,
    poison_of,
    typed_constant,
)
from tinytorch_gpu.cuda.names import NOT_STATIC
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.trace import Site, SourceLine

SITE = Site(SourceLine("k", "k.py", 1, "x[i]"), "x")
Pair = namedtuple("Pair", "first second")


class Cell(enum.IntEnum):
    ALIVE = 1


def spelled(value):
    """Name a case, without the addresses of objects: the same in every process."""
    return re.sub(r" object at 0x\w+", "", str(value))


@pytest.mark.parametrize(
    ("value", "key"),
    [
        (3, "int64"),
        (2**63, "uint64"),
        (0.5, "float64"),
        (True, "bool"),
        (Cell.ALIVE, "int64"),
        (np.int8(3), "int8"),
        (np.zeros((4, 32), np.float32), "float32"),
        ((1, 2.5), "(int64,float64)"),
        (None, "none"),
        (array_dummy("int32", 3), "int32[3]"),
        (cuda.to_device(np.zeros((2, 2))), "float64[2]"),
    ],
    ids=spelled,
)
def test_a_value_has_its_types_name(value, key):
    assert key_of(dummy_of(value)) == key


def test_a_named_tuple_keeps_its_names():
    assert dummy_of(Pair(1, 0.5)) == Pair(np.int64(1), np.float64(1))


@pytest.mark.parametrize("value", [object(), [1], {}, len, (1, object())], ids=spelled)
def test_what_a_kernel_cannot_hold_has_no_dummy(value):
    assert dummy_of(value) is NOT_STATIC


def test_constants_have_gpu_types():
    assert [typed_constant(v).dtype.name for v in (1, 1.5, True)] == [
        "int64",
        "float64",
        "bool",
    ]
    assert typed_constant(None) is None


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        ("int32", "int64", "int64"),
        ("int32", "float32", "float64"),
        ("int8", "float32", "float32"),
        ("bool", "int8", "int8"),
        ("float32", "float64", "float64"),
        ("uint32", "int32", "int64"),
    ],
)
def test_numbers_unify(a, b, common):
    for pair in ((a, b), (b, a)):
        dummies = [np.dtype(name).type(1) for name in pair]
        assert join_dummies(dummies).dtype.name == common


def test_tuples_unify_part_by_part():
    joined = join_dummies(
        [(np.int64(1), np.float32(1)), (np.float64(1), np.float32(1))]
    )
    assert key_of(joined) == "(float64,float32)"


@pytest.mark.parametrize(
    "pair",
    [
        (np.int64(1), array_dummy("int64", 1)),
        (array_dummy("int64", 1), array_dummy("int64", 2)),
        (None, np.int64(1)),
        ((np.int64(1),), (np.int64(1), np.int64(1))),
    ],
    ids=spelled,
)
def test_what_has_no_common_type_is_refused(pair):
    with pytest.raises(KernelTypeError) as caught:
        join_dummies(list(pair))
    assert caught.value.fix


@pytest.mark.parametrize(
    ("indices", "key"),
    [
        ((np.int64(1),), "float32[1]"),
        ((np.int64(1), np.int32(1)), "float32"),
        ((slice(None), np.int64(1)), "float32[1]"),
        ((slice(None), slice(None)), "float32[2]"),
        ((...,), "float32[2]"),
        ((..., np.int64(1)), "float32[1]"),
        ((), "float32[2]"),
    ],
    ids=spelled,
)
def test_an_index_gives_an_element_or_a_view(indices, key):
    assert key_of(index_dummy(array_dummy("float32", 2), indices, SITE)) == key


@pytest.mark.parametrize(
    "indices",
    [(np.float32(1),), (np.int64(1),) * 3, (array_dummy("int64", 1),)],
    ids=["a float", "too many", "an array"],
)
def test_a_wrong_index_is_refused(indices):
    with pytest.raises(KernelTypeError, match="`x`"):
        index_dummy(array_dummy("float32", 2), indices, SITE)


def test_poison_is_a_value_that_shows():
    assert np.isnan(poison_of(np.float32(1)))
    assert poison_of(np.int32(1)) == 2**31 - 1
