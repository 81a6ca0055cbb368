"""Joining, cutting, padding and repeating device arrays, against NumPy."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import DeviceMismatchError, ShapeError, UnsupportedError

A = np.random.default_rng(0).normal(size=(4, 5, 6)).astype(np.float32)

CALLS = [
    "np.concatenate([a, a[:, :2]], 1)",
    "np.concatenate([a, a[:0]])",
    "np.concatenate([a, a], axis=None)",
    "np.concatenate([a, a.astype('f8')])",
    "np.stack([a, a], axis=-1)",
    "np.stack([a[0], a[1]])",
    "np.vstack([a[0, 0], a[0, 1]])",
    "np.split(a, 3, -1)",
    "np.split(a, [1, 3], 1)",
    "np.array_split(a, 4, axis=-1)",
    "np.pad(a, ((1, 2), (0, 0), (3, 0)))",
    "np.pad(a, 1, constant_values=-1)",
    "np.pad(a, (0, 2), mode='constant')",
    "np.repeat(a, 3)",
    "np.repeat(a, 2, axis=1)",
    "np.repeat(a[:0], 2, axis=-1)",
    "np.tile(a, 2)",
    "np.tile(a[0], (2, 1, 3))",
    "np.tile(a, (2, 3))",
    "np.flip(a)",
    "np.flip(a, 1)",
    "np.flip(a, (0, -1))",
    "np.moveaxis(a, 0, -1)",
]


@pytest.mark.parametrize("call", CALLS)
def test_is_numpys(call):
    expected = eval(call, {"np": np, "a": A})
    for x in (cuda.to_device(A), cuda.to_device(A.T.copy()).T):
        found = eval(call, {"np": np, "a": x})
        parts = zip(found, expected, strict=True)
        for part, host in parts if isinstance(expected, list) else [(found, expected)]:
            copied = part.copy_to_host()
            assert copied.dtype == host.dtype
            np.testing.assert_array_equal(copied, host)


@pytest.mark.parametrize("call", ["np.split(a, 2, 1)[0]", "np.flip(a)", "a[::-1]"])
def test_views_share_the_buffer(call):
    x = cuda.to_device(A[:, :4].copy())
    assert eval(call, {"np": np, "a": x}).buffer is x.buffer


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("np.concatenate([a, h])", DeviceMismatchError),
        ("np.stack([a, h])", DeviceMismatchError),
        ("np.concatenate([a, a[0]])", ShapeError),
        ("np.concatenate([a, a[:, 1:]])", ShapeError),
        ("np.concatenate([a, a], 3)", ShapeError),
        ("np.stack([a, a[:2]])", ShapeError),
        ("np.split(a, 4, 1)", ShapeError),
        ("np.pad(a, 1, mode='edge')", UnsupportedError),
        ("np.pad(a, 1, constant_values=(0, 1))", UnsupportedError),
        ("np.repeat(a, [1, 2, 3, 4], axis=0)", UnsupportedError),
    ],
)
def test_what_is_refused(call, error):
    with pytest.raises(error, match="np\\."):
        eval(call, {"np": np, "a": cuda.to_device(A), "h": A})
