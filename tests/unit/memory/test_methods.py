"""Methods of device arrays give what NumPy's arrays give."""

import numpy as np
import pytest

from tinytorch_gpu import cuda

A = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)

CALLS = [
    "a.sum()",
    "a.sum(axis=0, keepdims=True)",
    "a.mean(1)",
    "a.var(axis=0)",
    "a.std()",
    "a.max(axis=1)",
    "a.min(0)",
    "a.argmax(axis=1)",
    "a.argmin()",
    "(a > 0).any()",
    "(a > -9).all(axis=0)",
    "a.clip(-0.5, 0.5)",
    "a.dot(a.T)",
    "a.take([0, 2], axis=1)",
    "a.repeat(2, axis=0)",
    "a.cumsum(axis=1)",
]


@pytest.mark.parametrize("call", CALLS)
def test_is_numpys(call):
    expected = np.asarray(eval(call, {"a": A}))
    found = eval(call, {"a": cuda.to_device(A)}).copy_to_host()
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
