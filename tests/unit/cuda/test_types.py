"""Type names: dtypes, casts on the host, array types and signatures in one object."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import types
from tinytorch_gpu.cuda.types import ArrayType, ScalarType, Signature, void
from tinytorch_gpu.errors import KernelTypeError

# Widths and kinds as numba.cuda 0.30.4 prints them on a 64-bit Linux.
ALIASES = {
    "bool": "boolean bool_ b1",
    "int8": "int8 i1 char",
    "int16": "int16 i2 short",
    "int32": "int32 i4 intc",
    "int64": "int64 i8 intp int_ long_ longlong ssize_t",
    "uint8": "uint8 u1 uchar byte",
    "uint16": "uint16 u2 ushort",
    "uint32": "uint32 u4 uintc",
    "uint64": "uint64 u8 uintp uint ulong ulonglong size_t",
    "float16": "float16 f2",
    "float32": "float32 f4",
    "float64": "float64 f8 double",
}
PAIRS = [(name, alias) for name, row in ALIASES.items() for alias in row.split()]


@pytest.mark.parametrize(("name", "alias"), PAIRS)
def test_an_alias_is_the_type(name, alias):
    found = getattr(types, alias)
    assert (found.name, repr(found)) == (name, name)
    assert found.bitwidth == 8 * np.dtype(name).itemsize


@pytest.mark.parametrize("name", ALIASES)
def test_numpy_takes_it_for_a_dtype(name):
    kind = getattr(types, "boolean" if name == "bool" else name)
    assert np.dtype(kind) == np.dtype(name)
    assert np.empty(3, kind).dtype == np.dtype(name)
    assert cuda.device_array(3, kind).dtype == np.dtype(name)


def test_every_name_is_a_type_or_a_class_of_types():
    for name in types.__all__:
        found = getattr(types, name)
        assert isinstance(found, (types.Type, type)), name


@pytest.mark.parametrize("name", ALIASES)
def test_a_type_is_found_by_its_name(name):
    assert types.Type.named(name).dtype == np.dtype(name)


@pytest.mark.parametrize("name", ["complex64", "Signature", "__all__", "np"])
def test_other_names_name_no_type(name):
    assert types.Type.named(name) is None


def test_a_type_casts_a_host_value():
    made = types.float32(0.1)
    assert (type(made), made) == (np.float32, np.float32(0.1))
    assert types.int32(3.7) == 3
    assert type(types.boolean(2)) is np.bool_


def test_a_host_integer_that_does_not_fit_is_refused():
    with pytest.raises(OverflowError):
        types.int32(2**31)


ARRAYS = [
    (types.float32[:], ("float32", 1, "A"), "float32[:]"),
    (types.float32[::1], ("float32", 1, "C"), "float32[::1]"),
    (types.int8[:, :], ("int8", 2, "A"), "int8[:,:]"),
    (types.int8[:, ::1], ("int8", 2, "C"), "int8[:,::1]"),
    (types.int8[::1, :], ("int8", 2, "F"), "int8[::1,:]"),
]


@pytest.mark.parametrize(("made", "parts", "text"), ARRAYS)
def test_slices_make_array_types(made, parts, text):
    assert isinstance(made, ArrayType)
    assert (made.element.name, made.ndim, made.layout) == parts
    assert repr(made) == text


@pytest.mark.parametrize("key", [2, ..., slice(1, None), (slice(None), 3)])
def test_another_key_is_refused(key):
    with pytest.raises(KeyError, match="float32"):
        types.float32[key]


def test_types_make_signatures():
    made = void(types.float32[:], types.int32)
    assert isinstance(made, Signature)
    assert (made.args, made.return_type) == ((types.float32[:], types.int32), void)
    assert repr(made) == "void(float32[:], int32)"
    assert repr(types.float64(types.float64)) == "float64(float64)"


def test_a_value_among_types_is_refused():
    with pytest.raises(KernelTypeError, match="3"):
        void(types.float32, 3)


def test_types_are_equal_by_value_and_hashable():
    assert ScalarType(np.dtype("int32")) == types.int32 != types.int64
    assert len({types.int32, types.intc, types.int32[:], types.int32[:]}) == 2
