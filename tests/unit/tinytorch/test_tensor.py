"""Tensor: construction, values against NumPy, shapes, and what messages say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinytorch_gpu.tinytorch import tensor as module
from tinytorch_gpu.tinytorch.tensor import Function, Tensor

X = np.random.default_rng(1).uniform(-2, 2, (3, 4))
Y = np.random.default_rng(2).uniform(0.5, 2, (3, 4))


def same(tensor, expected):
    assert isinstance(tensor, Tensor)
    assert tensor.data.dtype == np.float32
    assert tensor.shape == np.shape(expected)
    np.testing.assert_allclose(tensor.data, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (3, 3.0),
        ([1, 2], [1, 2]),
        (np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3)),
        (Tensor([1.5]), [1.5]),
        ([Tensor([1, 2]), Tensor([3, 4])], [[1, 2], [3, 4]]),
        ([Tensor(1), 2.0], [1, 2]),
        (True, 1.0),
    ],
)
def test_data_become_a_float32_copy(data, expected):
    same(Tensor(data), expected)


def test_the_source_array_is_not_shared():
    source = np.ones(2, np.float32)
    made = Tensor(source)
    source[0] = 5
    assert made.data.tolist() == [1, 1]


def test_attributes_at_birth():
    t = Tensor(X, requires_grad=True)
    assert (t.shape, t.size, t.dtype, t.ndim) == ((3, 4), 12, np.float32, 2)
    assert (t.requires_grad, t.grad, t._grad_fn, t._graph_released) == (
        True,
        None,
        None,
        False,
    )
    assert (t.numel(), t.memory_footprint()) == (12, 48)
    assert t.numpy() is t.data
    t.data = np.zeros(5, np.float32)
    assert t.shape == (3, 4)  # a snapshot


def test_operators_equal_numpys():
    x, y = Tensor(X), Tensor(Y)
    same(x + y, X + Y)
    same(x - y, X - Y)
    same(x * y, X * Y)
    same(x / y, X / Y)
    same(x @ y.transpose(), X @ Y.T)
    same(x.matmul(Tensor(Y[0])), X @ Y[0])


@pytest.mark.parametrize("other", [2, 2.5, np.float32(3), np.float64(3), Y, Y[0]])
def test_numbers_and_arrays_stand_on_either_side(other):
    x = Tensor(Y)
    for got, expected in (
        (x + other, Y + other),
        (other + x, other + Y),
        (x - other, Y - other),
        (other - x, other - Y),
        (x * other, Y * other),
        (other * x, other * Y),
        (x / other, Y / other),
        (other / x, other / Y),
    ):
        same(got, expected)


def test_indexing_equals_numpys():
    t = Tensor(X)
    for key in (0, (1, 2), slice(1, None), (..., -1), (None, 0), X > 0, [0, 0]):
        same(t[key], X[key])
    assert [row.shape for row in t] == [(4,)] * 3


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 4), max_size=4),
    st.randoms(use_true_random=False),
    st.data(),
)
def test_reshape_works_out_one_length(lengths, random, data):
    t = Tensor(np.arange(int(np.prod(lengths, dtype=int))))
    wanted = list(lengths)
    if wanted and data.draw(st.booleans()):
        wanted[random.randrange(len(wanted))] = -1
    assert t.reshape(tuple(wanted)).shape == tuple(lengths)
    assert t.view(*wanted).shape == tuple(lengths)


@pytest.mark.parametrize("shape", [(0, 12), (-2, 6), (-1, -1)])
def test_reshape_lengths_are_positive(shape):
    with pytest.raises(ValueError, match="one may be -1"):
        Tensor(X).reshape(*shape)


@pytest.mark.parametrize("shape", [(5, 2), (5, -1), (24, -1), ()])
def test_reshape_keeps_the_count(shape):
    with pytest.raises(ValueError, match=r"Element count mismatch.*12 elements"):
        Tensor(X).reshape(shape)


def test_transpose():
    cube = np.arange(24).reshape(2, 3, 4)
    same(Tensor(cube).transpose(), cube.swapaxes(1, 2))
    same(Tensor(cube).transpose(0, -1), cube.swapaxes(0, 2))
    same(Tensor([1, 2]).transpose(), [1, 2])
    same(Tensor(3).transpose(), 3)
    with pytest.raises(ValueError, match="name both axes"):
        Tensor(cube).transpose(1)
    with pytest.raises(IndexError):
        Tensor(cube).transpose(0, 3)


def test_contiguous_is_in_c_order():
    t = Tensor(X).transpose()
    assert not t.data.flags.c_contiguous
    assert t.contiguous().data.flags.c_contiguous
    same(t.contiguous(), X.T)


@pytest.mark.parametrize(
    "mask", [X > 0, Tensor(X > 0), (X > 0).tolist(), X[0] > 0, np.float32(1)]
)
def test_masked_fill(mask):
    bare = np.asarray(mask.data if isinstance(mask, Tensor) else mask) != 0
    same(Tensor(X).masked_fill(mask, -np.inf), np.where(bare, -np.inf, X))


def test_masks_broadcast_or_are_refused():
    with pytest.raises(ValueError, match=r"shape mismatch: \(3,\) and \(3, 4\)"):
        Tensor(X).masked_fill([1, 0, 1], 0.0)
    with pytest.raises(ValueError, match=r"mask shape mismatch: \(2, 3, 4\)"):
        Tensor(X).masked_fill(np.ones((2, 3, 4)), 0.0)


@pytest.mark.parametrize("name", ["sum", "mean", "max"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_equal_numpys(name, axis, keepdims):
    got = getattr(Tensor(X), name)(axis=axis, keepdims=keepdims)
    same(got, getattr(X, name)(axis=axis, keepdims=keepdims))


def test_shapes_that_do_not_broadcast_are_named():
    with pytest.raises(
        ValueError, match=r"shape mismatch: \(3, 4\) and \(3,\)"
    ) as info:
        Tensor(X) + np.ones(3)
    assert "reshape or transpose" in str(info.value)


@pytest.mark.parametrize(
    ("a", "b", "error", "message"),
    [
        (X, X, TypeError, "requires Tensor operands, got ndarray"),
        (X, Tensor(1), ValueError, r"at least 1D, got \(3, 4\) and \(\)"),
        (1, Tensor(X), ValueError, "at least 1D"),
        (X, Tensor(X), ValueError, "Inner dimensions don't match.*4 vs 3"),
        (X, Tensor([1, 2]), ValueError, "4 vs 2"),
        (np.ones((2, 3, 4)), Tensor(np.ones((3, 4, 5))), ValueError, "shape mismatch"),
    ],
)
def test_what_matmul_refuses(a, b, error, message):
    with pytest.raises(error, match=message):
        Tensor(a) @ b


def test_repr_shows_data_shape_and_recording():
    assert repr(Tensor([1, 2])) == "Tensor(data=[1. 2.], shape=(2,))"
    assert "requires_grad=True" in repr(Tensor(1, requires_grad=True))


def test_the_ops_can_be_imported_from_here():
    ops = [getattr(module, name) for name in module.__all__ if name != "Tensor"]
    assert len(ops) == 14
    assert all(issubclass(op, Function) for op in ops)
    assert isinstance(vars(Function)["apply"], classmethod)  # generation B
