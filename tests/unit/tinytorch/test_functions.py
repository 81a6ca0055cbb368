"""Every op of Tensor: gradients in float64, and on arrays that the host cannot read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from tinytorch_gpu.tinytorch import functions
from tinytorch_gpu.tinytorch.activations import GELUFunction
from tinytorch_gpu.tinytorch.functions import (
    Add,
    Copy,
    Div,
    Function,
    MaskedFill,
    MatMul,
    Max,
    Mean,
    Mul,
    Permute,
    Reshape,
    Slice,
    Sub,
    Sum,
    placed_like,
)
from tinytorch_gpu.tinytorch.tensor import Tensor

RNG = np.random.default_rng(5)
A = RNG.uniform(-2, 2, (3, 4))
B = RNG.uniform(0.5, 2, (3, 4))
CUBE = RNG.uniform(-2, 2, (2, 3, 4))
TIES = np.array([[1.0, 3.0, 2.0], [0.0, 0.5, 0.25]])

CASES = {
    "add": (Add, (A, B), {}),
    "add row": (Add, (A, B[0]), {}),
    "sub column": (Sub, (A, B[:, :1]), {}),
    "mul": (Mul, (A, B), {}),
    "mul outer": (Mul, (A[:, :1], B[:1]), {}),
    "mul scalar": (Mul, (A, B[0, 0]), {}),
    "div": (Div, (A, B), {}),
    "div batch": (Div, (CUBE, B), {}),
    "matmul": (MatMul, (A, B.T), {}),
    "matmul vectors": (MatMul, (A[0], B[0]), {}),
    "matmul row": (MatMul, (A[:, 0], B), {}),
    "matmul column": (MatMul, (A, B[0]), {}),
    "matmul batches": (MatMul, (CUBE, np.stack([A.T, B.T])), {}),
    "matmul one batch": (MatMul, (CUBE, B.T), {}),
    "matmul row, batch": (MatMul, (A[:, 0], CUBE), {}),
    "matmul batch, column": (MatMul, (CUBE, B[0]), {}),
    "slice": (Slice, (A,), {"key": (slice(1, 3), slice(None, None, 2))}),
    "slice row": (Slice, (A,), {"key": 1}),
    "slice new axis": (Slice, (A,), {"key": (Ellipsis, None, -1)}),
    "reshape": (Reshape, (A,), {"shape": (2, 6)}),
    "permute": (Permute, (CUBE,), {"axes": (2, 0, 1)}),
    "copy": (Copy, (A,), {}),
    "masked fill": (MaskedFill, (A,), {"mask": A > 0, "value": 7.0}),
    "sum": (Sum, (A,), {}),
    "sum axis": (Sum, (CUBE,), {"axis": 1}),
    "sum axes": (Sum, (CUBE,), {"axis": (0, -1)}),
    "sum keepdims": (Sum, (CUBE,), {"axis": -1, "keepdims": True}),
    "mean": (Mean, (A,), {}),
    "mean axis": (Mean, (A,), {"axis": 0}),
    "mean keepdims": (Mean, (A,), {"keepdims": True}),
    "max": (Max, (A,), {}),
    "max axis": (Max, (CUBE,), {"axis": 1}),
    "max keepdims": (Max, (TIES,), {"axis": 1, "keepdims": True}),
}
BLIND = {name: case for name, case in CASES.items() if name != "masked fill"}


@pytest.mark.parametrize("name", CASES)
def test_gradients_equal_central_differences(name, check_gradients):
    function, arrays, params = CASES[name]
    check_gradients(function, *arrays, **params)


@pytest.mark.parametrize("name", BLIND)
def test_ops_leave_the_elements_where_they_are(name, check_stays):
    function, arrays, params = BLIND[name]
    check_stays(function, *arrays, **params)


def test_masked_fill_takes_a_mask_beside_the_data(check_stays, duck):
    mask = placed_like(A > 0, duck(A))
    assert isinstance(mask, duck)
    assert mask.dtype == np.bool_
    filled = MaskedFill(mask=mask, value=7.0).forward(duck(A))
    np.testing.assert_array_equal(filled.hidden, np.where(A > 0, 7.0, A))


def test_an_index_array_that_reads_an_element_twice_adds(check_gradients):
    check_gradients(Slice, A, key=np.array([0, 2, 0]))
    check_gradients(Slice, A, key=A > 0)


def test_equal_largest_elements_share_the_gradient():
    x = Tensor([[2.0, 5.0, 5.0], [1.0, 1.0, 1.0]], requires_grad=True)
    x.max(axis=1).backward(np.array([1.0, 3.0]))
    np.testing.assert_array_equal(x.grad, [[0, 0.5, 0.5], [1, 1, 1]])


@settings(max_examples=60, deadline=None)
@given(
    nps.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3),
    st.sampled_from(["__add__", "__sub__", "__mul__", "__truediv__"]),
)
def test_broadcast_gradients_have_the_operands_shapes(shapes, operator):
    first, second = shapes.input_shapes
    a = Tensor(np.full(first, 2.0), requires_grad=True)
    b = Tensor(np.full(second, 4.0), requires_grad=True)
    getattr(a, operator)(b).sum().backward()
    repeats = np.prod(shapes.result_shape)
    slopes = {
        "__add__": (1, 1),
        "__sub__": (1, -1),
        "__mul__": (4, 2),
        "__truediv__": (0.25, -0.125),
    }[operator]
    for tensor, slope in zip((a, b), slopes, strict=True):
        expected = np.full(tensor.shape, slope * repeats / tensor.size, np.float32)
        np.testing.assert_allclose(tensor.grad, expected, rtol=1e-6)
        assert tensor.grad.dtype == np.float32


def test_apply_records_only_what_needs_a_gradient():
    leaf, constant = Tensor([1.0], requires_grad=True), Tensor([2.0])
    made = Mul.apply(leaf, constant)
    assert made.requires_grad
    assert made._grad_fn.output is made
    assert made._grad_fn.inputs == (leaf, constant)
    plain = Mul.apply(constant, constant)
    assert (plain.requires_grad, plain._grad_fn) == (False, None)


def test_params_become_attributes_and_have_defaults():
    assert Sum(axis=1, keepdims=True).forward(A).shape == (3, 1)
    assert Sum().forward(A) == pytest.approx(A.sum())


def test_nodes_are_named_as_in_graphs():
    assert (repr(GELUFunction()), repr(Add())) == ("GELUBackward", "AddBackward")


@pytest.mark.parametrize("method", ["forward", "backward"])
def test_an_unfinished_op_names_itself(method):
    class HalfFunction(Function):
        pass

    with pytest.raises(NotImplementedError, match=f"HalfFunction needs {method}"):
        getattr(HalfFunction(), method)(A)


def test_every_op_is_a_direct_subclass_so_that_adapters_see_it():
    ops = [getattr(functions, n) for n in functions.__all__ if n[0].isupper()]
    assert all(op.__bases__ == (Function,) for op in ops if op is not Function)


def test_ops_themselves_reduce_what_they_broadcast():
    node = Add(Tensor(np.ones((3, 2))), Tensor(np.ones(2)))
    assert [g.shape for g in node.backward(np.ones((3, 2)))] == [(3, 2), (2,)]


def test_matmul_computes_only_the_gradients_that_are_required():
    x, weight = Tensor(A), Tensor(B.T, requires_grad=True)
    by_x, by_weight = MatMul(x, weight).backward(np.ones((3, 3)))
    assert by_x is None
    np.testing.assert_allclose(by_weight, A.T @ np.ones((3, 3)), rtol=1e-5)
