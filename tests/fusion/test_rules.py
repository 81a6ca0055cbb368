"""Each rule is the line of the shipped kernel: values agree, the odd ones too."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, fuse, library, profiler
from tinytorch_gpu.fusion.rules import ELEMENTWISE, REDUCTIONS, rules_of
from tinytorch_gpu.library import call
from tinytorch_gpu.trace import LaunchRecord

ODD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e38, -1e38, 1e-40, 0.5, 1.0, 2.0, -3.0]
UNARY = [op for op, rule in ELEMENTWISE.items() if rule.operands == 1]
BINARY = [op for op, rule in ELEMENTWISE.items() if rule.operands == 2]
NOT_OPS = {"gelu_of_finite", "fill", "floor"}
OF_ARRAYS = {"relu_backward", "sigmoid_backward", "tanh_backward"}


def pairs():
    a, b = np.meshgrid(np.float32(ODD), np.float32(ODD))
    return cuda.to_device(np.ascontiguousarray(a)), cuda.to_device(b.copy())


def same(function, *args):
    """Check that a function gives the same bits fused, NaN for NaN."""
    fused = fuse(function)
    for _ in range(2):
        got, wanted = fused(*args), function(*args)
        assert fused.reason == ""
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got.copy_to_host(), wanted.copy_to_host())


def after(x):
    """Make the op's result part of a chain of two, whatever its dtype."""
    return np.where(x, x, 7.0) if x.dtype == bool else np.minimum(x, 1e30)


@pytest.mark.parametrize("op", [op for op in UNARY if op not in NOT_OPS])
def test_an_op_of_one_array(op):
    x, _ = pairs()
    same(lambda x: after(call(op, x)), x)


def test_floor_of_what_a_conversion_can_hold():
    x = cuda.to_device(np.float32([-1.5, -0.0, 2.5, 1e9]))
    same(lambda x: after(call("floor", x)), x)


@pytest.mark.parametrize("op", BINARY)
def test_an_op_of_two_arrays(op):
    same(lambda x, y: after(call(op, x, y)), *pairs())


@pytest.mark.parametrize("op", [op for op in BINARY if op not in OF_ARRAYS])
@pytest.mark.parametrize("number", [0.0, 2.0, -1.5])
def test_an_op_of_an_array_and_a_number(op, number):
    x, _ = pairs()
    same(lambda x: after(call(op, x, number)), x)
    if op not in ("logical_and", "logical_or"):
        same(lambda x: after(call(op, number, x)), x)


def test_where_with_numbers():
    x, y = pairs()
    same(lambda x, y: np.where(x > y, x, -1.0) + 1.0, x, y)
    same(lambda x, y: np.where(x > y, 2.0, y) + 1.0, x, y)
    same(lambda x, y: np.where(x > y, 2.0, 3.0) + y, x, y)
    same(lambda x, y: np.where(x, x, y) + 1.0, x, y)


def test_masked_fill():
    x, y = pairs()
    same(lambda x, y: call("masked_fill", x, y > 0.5, -9.0) + 1.0, x, y)


def test_gelu_as_it_is_and_as_it_was():
    x, _ = pairs()
    same(lambda x: call("gelu", x) + 1.0, x)
    same(lambda x: call("gelu", x, at_minus_inf=np.nan) + 1.0, x)


def test_bools_become_numbers_where_numpy_makes_them_so():
    x, y = pairs()
    same(lambda x, y: (x > y).astype(np.float32) * x, x, y)
    same(lambda x, y: (x > y) * y + x, x, y)
    same(lambda x, y: np.logical_and(x > y, x > 0) * 2.0, x, y)


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("shape", [(5, 32), (3, 300), (2, 3, 64), (70,)])
def test_a_reduction_over_a_row(op, shape):
    values = np.random.default_rng(1).uniform(-2, 2, shape).astype(np.float32)
    x = cuda.to_device(values)
    same(lambda x: call(op, x * 2.0, axis=-1, keepdims=True) + x, x)
    same(lambda x: call(op, x * 2.0, axis=-1), x)
    values.flat[40] = np.nan
    x = cuda.to_device(values)
    same(lambda x: call(op, x * 2.0, axis=-1, keepdims=True) + x, x)


def test_every_kernel_that_ops_launch_is_known_by_its_rule():
    x, y = pairs()
    mask = x > y
    operands = {1: [(x,)], 2: [(x, y), (x, 2.0), (x, 3.0), (2.0, x)]}
    operands[3] = [(mask, x, y), (mask, 1.0, y), (mask, x, 1.0), (mask, 1.0, 2.0)]
    for op, rule in ELEMENTWISE.items():
        if op in NOT_OPS | {"masked_fill"}:
            continue
        for args in operands[rule.operands]:
            if op in OF_ARRAYS | {"logical_and", "logical_or"} and isinstance(
                args[0], float
            ):
                continue
            if op in OF_ARRAYS and isinstance(args[1], float):
                continue
            with profiler.profile() as prof:
                call(op, *args)
            launches = [r for r in prof.events() if isinstance(r, LaunchRecord)]
            assert all(op in rules_of(r.kernel.name) for r in launches), op


def test_a_kernel_that_a_learner_registers_later_wins():
    def chain(x):
        return np.exp(x * 2.0) + 1.0

    def wrong_exp(x, out=None):
        return x * 10.0

    fused = fuse(chain)
    x = cuda.to_device(np.float32([[0.5, 1.0]]))
    before = fused(x).copy_to_host()
    with library.override("tinytorch::exp", "simgpu", wrong_exp):
        with pytest.warns(UserWarning, match="not by our kernel"):
            got = fused(x).copy_to_host()
        np.testing.assert_array_equal(got, chain(x).copy_to_host())
    np.testing.assert_array_equal(fused(x).copy_to_host(), before)
    assert fused.reason == ""


def test_ops_in_different_streams_stay_apart():
    from tinytorch_gpu import fusion

    x, _ = pairs()
    with profiler.profile() as prof:
        y = x * 2.0
        with cuda.stream().auto_synchronize() as stream, _in(stream):
            z = y + 1.0
    told = fusion.opportunities(prof)
    assert [(r.kind, r.maker, r.reader) for r in told.refused] == [
        ("stream", "mul", "add")
    ]
    del z


def _in(stream):
    from tinytorch_gpu.runtime.current_stream import in_stream

    return in_stream(stream)
