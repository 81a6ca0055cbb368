"""What ops accept and refuse: dtypes, weak scalars, broadcasting, `out`, overlap."""

import gc

import numpy as np
import pytest

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import DtypeError, ShapeError
from tinytorch_gpu.kernels.operands import (
    common_shape,
    result_dtype,
    same_shape,
    without_overlap,
)
from tinytorch_gpu.kernels.threads import add
from tinytorch_gpu.runtime import current_device


def device(shape, dtype="float32"):
    return cuda.to_device(np.ones(shape, dtype))


@pytest.mark.parametrize(
    ("dtype", "scalar", "expected"),
    [
        ("float32", 2, "float32"),
        ("float32", 2.5, "float32"),
        ("float32", np.float64(2.5), "float32"),
        ("float64", np.float32(2.5), "float64"),
        ("int32", 2, "int32"),
        ("int64", 2.5, "float32"),
        ("int8", np.int64(2), "int8"),
        ("bool", True, "bool"),
        ("bool", 2, "int64"),
        ("bool", 0.5, "float32"),
    ],
)
def test_scalars_are_weak(dtype, scalar, expected):
    assert result_dtype(device(3, dtype), scalar) == expected
    assert result_dtype(scalar, device(3, dtype)) == expected


@pytest.mark.parametrize("a", ["bool", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("b", ["bool", "int32", "int64", "float32", "float64"])
def test_arrays_follow_numpy(a, b):
    assert result_dtype(device(3, a), device(3, b)) == np.result_type(a, b)


def test_scalars_alone():
    assert result_dtype(1.0, 0) == np.float32
    assert result_dtype(1, 0) == np.int64


def test_common_shape():
    assert common_shape("add", device((2, 1)), 1.0, device(3)) == (2, 3)


def test_shapes_that_do_not_broadcast_name_axis_and_lengths():
    with pytest.raises(ShapeError) as caught:
        common_shape("add", device((2, 3)), device((4,)))
    error = caught.value
    assert error.what == "add: shapes (2, 3) and (4,) do not broadcast"
    assert "axis -1 has lengths 3 and 4" in error.why
    assert error.shapes == ((2, 3), (4,))
    assert error.where
    assert error.fix


def test_same_shape():
    same_shape("relu_backward", device((2, 3)), device((2, 3)))
    with pytest.raises(ShapeError, match=r"\(2, 3\) and \(3,\) differ"):
        same_shape("relu_backward", device((2, 3)), device((3,)))


@pytest.mark.parametrize(
    ("other", "out", "error", "text"),
    [
        (device(4), None, ShapeError, "do not broadcast"),
        (device((2, 3)), device((3, 2)), ShapeError, "`out` has"),
        (device((2, 3)), device((2, 3), "int32"), DtypeError, "`out` is int32"),
    ],
)
def test_refusals_come_before_any_effect(launches, other, out, error, text):
    x = device((2, 3))
    gc.collect()  # arrays that earlier tests' errors still hold
    allocated = current_device().allocator.allocated_bytes

    def attempt():
        with pytest.raises(error, match=text) as caught:
            add(x, other, out)
        assert all((caught.value.where, caught.value.why, caught.value.fix))

    assert not launches(attempt)
    assert current_device().allocator.allocated_bytes == allocated


def test_out_may_be_an_operand(close):
    x = cuda.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert add(x, x, out=x) is x
    close(x, 2.0 * np.arange(6).reshape(2, 3))


def test_out_may_be_wider_or_narrower_of_its_kind(close):
    x = device((2, 3))
    close(add(x, x, out=device((2, 3), "float64")), np.full((2, 3), 2.0), "float64")
    wide = device((2, 3), "float64")
    close(add(wide, wide, out=x), np.full((2, 3), 2.0), "float32")


def test_overlap_with_out_is_copied_first(close):
    x = cuda.to_device(np.arange(300, dtype=np.float32))
    add(x[1:], x[:-1], out=x[1:])
    host = np.arange(300.0)
    host[1:] = host[1:] + host[:-1]
    close(x, host)


def test_overlap_of_a_transposed_view(close):
    host = np.arange(9.0).reshape(3, 3)
    x = cuda.to_device(host)
    add(x, x.T, out=x)
    close(x, host + host.T)


def test_what_does_not_overlap_is_not_copied():
    x = device(10)
    assert without_overlap(x, x) is x
    half = x[:5]
    assert without_overlap(half, x[5:]) is half
    assert without_overlap(half, x[:5]) is half
    assert without_overlap(half, x[1:6]) is not half


def test_through_the_dispatcher(close):
    close(library.call("tinytorch::add", 2, device(3)), np.full(3, 3.0), "float32")
