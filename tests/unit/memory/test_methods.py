"""Methods of device arrays give what NumPy's arrays give."""

import operator

import numpy as np
import pytest

from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.errors import DtypeError, HostAccessError, UnsupportedError

A = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)

CALLS = [
    "a.sum()",
    "a.sum(axis=0, keepdims=True)",
    "a.prod(axis=0)",
    "(a * 9).round()",
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
    "a.std(axis=0, ddof=1)",
    "a.var(ddof=1, keepdims=True)",
    "a.mean(axis=1, dtype=np.float64)",
    "a.sum(1, np.float64)",
    "a.prod(dtype=np.float64)",
    "a.argmax(axis=1, keepdims=True)",
    "(a > 0).any(axis=1, keepdims=True)",
    "a.clip(min=0)",
    "a.clip(max=0.5)",
    "a.clip(min=-0.5, max=a * 0)",
    "a.clip(0)",
    "np.clip(a, min=0, max=1)",
    "a.max(axis=0, out=a[0])",
    "a.round(decimals=0)",
]
# Those without a kernel are refused in the words of the function.
REFUSED = [
    "max(initial=100)",
    "min(axis=0, where=True)",
    "sum(initial=1)",
    "mean(where=True)",
    "var(dtype='float64')",
    "any(where=True)",
    "clip(0, 1, casting='no')",
    "cumsum(dtype='float64')",
    "take([0], mode='wrap')",
    "dot(1.0, out=x)",
]


@pytest.mark.parametrize("call", CALLS)
def test_is_numpys(call):
    expected = np.asarray(eval(call, {"a": A.copy(), "np": np}))
    found = eval(call, {"a": cuda.to_device(A), "np": np}).copy_to_host()
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("call", REFUSED)
def test_what_the_function_refuses_the_method_refuses(call):
    x = cuda.to_device(A)
    name, _, rest = call.partition("(")
    words = []
    for written in (f"x.{call}", f"np.{name}(x, {rest}"):
        with pytest.raises(UnsupportedError, match=name) as caught:
            eval(written, {"x": x, "np": np})
        words.append(str(caught.value))
    assert words[0] == words[1]


def test_one_integer_indexes_and_counts():
    place = np.argmax(cuda.to_device(np.float32([1, 3, 2])))
    two = cuda.to_device(np.array([2], np.uint8))
    with profiler.profile() as prof:
        assert "abc"[place] == "b"
        assert list(range(two)) == [0, 1]
        assert [[7], [8]][place] == [8]
    copies = [r for r in prof.events() if hasattr(r, "direction")]
    assert [(c.direction, c.reason) for c in copies] == [("d2h", "index()")] * 3


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.float32(1), DtypeError),
        (np.bool_(True), DtypeError),
        (np.arange(2), HostAccessError),
        (np.zeros(0, int), HostAccessError),
    ],
)
def test_what_is_no_single_integer_is_no_index(values, kind):
    with pytest.raises(kind, match="index") as caught:
        operator.index(cuda.to_device(values))
    assert isinstance(caught.value, TypeError)


def test_one_element_is_rounded():
    x = cuda.to_device(np.float32([2.625]))
    assert round(x) == 3
    assert isinstance(round(x), int)
    assert round(x, 1) == 2.6
    with pytest.raises(HostAccessError, match="round"):
        round(cuda.to_device(A))
