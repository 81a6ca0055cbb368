"""matmul against NumPy in float64: shapes as np.matmul, strides, dtypes, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.matmul import bmm, matmul

SHAPES = [
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((2, 3), (3, 4)),
    ((1, 1), (1, 1)),
    ((16, 16), (16, 16)),
    ((17, 33), (33, 20)),
    ((5, 0), (0, 3)),
    ((0, 3), (3, 4)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 3, 4, 5), (3, 5, 2)),
    ((2, 1, 20, 18), (3, 18, 20)),
    ((4,), (2, 4, 5)),
    ((2, 3, 4), (4,)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_shapes(shapes, dtype, pair, close):
    (a, x), (b, y) = (pair(s, dtype, seed=i) for i, s in enumerate(shapes))
    expected = np.matmul(a.astype("f8"), b.astype("f8"))
    close(matmul(x, y), expected, dtype, 1e-5 if dtype == "float32" else 1e-12)


@settings(max_examples=25, deadline=None)
@given(
    st.tuples(*[st.integers(1, 40)] * 3),
    st.sampled_from([(0, 1), (1, 0)]),
    st.sampled_from([(0, 1), (1, 0)]),
)
def test_transposed_views(pair, close, lengths, order_a, order_b):
    m, k, n = lengths
    a, x = pair((m, k), order=order_a)
    b, y = pair((k, n), order=order_b, seed=1)
    close(matmul(x, y), a.astype("f8") @ b.astype("f8"), tolerance=2e-5)


def test_attention_shaped_views(pair, close):
    """Heads split off by a transpose: batch axes that do not merge."""
    a, x = pair((2, 6, 3, 4))
    queries, on_device = a.transpose(0, 2, 1, 3), x.transpose(0, 2, 1, 3)
    expected = queries.astype("f8") @ queries.astype("f8").swapaxes(-1, -2)
    close(matmul(on_device, on_device.swapaxes(-1, -2)), expected, tolerance=1e-5)


def test_other_dtypes_follow_numpy(pair, close):
    a, x = pair((20, 20), "int32")
    close(matmul(x, x), a @ a, "int32")
    b, y = pair((20, 20), "float64")
    close(matmul(x, y), a @ b, "float64", 1e-12)


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ((2, 3), (4, 5), "inner dimensions 3 and 4 differ, shapes (2, 3) and (4, 5)"),
        ((3,), (4,), "inner dimensions 3 and 4"),
        ((2, 3), (2,), "inner dimensions 3 and 2"),
        ((2, 3, 4), (3, 4, 5), "batch axes of (2, 3, 4) and (3, 4, 5)"),
        ((), (3,), "operands of shape () and (3,)"),
    ],
)
def test_refusals_come_before_any_launch(a, b, text, launches):
    x, y = cuda.device_array(a, np.float32), cuda.device_array(b, np.float32)

    def attempt():
        with pytest.raises(ShapeError) as caught:
            matmul(x, y)
        error = caught.value
        assert text in error.what
        assert error.shapes == (a, b)
        assert all((error.where, error.why, error.fix))

    assert not launches(attempt)


@pytest.mark.parametrize(
    ("a", "b", "dtype", "kernel"),
    [
        ((16, 16), (16, 16), "float32", "matmul_tiled"),
        ((16, 15), (15, 16), "float32", "matmul_naive"),
        ((64, 64), (64, 10), "float32", "matmul_naive"),
        ((32, 32), (32, 32), "float64", "matmul_naive"),
        ((3, 20, 20), (20, 20), "float32", "matmul_batched"),
    ],
)
def test_the_kernel_is_chosen_by_shape_and_dtype(a, b, dtype, kernel, launches, pair):
    (_, x), (_, y) = pair(a, dtype), pair(b, dtype)
    (record,) = launches(lambda: matmul(x, y))
    assert record.kernel.name == kernel
    assert (record.counts.total("fp64") == 0) == (dtype == "float32")
    assert launches(lambda: matmul(x, y))[0].is_replayed


def test_a_transposed_operand_shows_in_the_sectors(launches, pair):
    _, x = pair((64, 64))
    plain, turned = (launches(lambda y=y: matmul(y, x))[0] for y in (x, x.T))
    loads_of_a = [
        next(a for a in r.counts.accesses if a.array == "a").sectors_per_request
        for r in (plain, turned)
    ]
    assert loads_of_a == [4.0, 16.0]


def test_more_rows_than_a_grid_has_blocks(close):
    a = np.arange(70_000, dtype=np.float32).reshape(-1, 1)
    b = np.ones((1, 256), np.float32)
    close(matmul(*map(cuda.to_device, (a, b))), a @ b)


def test_bmm_takes_two_stacks(pair, close):
    (a, x), (b, y) = pair((3, 4, 5)), pair((3, 5, 2))
    close(bmm(x, y), a.astype("f8") @ b, "f4", 1e-5)
    for wrong in (y[0], y[:2]):
        with pytest.raises(ShapeError, match="bmm"):
            bmm(x, wrong)
