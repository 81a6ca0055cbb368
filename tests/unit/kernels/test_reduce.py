"""sum, prod, mean, max, min against NumPy: axes, strides, dtypes, empty, long."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels import reduce as ops

OPS = {
    "sum": (ops.reduce_sum, np.sum),
    "mean": (ops.reduce_mean, np.mean),
    "max": (ops.reduce_max, np.max),
    "min": (ops.reduce_min, np.min),
}
ROUNDINGS = 3e-6  # float32 sums of some thousand numbers


@pytest.fixture(params=OPS)
def op(request):
    return OPS[request.param]


def all_axes(ndim):
    tuples = (itertools.combinations(range(ndim), n) for n in range(ndim + 1))
    return [None, *itertools.chain.from_iterable(tuples)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (50,), (32, 10), (9, 65), (3, 4, 5)])
def test_all_axes(op, shape, dtype, pair, close):
    ours, numpys = op
    a, x = pair(shape, dtype)
    for axis in all_axes(len(shape)):
        expected = numpys(a.astype("f8"), axis=axis)
        close(
            ours(x, axis), expected, dtype, ROUNDINGS if dtype == "float32" else 1e-12
        )


@settings(max_examples=60, deadline=None)
@given(hnp.array_shapes(min_dims=1, max_dims=4, max_side=6), st.data())
def test_any_strides(pair, close, shape, data):
    order = data.draw(st.permutations(range(len(shape))))
    axes = data.draw(st.sets(st.integers(-len(shape), len(shape) - 1)))
    axis = tuple({i % len(shape) for i in axes})
    keepdims = data.draw(st.booleans())
    a, x = pair(shape, order=order)
    for ours, numpys in OPS.values():
        expected = numpys(a.astype("f8"), axis=axis, keepdims=keepdims)
        close(ours(x, axis, keepdims), expected, "float32", ROUNDINGS)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((70_001,), None),  # two launches, one block for each part
        ((3, 9_000), 1),
        ((5_000, 3), 0),  # two launches, one thread for each part
        ((200, 40), 0),
        ((2, 300, 7), 1),
        ((4, 3, 5, 2, 3), (0, 2, 4)),  # three groups, one after another
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_and_many_axes(op, shape, axis, dtype, pair, close):
    ours, numpys = op
    a, x = pair(shape, dtype)
    close(
        ours(x, axis),
        numpys(a.astype("f8"), axis=axis),
        dtype,
        2e-5 if dtype == "float32" else 1e-11,
    )


@pytest.mark.parametrize("dtype", ["int32", "int64", "bool"])
def test_other_dtypes_follow_numpy(op, dtype, pair, close):
    ours, numpys = op
    a, x = pair((40, 50), dtype, low=0, high=1.9 if dtype == "bool" else 9)
    for axis in (None, 0, 1):
        expected = np.asarray(numpys(a, axis=axis))
        close(ours(x, axis), expected, expected.dtype, 1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(op, bad):
    ours, numpys = op
    a = np.ones((3, 40), np.float32)
    a[1, 7] = bad
    x = cuda.to_device(a)
    for axis in (None, 0, 1):
        np.testing.assert_array_equal(
            ours(x, axis).copy_to_host(), numpys(a, axis=axis)
        )


def test_sum_and_mean_of_nothing(close):
    x = cuda.device_array((0, 3), np.float32)
    close(ops.reduce_sum(x), 0.0, "float32")
    close(ops.reduce_sum(x, 0), np.zeros(3), "float32")
    assert ops.reduce_sum(x, 1).shape == (0,)
    assert np.isnan(ops.reduce_mean(x, 0).copy_to_host()).all()


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremum_of_nothing(name):
    ours, _ = OPS[name]
    x = cuda.device_array((0, 3), np.float32)
    with pytest.raises(ValueError, match=f"{name} of no elements") as caught:
        ours(x, 0)
    assert isinstance(caught.value, ShapeError)
    assert ours(x, 1).shape == (0,)


@pytest.mark.parametrize("axis", [2, -3, (0, 0), (0, -2)])
def test_axes_that_do_not_exist(op, axis, launches):
    ours, _ = op
    x = cuda.to_device(np.ones((2, 3), np.float32))

    def attempt():
        with pytest.raises(ShapeError) as caught:
            ours(x, axis)
        assert f"axis {axis} of an array of shape (2, 3)" in str(caught.value)

    assert not launches(attempt)


@pytest.mark.parametrize(
    ("view", "axis", "kernel"),
    [
        (lambda x: x, 1, "sum_rows_kernel"),
        (lambda x: x, 0, "sum_columns_kernel"),
        (lambda x: x.T, 0, "sum_rows_kernel"),
        (lambda x: x.T, 1, "sum_columns_kernel"),
        (lambda x: x[:, :8], 1, "sum_columns_kernel"),  # rows shorter than a warp
        (lambda x: x, None, "sum_rows_kernel"),
    ],
)
def test_the_kernel_that_coalesces_is_chosen(view, axis, kernel, launches):
    x = view(cuda.to_device(np.ones((48, 64), np.float32)))
    (record,) = launches(lambda: ops.reduce_sum(x, axis))
    assert record.kernel.name == kernel


@pytest.mark.parametrize("axis", [0, 1, None])
def test_contiguous_loads_need_four_sectors(axis, launches):
    x = cuda.to_device(np.ones((64, 128), np.float32))
    record, *_ = launches(lambda: ops.reduce_sum(x, axis))
    loads = [a for a in record.counts.global_accesses if a.kind == "load"]
    assert {a.sectors_per_request for a in loads} == {4.0}
    assert record.counts.total("fp64") == 0


def test_a_long_sum_is_two_launches(launches):
    x = cuda.to_device(np.ones(65_536, np.float32))
    records = launches(lambda: ops.reduce_sum(x))
    assert [r.kernel.name for r in records] == ["sum_rows_kernel"] * 2
    assert [r.grid[1] for r in records] == [64, 1]


def test_normalized_axes():
    x = cuda.device_array((2, 3, 4))
    assert ops.normalized_axes("sum", x, None) == (0, 1, 2)
    assert ops.normalized_axes("sum", x, (-1, 0)) == (0, 2)
    assert ops.normalized_axes("sum", x, ()) == ()


def test_more_outer_rows_than_a_grid_has_blocks(close):
    host = np.broadcast_to(np.arange(6, dtype=np.float32).reshape(2, 3), (70_000, 2, 3))
    x = cuda.to_device(host)
    close(ops.reduce_sum(x, 1), host.sum(1), "f4")
    close(ops.reduce_max(x[:, :, ::2], 1), host[:, :, ::2].max(1), "f4")


def near_one(shape, dtype="float32"):
    rng = np.random.default_rng([5, *shape])
    drawn = rng.uniform(0.97, 1.03, shape) * rng.choice([-1, 1], shape)
    return np.asarray(drawn).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (50,), (32, 10), (9, 65), (3, 4, 5)])
def test_products_over_all_axes(shape, dtype, close):
    a = near_one(shape, dtype)
    for axis in all_axes(len(shape)):
        for keepdims in (False, True):
            found = ops.reduce_prod(cuda.to_device(a), axis, keepdims)
            expected = np.prod(a.astype("f8"), axis=axis, keepdims=keepdims)
            close(found, expected, dtype, ROUNDINGS if dtype == "float32" else 1e-12)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((70_001,), None), ((5_000, 3), 0), ((4, 3, 5, 2, 3), (0, 2, 4))],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_products(shape, axis, dtype, close):
    a = (1 + near_one(shape, "f8") * 1e-3).astype(dtype)
    expected = np.prod(a.astype("f8"), axis=axis)
    bound = 1e-3 if dtype == "float32" else 1e-9
    close(ops.reduce_prod(cuda.to_device(a), axis), expected, dtype, bound)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "bool"])
def test_products_of_integers_are_numpys(dtype, pair, close):
    a, x = pair((40, 50), dtype, low=-9, high=9)
    for axis in (None, 0, 1):
        close(ops.reduce_prod(x, axis), np.prod(a, axis=axis), "int64")


def test_products_of_zero_nan_infinity_and_nothing(close):
    a = np.ones((4, 40), np.float32)
    a[0, 7], a[1, 7], a[2, 7], a[3, 7], a[3, 8] = 0, np.nan, -np.inf, 0, np.inf
    with np.errstate(invalid="ignore"):
        close(ops.reduce_prod(cuda.to_device(a), 1), np.prod(a, 1), "float32")
    empty = cuda.device_array((0, 3), np.float32)
    close(ops.reduce_prod(empty), 1.0, "float32")
    close(ops.reduce_prod(empty, 0), np.ones(3), "float32")
    close(ops.reduce_prod(cuda.device_array((0, 3), np.int32), 0), np.ones(3), "int64")
    with pytest.raises(ShapeError, match="prod: axis 2"):
        ops.reduce_prod(empty, 2)
