"""Casts truncate, saturate and wrap as the PTX of numba-cuda does."""

import numpy as np
import pytest

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.conversion import cast, dtype_of


@pytest.fixture(autouse=True)
def quiet():
    """As the engine runs lane programs."""
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (np.float32(2.9), "int32", 2),
        (np.float32(-2.9), "int32", -2),
        (np.float32(1e10), "int32", 2**31 - 1),
        (np.float32(-1e10), "int32", -(2**31)),
        (np.float64(2**31 - 0.5), "int32", 2**31 - 1),
        (np.float64(np.inf), "int64", 2**63 - 1),
        (np.float64(-np.inf), "int64", -(2**63)),
        (np.float64(2.0**63), "int64", 2**63 - 1),
        (np.float64(-(2.0**63)), "int64", -(2**63)),
        (np.float64(2.0**63 - 1024), "int64", 2**63 - 1024),
        (np.float64(np.nan), "int64", 0),
        (np.float64(-1), "uint32", 0),
        (np.float64(-0.9), "uint32", 0),
        (np.float64(1e30), "uint64", 2**64 - 1),
        # No PTX conversion truncates to 8 bits: 16 bits, then the low byte.
        (np.float32(300), "uint8", 44),
        (np.float32(1e6), "uint8", 255),
        (np.float32(-1), "uint8", 0),
        (np.float32(200), "int8", -56),
        (np.float64(-200.7), "int8", 56),
        (np.float64(1e6), "int8", -1),
        (np.float32(70000), "uint16", 65535),
        # float16 rounds to even, and saturates at 8 bits.
        (np.float16(2.5), "int32", 2),
        (np.float16(3.5), "int32", 4),
        (np.float16(-2.75), "int64", -3),
        (np.float16(300), "uint8", 255),
        (np.float16(np.inf), "int8", 127),
        (np.float16(np.nan), "int32", 0),
        (np.float16(np.inf), "int64", 2**63 - 1),
        (np.int64(300), "uint8", 44),
        (np.int64(-1), "uint64", 2**64 - 1),
        (np.int64(2**40 + 3), "int32", 3),
        (np.uint64(2**63), "int64", -(2**63)),
        (np.float32(0.5), "bool", True),
        (np.int64(256), "bool", True),
        (np.bool_(True), "float32", 1.0),
        (np.float64(1e300), "float32", np.inf),
    ],
)
def test_casts(value, dtype, expected):
    for form in (value, np.full((1, 3), value)):
        found = cast(form, np.dtype(dtype))
        assert found.dtype == dtype
        assert (np.asarray(found) == np.array(expected, dtype)).all()


def test_a_cast_to_the_same_dtype_is_the_value_itself():
    value = np.array([[1, 2]], np.int32)
    assert cast(value, np.dtype("int32")) is value


@pytest.mark.parametrize(
    ("value", "name"),
    [(None, "None"), ((1, 2), "a tuple"), ([1], "a list"), ("a", "a str")],
)
def test_what_is_no_number_is_named(value, name):
    with pytest.raises(KernelTypeError, match=f"cannot compute with {name}") as caught:
        cast(value, np.dtype("int32"))
    assert all((caught.value.why, caught.value.fix))


def test_the_dtype_of_a_number_and_of_lanes():
    assert dtype_of(np.float16(1)) == dtype_of(np.ones((1, 2), "e")) == np.float16
