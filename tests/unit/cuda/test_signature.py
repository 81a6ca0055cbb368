"""Signatures: read without running them, chosen, and arguments converted as ctypes."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda.signature import (
    best_signature,
    convert_arguments,
    is_signature,
    read_signature,
)
from tinytorch_gpu.cuda.types import float32, float64, int8, int32, int64, none, void
from tinytorch_gpu.errors import KernelTypeError

READ = {
    "void(float32[:], int32)": void(float32[:], int32),
    "void()": void(),
    "none(f8)": none(float64),
    "float32(float32, float32)": float32(float32, float32),
    "void(f4[:,:], i1[:,::1], i8[::1])": void(float32[:, :], int8[:, ::1], int64[::1]),
    "  (f4,)": (float32,),
    "()": (),
}


@pytest.mark.parametrize(("text", "meaning"), READ.items())
def test_text_and_objects_mean_the_same(text, meaning):
    assert is_signature(text.strip())
    assert is_signature(meaning)
    assert read_signature(text.strip()) == read_signature(meaning)


def test_only_a_signature_tells_its_result():
    assert read_signature("(f4,)").return_type is None
    assert read_signature("void(f4)").return_type is void


NONE = [
    "float32",
    "void(",
    "void(3)",
    "void(int)",
    "float31(f4)",
    "void(x=f4)",
    "__import__('os').getcwd()",
    "void(f4[0])",
    "void(f4[1:])",
    "void(f4[:][:])",
    "[f4]",
    (3,),
    5,
]


@pytest.mark.parametrize("given", NONE)
def test_what_is_no_signature_is_refused(given):
    with pytest.raises((KernelTypeError, KeyError)):
        read_signature(given)


def test_text_is_not_run(tmp_path):
    made = tmp_path / "made"
    with pytest.raises(KernelTypeError):
        read_signature(f"open({str(made)!r}, 'w')")
    assert not made.exists()


def convert(text, *arguments):
    texts = [text] if isinstance(text, str) else text
    return convert_arguments("k", [read_signature(t) for t in texts], arguments)


NUMBERS = [
    ("(i1,)", 300, np.int8(44)),
    ("(i4,)", -(2**31) - 1, np.int32(2**31 - 1)),
    ("(u4,)", -1, np.uint32(2**32 - 1)),
    ("(u8,)", 2**64 + 5, np.uint64(5)),
    ("(i8,)", np.uint8(200), np.int64(200)),
    ("(i4,)", True, np.int32(1)),
    ("(f4,)", 0.1, np.float32(0.1)),
    ("(f4,)", 3, np.float32(3)),
    ("(f8,)", -7, np.float64(-7)),
    ("(f8,)", 2**70, np.float64(2.0**70)),
    ("(f2,)", 1.0009, np.float16(1.001)),
    ("(b1,)", 5, np.bool_(True)),
]


@pytest.mark.parametrize(("text", "given", "expected"), NUMBERS)
def test_numbers_are_cast_to_the_declared_type(text, given, expected):
    (made,) = convert(text, given)
    assert (type(made), made) == (type(expected), expected)


HOST = np.zeros((4, 6), np.float32)
ARRAYS = {
    "any layout": ("(f4[:,:],)", HOST[:, ::2]),
    "C": ("(f4[:,::1],)", HOST),
    "F": ("(f4[::1,:],)", HOST.T),
    "a direction": ("(f4[:,:],)", cuda.In(HOST)),
}


@pytest.mark.parametrize(("text", "array"), ARRAYS.values(), ids=ARRAYS)
def test_arrays_that_fit_pass_as_they_are(text, array):
    assert convert(text, array)[0] is array


def test_arrays_of_the_device_pass_as_they_are():
    array = cuda.to_device(HOST)
    assert convert("(f4[:,::1],)", array)[0] is array


MISFITS = {
    "dtype": ("(f8[:,:],)", HOST),
    "axes": ("(f4[:],)", HOST),
    "not C": ("(f4[:,::1],)", HOST.T),
    "not F": ("(f4[::1,:],)", HOST),
    "a gap": ("(f4[::1],)", HOST[0, ::2]),
    "a number for an array": ("(f4[:],)", 3),
    "an array for a number": ("(f4,)", HOST),
    "a float for an integer": ("(i4,)", 3.7),  # ctypes refuses it on hardware
    "text": ("(i4,)", "7"),
    "too many": ("()", 3),
    "too few": ("(i4, i4)", 3),
}


@pytest.mark.parametrize(("text", "argument"), MISFITS.values(), ids=MISFITS)
def test_arguments_that_fit_no_signature_are_refused(text, argument):
    with pytest.raises(KernelTypeError) as caught:
        convert(text, argument)
    assert "k(" in caught.value.what
    assert repr(read_signature(text)) in caught.value.why


def test_of_several_signatures_the_one_that_loses_least_is_taken():
    both = ["(i4,)", "(f8,)"]
    assert type(convert(both, 3.5)[0]) is np.float64
    assert type(convert(both, np.int32(3))[0]) is np.int32
    # numba 0.30.4 rates int64 to float64 as safe, and int64 to int32 as unsafe
    assert type(convert(both, 3)[0]) is np.float64
    signatures = [read_signature(t) for t in both]
    assert best_signature(signatures, [0.5], lambda *_: True) is signatures[1]
    assert best_signature(signatures, [0.5], lambda d, _: d is int32) is signatures[0]
    assert best_signature(signatures, [0.5, 1], lambda *_: True) is None
    arrays = ["(f4[:], i4)", "(f8[:], i4)"]
    x = np.zeros(2)
    assert convert(arrays, x, 3) == (x, 3)
    assert type(convert(arrays, x, 3)[1]) is np.int32
