"""Device memory holds twelve dtypes; fresh memory is poison that looks wrong."""

import numpy as np
import pytest

from tinytorch_gpu.arch import DEVICE_DTYPES, check_dtype, poison_value
from tinytorch_gpu.errors import DtypeError


def test_the_twelve_dtypes():
    names = (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
    )
    assert [d.name for d in DEVICE_DTYPES] == names.split()


@pytest.mark.parametrize(
    "name", ["float32", np.float32, "f4", np.dtype("float32"), "=f4"]
)
def test_anything_that_names_a_dtype_will_do(name):
    assert check_dtype(name) == np.dtype("float32")


@pytest.mark.parametrize(
    "dtype", ["complex64", "U3", object, "S1", "datetime64[s]", ">f4"]
)
def test_other_dtypes_are_refused_with_a_way_out(dtype):
    with pytest.raises(DtypeError) as caught:
        check_dtype(dtype, "argument `x`")
    assert caught.value.what.startswith("argument `x` of dtype")
    assert "float16, float32, float64" in caught.value.why
    assert "astype" in caught.value.fix
    assert caught.value.dtype == np.dtype(dtype)


def test_text_that_names_no_dtype_is_refused():
    with pytest.raises(DtypeError):
        check_dtype("floaty")


def test_poison_is_nan_or_the_largest_integer():
    assert np.isnan(poison_value(np.dtype("float16")))
    assert poison_value(np.dtype("int32")) == 2**31 - 1
    assert poison_value(np.dtype("uint64")) == 2**64 - 1
    assert poison_value(np.dtype("bool")) is True


@pytest.mark.parametrize("dtype", DEVICE_DTYPES)
def test_poison_fits_its_dtype(dtype):
    assert np.full(1, poison_value(dtype), dtype).dtype == dtype
