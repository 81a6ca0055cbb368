"""The backward pass: paths that meet, the switch, seeds, and releasing the graph."""

import numpy as np
import pytest

from tinytorch_gpu.tinytorch import autograd
from tinytorch_gpu.tinytorch.autograd import (
    enable_autograd,
    is_grad_enabled,
    no_grad,
    unbroadcast,
)
from tinytorch_gpu.tinytorch.tensor import Function, Tensor


def leaf(data):
    return Tensor(data, requires_grad=True)


def test_a_tensor_used_on_several_paths_adds_their_gradients():
    x = leaf([3.0])
    a, b = x * 2, x * x
    (a * b + a).backward()  # 2x³ + 2x
    assert x.grad.tolist() == [56.0]
    assert a.grad.tolist() == [10.0]  # intermediates keep theirs
    assert b.grad.tolist() == [6.0]


def test_a_tensor_beside_itself():
    x = leaf([3.0])
    (x + x).backward()
    (x * x).backward()
    assert x.grad.tolist() == [8.0]


def test_doubling_many_times_takes_one_walk():
    x = y = leaf([1.0])
    for _ in range(60):  # 2⁶⁰ paths
        y = y + y
    y.backward()
    assert x.grad.tolist() == [2.0**60]


def test_a_long_chain_needs_no_deep_stack():
    x = y = leaf([1.0])
    for _ in range(3000):
        y = y + 1.0
    y.backward()
    assert x.grad.tolist() == [1.0]


def test_gradients_are_bare_float32_and_accumulate():
    x = leaf([[1.0, 2.0]])
    for _ in range(2):
        (x * 3).sum().backward()
    assert type(x.grad) is np.ndarray
    assert (x.grad.dtype, x.grad.tolist()) == (np.float32, [[6.0, 6.0]])
    x.zero_grad()
    assert x.grad is None


def test_the_seed_is_ones_or_what_is_given():
    for seed, expected in (
        (None, [2, 2]),
        ([1, 3], [2, 6]),
        (np.array([1.0, 3.0]), [2, 6]),
        (Tensor([1, 3]), [2, 6]),
    ):
        x = leaf([1.0, 1.0])
        (x * 2).backward(seed)
        assert (x.grad.dtype, x.grad.tolist()) == (np.float32, expected)


def test_a_seed_does_not_become_the_gradient():
    x, seed = leaf([1.0]), np.ones(1, np.float32)
    y = x + 0.0
    y.backward(seed)
    x.grad += 5
    assert (seed.tolist(), y.grad.tolist()) == ([1.0], [1.0])


def test_a_seed_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"Gradient shape mismatch.*\(2,\).*\(3,\)"):
        leaf([1.0, 2.0]).backward(np.ones(3))


def test_nothing_happens_without_requires_grad():
    t = Tensor([1.0])
    t.backward()
    assert t.grad is None


def test_constants_get_no_gradient():
    x, constant = leaf([2.0]), Tensor([5.0])
    (x * constant).backward()
    assert (x.grad.tolist(), constant.grad) == ([5.0], None)


def test_the_graph_is_released_and_says_so():
    x = leaf([2.0])
    y = x * x
    z = y.sum()
    z.backward()
    assert (y._grad_fn, y._graph_released, x._graph_released) == (None, True, False)
    for again in (z, y * 3.0):
        with pytest.raises(RuntimeError, match="retain_graph=True"):
            again.backward()
    assert x.grad.tolist() == [4.0]
    (x * 3).backward()  # the leaf itself is free
    assert x.grad.tolist() == [7.0]


def test_a_kept_graph_can_be_walked_again():
    x = leaf([2.0])
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [8.0]


def test_no_grad_records_nothing_and_nests():
    x = leaf([1.0])
    assert is_grad_enabled()
    with no_grad():
        with no_grad():
            assert not is_grad_enabled()
        assert not autograd._GRAD_TRACKING_ENABLED
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_no_grad_ends_after_an_error():
    with pytest.raises(KeyError), no_grad():
        raise KeyError
    assert is_grad_enabled()


def test_enable_autograd_changes_nothing():
    before = vars(Tensor).copy()
    enable_autograd(quiet=True)
    assert vars(Tensor) == before


class WrongFunction(Function):
    answer = (np.ones(3, np.float32),)

    def forward(self, a):
        return a

    def backward(self, grad):
        return self.answer


def test_a_gradient_of_a_wrong_shape_names_the_op():
    with pytest.raises(RuntimeError, match=r"WrongBackward.*\(3,\).*\(2,\)"):
        WrongFunction.apply(leaf([1.0, 2.0])).backward()


def test_one_gradient_for_each_input():
    made = WrongFunction.apply(leaf([1.0, 2.0]), answer=(None, None))
    with pytest.raises(ValueError, match="zip"):
        made.backward()


def test_none_stops_the_path():
    x = leaf([1.0])
    WrongFunction.apply(x * 2, answer=(None,)).backward()
    assert x.grad is None


@pytest.mark.parametrize(
    ("shape", "total"), [((4, 3), 1), ((1, 3), 4), ((3,), 4), ((4, 1), 3), ((), 12)]
)
def test_unbroadcast_sums_what_was_repeated(shape, total):
    expected = np.full(shape, total, np.float32)
    np.testing.assert_array_equal(unbroadcast(np.ones((4, 3)), shape), expected)
