"""NumPy's functions on device arrays: reductions, views, fills."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, library, profiler
from tinytorch_gpu.errors import MissingKernelError, UnsupportedError
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.trace import LaunchRecord

A = np.random.default_rng(1).uniform(0.5, 2.0, (3, 4, 5)).astype(np.float32)

COMPUTED = [
    "np.sum(a)",
    "np.sum(a, axis=1, keepdims=True)",
    "np.mean(a, axis=(0, 2))",
    "np.max(a, axis=-1)",
    "np.min(a, axis=0)",
    "a.sum(axis=0)",
    "a.mean()",
    "a.max(axis=1, keepdims=True)",
    "np.var(a, axis=1)",
    "np.std(a, axis=(0, 1), keepdims=True)",
    "np.clip(a, 0.7, 1.5)",
    "np.where(a > 1, a, -a)",
    "np.zeros_like(a)",
    "np.ones_like(a, dtype=np.int32)",
    "np.full_like(a, 3.5)",
    "np.copy(a)",
    "np.dot(a[0], a[1].T)",
    "np.outer(a[0, 0], a[1, 1])",
    "a.astype(np.float64)",
    "a.copy()",
    "np.sum(a, axis=1, dtype=np.float64)",
    "np.amax(a, axis=0)",
    "np.amin(a)",
    "np.argmax(a, axis=1)",
    "np.argmin(a, axis=-1, keepdims=True)",
    "np.argmax(a)",
    "np.any(a > 1.9, axis=0)",
    "np.all(a > 0)",
    "np.count_nonzero(a > 1, axis=1)",
    "np.clip(a, a * 0 + 1, None)",
    "np.cumsum(a, axis=1)",
    "np.cumsum(a)",
    "np.flatnonzero(a > 1)",
    "np.where(a[0, 0] > 1)[0]",
    "np.nonzero(a[0, 0] > 1)[0]",
    "np.tril(a, 1)",
    "np.triu(a, k=-1)",
    "np.linalg.norm(a)",
    "np.linalg.norm(a, axis=1, keepdims=True)",
    "np.isclose(a, a + 1e-7)",
    "np.isclose(np.full_like(a, np.inf), np.inf)",
    "np.isneginf(np.full_like(a, -np.inf))",
    "np.isposinf(np.full_like(a, np.inf))",
    "np.isnan(np.full_like(a, np.nan))",
    "np.floor(a * 10)",
    "np.round(a * 10)",
    "np.around(a * 10, 0)",
    "np.fix(a * 10)",
    "np.prod(a)",
    "np.prod(a, axis=(0, 2), keepdims=True)",
    "np.prod(a, axis=1, dtype=np.float64)",
    "np.prod(np.ones_like(a, dtype=np.int32))",
    "(a > 1) & (a < 1.5) | (a > 1.9)",
    "np.logical_and(a > 1, a < 1.5)",
    "np.take(a, [0, 2], axis=2)",
    "np.einsum('ijk,ilk->ijl', a, a)",
    "np.matmul(a, np.swapaxes(a, 1, 2))",
    "np.matmul(a[0], a[1].T, out=a[2] @ a[1].T)",
]
VIEWS = [
    "np.reshape(a, (4, 15))",
    "np.transpose(a, (2, 0, 1))",
    "np.swapaxes(a, 0, 2)",
    "np.expand_dims(a, 1)",
    "np.expand_dims(a, (0, -1))",
    "np.squeeze(np.expand_dims(a, 0))",
    "np.ravel(a)",
    "np.broadcast_to(a, (2, 3, 4, 5))",
    "a.T",
    "a[1:, ::2]",
    "a[..., None, 0]",
]


def both(expression):
    result = eval(expression, {"np": np}, {"a": cuda.to_device(A)})
    return result, np.asarray(eval(expression, {"np": np}, {"a": A}))


@pytest.mark.parametrize("expression", COMPUTED)
def test_computed_on_the_device(expression):
    with profiler.profile() as prof:
        result, expected = both(expression)
    assert isinstance(result, DeviceArray)
    np.testing.assert_allclose(result.copy_to_host(), expected, rtol=3e-6)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    assert any(isinstance(r, LaunchRecord) for r in prof.events())


@pytest.mark.parametrize("expression", VIEWS)
def test_views_launch_nothing(expression):
    with profiler.profile() as prof:
        result, expected = both(expression)
    assert not any(isinstance(r, LaunchRecord) for r in prof.events())
    np.testing.assert_array_equal(result.copy_to_host(), expected)


def test_shape_questions_need_no_copy():
    x = cuda.to_device(A)
    with profiler.profile() as prof:
        assert (np.shape(x), np.ndim(x), np.size(x), np.size(x, 1)) == (
            (3, 4, 5),
            3,
            60,
            4,
        )
    assert prof.events() == ()


def test_a_function_without_kernel_says_so():
    with pytest.raises(MissingKernelError, match="argsort"):
        np.argsort(cuda.to_device(A))


@pytest.mark.parametrize(
    "expression",
    [
        "np.reshape(a, (4, 15), order='F')",
        "np.ravel(a, order='F')",
        "np.copy(a, order='F')",
        "np.max(a, initial=100)",
        "np.sum(a, where=True)",
        "np.var(a, dtype=np.float64)",
        "np.add.reduce(a, initial=3)",
        "np.zeros_like(a, order='F')",
    ],
)
def test_no_argument_is_ignored(expression):
    with pytest.raises(UnsupportedError):
        eval(expression, {"np": np}, {"a": cuda.to_device(A)})


@pytest.mark.parametrize(
    "expression", ["np.clip(a, 1, None, out=out)", "np.sum(a, axis=(), out=out)"]
)
def test_out_is_filled_and_returned(expression):
    out = cuda.to_device(np.zeros_like(A))
    result = eval(expression, {"np": np}, {"a": cuda.to_device(A), "out": out})
    assert result is out
    host = np.zeros_like(A)
    eval(expression, {"np": np}, {"a": A, "out": host})
    np.testing.assert_array_equal(out.copy_to_host(), host)


@pytest.mark.parametrize(
    "expression", ["np.median(a)", "np.median(a, axis=0)", "np.concatenate([a, a])"]
)
def test_functions_without_kernel_fall_back_where_allowed(expression):
    name = expression.split("(")[0].removeprefix("np.")
    library.allow_cpu_fallback(name)
    try:
        result, expected = both(expression)
    finally:
        library.allow_cpu_fallback(name, allowed=False)
    np.testing.assert_array_equal(result.copy_to_host(), expected)


def test_whole_arrays_compared_are_python_bools():
    x = cuda.to_device(A)
    assert np.array_equal(x, x.copy()) is True
    assert np.array_equal(x, x + 1) is False
    assert np.array_equal(x, x[1:]) is False
    assert np.allclose(x, x + 1e-7) is True
    assert np.allclose(x, x * 1.1) is False
    assert np.allclose(x[:0], x[:0]) is True


def test_in_place_and_out_write_where_they_say():
    x = cuda.to_device(A[0])
    buffer = x.buffer
    x @= cuda.to_device(np.eye(5, dtype=np.float32))
    x[0] *= 2
    x[:, 1] -= x[:, 0]
    expected = A[0].copy()
    expected[0] *= 2
    expected[:, 1] -= expected[:, 0]
    assert x.buffer is buffer
    np.testing.assert_allclose(x.copy_to_host(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "expression",
    ["np.nonzero(a)", "np.linalg.norm(a, 1)", "np.linalg.norm(a[0], 2)"],
)
def test_forms_without_an_op_are_refused(expression):
    with pytest.raises(UnsupportedError, match="np\\."):
        eval(expression, {"np": np}, {"a": cuda.to_device(A)})
