"""NumPy's operators and ufuncs on device arrays are launches."""

import io
import operator

import numpy as np
import pytest

from tinytorch_gpu import cuda, library, profiler
from tinytorch_gpu.errors import (
    DeviceMismatchError,
    DtypeError,
    HostAccessError,
    MissingKernelError,
    UnsupportedError,
)
from tinytorch_gpu.library import schema
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.trace import LaunchRecord

RNG = np.random.default_rng(0)
A = RNG.uniform(0.5, 2.0, (3, 4)).astype(np.float32)
B = RNG.uniform(0.5, 2.0, (3, 4)).astype(np.float32)


@pytest.mark.parametrize(
    "expression",
    [
        "a + b",
        "a - b",
        "a * b",
        "a / b",
        "a ** 2",
        "-a",
        "abs(a)",
        "2 - a",
        "1 / a",
        "a > b",
        "a <= 1.0",
        "a == a",
        "a != b",
        "np.maximum(a, b)",
        "np.minimum(a, 1)",
        "np.exp(a)",
        "np.log(a)",
        "np.sqrt(a)",
        "np.square(a)",
        "np.tanh(a)",
        "np.sign(1 - a)",
        "np.rint(a * 9)",
        "np.rint((a * 9).astype(np.int32))",
        "np.ceil(a)",
        "np.trunc(a * 9)",
        "np.sin(a)",
        "np.cos(a)",
        "np.log1p(a)",
        "np.expm1(a)",
        "np.reciprocal(a)",
        "np.logaddexp(a, b)",
        "np.logaddexp(a, 1.0)",
        "a // 0.3",
        "7 // -a",
        "-a % b",
        "2.5 % a",
        "np.floor_divide(a, b)",
        "np.mod(a, b)",
        "np.isfinite(a)",
        "np.fabs(-a)",
        "np.fabs((a * -9).astype(np.int32))",
        "np.log2(a)",
        "np.log10(a * 9)",
        "np.exp2(a * 9)",
        "np.exp2((a * 9).astype(np.int32))",
        "np.fmin(a, b)",
        "np.fmax(a, 1.0)",
        "np.fmax(1, a)",
        "a @ b.T",
        "np.matmul(a, b.T)",
        "~(a > b)",
        "np.add.reduce(a, axis=1)",
        "np.maximum.reduce(a, axis=0)",
        "np.multiply.reduce(a, axis=1)",
    ],
)
def test_an_expression_equals_numpys(expression):
    with profiler.profile() as prof:
        result = eval(
            expression, {"np": np}, {"a": cuda.to_device(A), "b": cuda.to_device(B)}
        )
    assert isinstance(result, DeviceArray)
    expected = np.asarray(eval(expression, {"np": np}, {"a": A, "b": B}))
    got = result.copy_to_host()
    np.testing.assert_allclose(got, expected, rtol=2e-6)
    assert got.dtype == expected.dtype
    assert any(isinstance(r, LaunchRecord) for r in prof.events())


ODD = np.float32([0, -0.0, np.nan, np.inf, -np.inf, 1, -2, 3e38])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.bool_])
def test_isinf_is_numpys_of_every_dtype(dtype):
    host = ODD if np.dtype(dtype).kind == "f" else np.arange(8) % 2
    host = host.astype(dtype)
    found = np.isinf(cuda.to_device(host)).copy_to_host()
    assert found.dtype == np.bool_
    np.testing.assert_array_equal(found, np.isinf(host))


@pytest.mark.parametrize("function", [np.fmin, np.fmax])
def test_a_number_wins_over_nan(function):
    a, b = (v.ravel() for v in np.meshgrid(ODD, ODD))
    found = function(cuda.to_device(a), cuda.to_device(b)).copy_to_host()
    np.testing.assert_array_equal(found, function(a, b))
    found = function(cuda.to_device(a), np.nan).copy_to_host()
    np.testing.assert_array_equal(found, a)


