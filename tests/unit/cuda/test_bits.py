"""selp, fma, cbrt and the bit functions, as kernels call them."""

import numpy as np
import pytest

from tests.semantics.numba_types import DTYPES, unary_dtype
from tinytorch_gpu.cuda import bits
from tinytorch_gpu.cuda.intrinsics import Intrinsic
from tinytorch_gpu.errors import KernelTypeError


@pytest.mark.parametrize("name", bits.__all__)
def test_each_is_numbas_name_and_needs_no_lanes(name):
    function = getattr(bits, name)
    assert isinstance(function, Intrinsic)
    assert (function.name, function.needs) == (name, "")
    assert function.__doc__.startswith(f"{name}(")


@pytest.mark.parametrize(
    ("function", "values", "expected"),
    [
        (bits.popc, (np.int32(-1),), np.int32(32)),
        (bits.clz, (np.int64(1),), np.int64(63)),
        (bits.clz, (np.uint8(0),), np.uint8(8)),
        (bits.ffs, (np.int64(2**40),), np.uint32(41)),
        (bits.brev, (np.uint32(1),), np.uint32(2**31)),
        (bits.brev, (np.int64(1),), np.uint32(2**31)),  # its low 32 bits, as numba
        (bits.brev, (np.uint64(1),), np.uint64(2**63)),
        (bits.fma, (np.float32(3), np.float32(4), np.float32(5)), np.float32(17)),
        (bits.cbrt, (np.float32(-27),), np.float32(-3)),
        (bits.cbrt, (np.int32(8),), np.float64(2)),
        (bits.selp, (np.True_, np.int32(1), np.int32(2)), np.int32(1)),
    ],
)
def test_values(function, values, expected):
    found = function.lower(*values)
    assert (found, found.dtype) == (expected, expected.dtype)


def test_types_of_cbrt_are_numbas():
    for dtype in map(np.dtype, DTYPES):
        assert bits.cbrt.lower(dtype.type(1)).dtype == unary_dtype("cbrt", dtype)


def test_selp_picks_by_lane():
    odd = np.array([[False, True, False]])
    found = bits.selp.lower(odd, np.array([[1.5, 2.5, 3.5]]), np.float64(0))
    assert found.tolist() == [[0, 2.5, 0]]


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ((np.True_, np.int32(1), np.int64(2)), "int32 and int64"),
        ((np.True_, np.float32(1), np.float64(2)), "float32 and float64"),
        ((np.True_, np.int8(1), np.int8(2)), "int8 and int8"),
        ((np.int64(1), np.int32(1), np.int32(2)), "condition of type int64"),
        ((np.True_, None, np.int32(2)), "None"),
    ],
)
def test_selp_refuses_what_the_compiler_refuses(values, what):
    with pytest.raises(KernelTypeError, match=what) as caught:
        bits.selp.lower(*values)
    assert all((caught.value.why, caught.value.fix))
