"""Rules: shape and dtype before the run, of every shipped op but one."""

import numpy as np
import pytest

from tinytorch_gpu.library.fakes import FakeArray, expected_results, rule_of
from tinytorch_gpu.library.references import OPS

F4, F8, I8 = (np.dtype(t) for t in ("f4", "f8", "i8"))


def test_every_op_whose_result_does_not_depend_on_data_has_a_rule():
    without = {op for op in OPS if rule_of(op) is None}
    assert without == {"tinytorch::flatnonzero"}


def results(op, *operands, **parameters):
    return expected_results(f"tinytorch::{op}", operands, parameters)


def array(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


@pytest.mark.parametrize(
    ("made", "shape", "dtype"),
    [
        (results("add", array(4, 1), array(3)), (4, 3), F4),
        (results("add", array(3, dtype=int), 0.5), (3,), F4),
        (results("div", array(3, dtype=int), array(3, dtype=int)), (3,), F8),
        (results("div", array(3, dtype=int), 2), (3,), F4),
        (results("exp", array(3, dtype=int)), (3,), F8),
        (results("round", array(3, dtype=int), decimals=0), (3,), I8),
        (results("logaddexp", array(3, dtype=int), 0.5), (3,), F4),
        (results("remainder", array(4, 1), array(3)), (4, 3), F4),
        (results("floor_divide", array(3, dtype=bool), True), (3,), "i1"),
        (results("reciprocal", array(3, dtype=bool)), (3,), "i1"),
        (results("prod", array(3, 2, dtype=bool), axis=0), (2,), I8),
        (results("sum", array(2, 3), axis=-1, keepdims=True), (2, 1), F4),
        (results("sum", array(3, dtype=bool)), (), I8),
        (results("argmax", array(2, 3), axis=0), (3,), I8),
        (results("matmul", array(2, 3, 4), array(4, 5)), (2, 3, 5), F4),
        (results("matmul", array(4), array(4)), (), F4),
        (results("conv2d", array(2, 3, 7, 6), array(4, 3, 3, 2)), (2, 4, 5, 5), F4),
        (results("im2col", array(1, 2, 3, 3), 2), (1, 8, 4), F4),
        (results("embedding", array(5, 7), array(2, 3, dtype=int)), (2, 3, 7), F4),
    ],
    ids=str,
)
def test_rules(made, shape, dtype):
    assert made == (FakeArray(shape, dtype),)


def test_several_results():
    out, places = results("max_pool2d_with_indices", array(1, 1, 4, 4), 2)
    assert (out.shape, places.dtype) == ((1, 1, 2, 2), I8)
    by_x, by_weight, by_bias = results(
        "conv2d_backward", array(2, 4, 5, 5), array(2, 3, 7, 6), array(4, 3, 3, 2)
    )
    assert [a.shape for a in (by_x, by_weight, by_bias)] == [
        (2, 3, 7, 6),
        (4, 3, 3, 2),
        (4,),
    ]