def test_ufuncs_made_of_others_take_out_and_give_way_to_a_kernel(monkeypatch):
    x = cuda.to_device(A)
    out = cuda.to_device(B)
    assert np.exp2(x, out=out) is out
    np.testing.assert_allclose(out.copy_to_host(), np.exp2(A), rtol=1e-6)
    with library.log() as log:
        np.isinf(x)
    assert [op.name.split("::")[1] for op in log.ops] == ["isinf", "abs", "eq"]
    monkeypatch.setitem(schema._schemas, "tinytorch::log2", "(x)")
    with library.override("tinytorch::log2", "simgpu", lambda x: x):
        assert np.log2(x) is x


def test_signbit_is_refused():
    with pytest.raises(MissingKernelError, match="signbit"):
        np.signbit(cuda.to_device(A))


def test_in_place_keeps_the_array():
    x = y = cuda.to_device(A)
    x += cuda.to_device(B)
    x /= 2
    assert x is y
    np.testing.assert_allclose(y.copy_to_host(), (A + B) / 2, rtol=1e-6)
    x //= 0.25
    x %= 3
    assert x is y
    np.testing.assert_array_equal(y.copy_to_host(), (A + B) / 2 // 0.25 % 3)


def test_a_float64_scalar_does_not_widen():
    x = cuda.to_device(A) * np.float64(0.1)
    assert x.dtype == np.float32


def test_a_device_result_does_not_go_into_a_host_array():
    host = B.copy()
    with pytest.raises(DeviceMismatchError):
        host += cuda.to_device(A)
    np.testing.assert_array_equal(host, B)


@pytest.mark.parametrize("options", [{"where": A > 1}, {"casting": "no"}])
def test_ufunc_options_are_refused(options):
    x = cuda.to_device(A)
    with pytest.raises(UnsupportedError):
        np.add(x, x, **options)


def test_ufunc_at_is_refused():
    x = cuda.to_device(A)
    with pytest.raises(UnsupportedError, match="at"):
        np.multiply.at(x, 0, 1)


def test_a_ufunc_without_kernel_says_so():
    with pytest.raises(MissingKernelError, match="arcsin"):
        np.arcsin(cuda.to_device(A))


def test_a_kernel_gets_the_options_of_a_numpy_function(monkeypatch):
    monkeypatch.setitem(schema._schemas, "tinytorch::round", "(x, decimals=0)")
    given = []

    def rounded(x, decimals=0):
        given.append(decimals)
        return x

    x = cuda.to_device(A)
    with library.override("tinytorch::round", "simgpu", rounded):
        np.round(x, decimals=2)
    assert given == [2]


def test_assignment_writes_scalars_arrays_and_slices():
    x = cuda.to_device(A)
    x[...] = 0.5
    x[1] = cuda.to_device(B[1])
    x[2, 1:3] = B[2, 1:3]
    expected = np.full_like(A, 0.5)
    expected[1], expected[2, 1:3] = B[1], B[2, 1:3]
    np.testing.assert_array_equal(x.copy_to_host(), expected)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: np.save(io.BytesIO(), x),
        lambda x: np.savez(io.BytesIO(), x=x),
        lambda x: np.savez_compressed(io.BytesIO(), x),
        lambda x: np.savetxt(io.StringIO(), x),
        np.array2string,
        np.array_repr,
        np.array_str,
    ],
)
def test_what_writes_elements_says_to_copy_first(write):
    x = cuda.to_device(np.ones((2, 3), np.float32))
    with pytest.raises(HostAccessError, match=r"x\.copy_to_host\(\)") as caught:
        write(x)
    assert "np." in caught.value.what
    assert "library.define" not in str(caught.value)


@pytest.mark.parametrize("value", [None, 1j, "a", b"a"])
@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.lt, np.maximum])
def test_what_is_no_number_is_refused_as_numpy_does(op, value):
    x = cuda.to_device(np.ones(2, np.float32))
    for operands in ((x, value), (value, x)):
        with pytest.raises(DtypeError, match="has no dtype that device memory holds"):
            op(*operands)


def test_nothing_equals_none():
    x = cuda.to_device(np.float32([1, np.nan]))
    assert (x == None).copy_to_host().tolist() == [False, False]  # noqa: E711
    assert (x != None).copy_to_host().tolist() == [True, True]  # noqa: E711
