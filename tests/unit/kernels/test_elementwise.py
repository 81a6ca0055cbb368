"""Binary ops and `where` against NumPy: shapes, strides, dtypes, scalars, `out`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels import elementwise as ops
from tinytorch_gpu.kernels.threads import add

BINARY = {
    "add": (add, np.add),
    "sub": (ops.sub, np.subtract),
    "mul": (ops.mul, np.multiply),
    "div": (ops.div, np.divide),
    "maximum": (ops.maximum, np.maximum),
    "minimum": (ops.minimum, np.minimum),
    "pow": (ops.power, np.power),
}
SHAPES = [
    ((), ()),
    ((1,), (1,)),
    ((7,), (7,)),
    ((1000,), (1000,)),
    ((17, 33), (17, 33)),
    ((5, 1), (1, 6)),
    ((6, 9), (9,)),
    ((6, 9), ()),
    ((2, 3, 4), (3, 1)),
    ((0, 4), (4,)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("op", BINARY)
def test_arrays(op, shapes, dtype, pair, close):
    ours, numpys = BINARY[op]
    (a, x), (b, y) = (
        pair(s, dtype, seed=i, low=0.3, high=2.5) for i, s in enumerate(shapes)
    )
    close(ours(x, y), numpys(a.astype("f8"), b.astype("f8")), dtype)


@pytest.mark.parametrize("op", BINARY)
def test_transposed_views(op, pair, close):
    ours, numpys = BINARY[op]
    a, x = pair((40, 13), low=0.3)
    b, y = pair((40, 13), order=(1, 0), seed=1, low=0.3)
    close(ours(x, y), numpys(a.astype("f8"), b.astype("f8")))
    close(ours(y.T, x.T), numpys(b.T.astype("f8"), a.T.astype("f8")))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("value", [2, 0.75, np.float64(1.5), np.int64(3)])
@pytest.mark.parametrize("op", BINARY)
def test_scalars_on_either_side(op, value, dtype, pair, close):
    ours, numpys = BINARY[op]
    a, x = pair((5, 9), dtype, low=0.3)
    close(ours(x, value), numpys(a.astype("f8"), float(value)), dtype)
    close(ours(value, x), numpys(float(value), a.astype("f8")), dtype)


@settings(max_examples=60, deadline=None)
@given(
    hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=5, min_side=0),
    st.data(),
)
def test_any_shapes_and_strides(pair, close, shapes, data):
    made = []
    for seed, shape in enumerate(shapes.input_shapes):
        order = data.draw(st.permutations(range(len(shape))))
        made.append(pair(shape, order=order, seed=seed))
    (a, x), (b, y) = made
    close(ops.sub(x, y), a.astype("f8") - b.astype("f8"))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_slices(close, data):
    host = np.random.default_rng(0).random((6, 7, 8)).astype(np.float32)
    steps = [data.draw(st.sampled_from([1, 2, -1, -2])) for _ in range(3)]
    key = tuple(slice(None, None, step) for step in steps)
    x = cuda.to_device(host)[key]
    close(ops.mul(x, x), np.square(host[key].astype("f8")))


@pytest.mark.parametrize("op", ["add", "sub", "mul", "maximum", "minimum"])
@pytest.mark.parametrize("dtypes", [("int32", "int32"), ("int64", "float32")], ids=str)
def test_other_dtypes_follow_numpy(op, dtypes, pair, close):
    ours, numpys = BINARY[op]
    (a, x), (b, y) = (pair((4, 5), d, seed=i) for i, d in enumerate(dtypes))
    expected = numpys(a, b)
    close(ours(x, y), expected, expected.dtype)


def test_division_of_integers(pair, close):
    a, x = pair((4, 5), "int32", low=1, high=9)
    close(ops.div(x, x[::-1]), a / a[::-1], "float64")
    close(ops.div(x, 2), a / 2, "float32", 1e-7)
    close(ops.div(2, x), 2 / a, "float32", 1e-7)


@pytest.mark.parametrize("op", ["maximum", "minimum"])
def test_nan_wins(op):
    ours, numpys = BINARY[op]
    a = np.float32([np.nan, 1, 2, np.nan, -np.inf])
    b = np.float32([1, np.nan, 3, np.nan, np.nan])
    x, y = cuda.to_device(a), cuda.to_device(b)
    for got, want in (
        (ours(x, y), numpys(a, b)),
        (ours(x, 1.5), numpys(a, np.float32(1.5))),
        (ours(np.nan, x), numpys(np.float32(np.nan), a)),
    ):
        np.testing.assert_array_equal(got.copy_to_host(), want)


def test_the_exponent_2_is_a_product(launches, pair, close):
    a, x = pair((4, 5))
    (record,) = launches(lambda: close(ops.power(x, 2), a.astype("f8") ** 2))
    assert record.kernel.name == "square_kernel"
    _, count = pair((4,), "int32", low=1, high=5)
    assert ops.power(count, 2.0).dtype == np.float32


@pytest.mark.parametrize("op", BINARY)
def test_in_place(op, pair, close):
    ours, numpys = BINARY[op]
    a, x = pair((33, 9), low=0.3)
    b, y = pair((9,), seed=1, low=0.3)
    expected = numpys(a.astype("f8"), b.astype("f8"))
    assert ours(x, y, out=x) is x
    close(x, expected)
    assert ours(x, 2.0, out=x) is x
    close(x, numpys(expected, 2.0), tolerance=2e-6)


@pytest.mark.parametrize("op", BINARY)
def test_contiguous_requests_need_four_sectors(op, launches, pair):
    ours, _ = BINARY[op]
    _, x = pair((64, 32), low=0.3)
    for call in (lambda: ours(x, x), lambda: ours(x, 3.5), lambda: ours(3.5, x)):
        (record,) = launches(call)
        per_request = {a.sectors_per_request for a in record.counts.accesses}
        assert per_request == {4.0}
        assert record.counts.total("fp64") == 0


def test_counts_are_replayed(launches, pair):
    _, x = pair((64, 32), seed=5)
    first, second = (launches(lambda: ops.maximum(x, x))[0] for _ in range(2))
    assert second.is_replayed
    assert second.counts == first.counts


@pytest.mark.parametrize("sides", ["aa", "as", "sa", "ss"])
def test_where(sides, pair, close):
    condition, c = pair((6, 5), "bool", low=0, high=1.9)
    a, x = pair((6, 5))
    b, y = pair((5,), seed=1)
    left = (a, x) if sides[0] == "a" else (0.25, 0.25)
    right = (b, y) if sides[1] == "a" else (-0.5, -0.5)
    expected = np.where(condition, left[0], right[0])
    close(ops.where(c, left[1], right[1]), expected, "float32")


def test_where_broadcasts_the_condition(pair, close):
    condition, c = pair((4, 1), "bool", low=0, high=1.9)
    a, x = pair((3,))
    close(ops.where(c, x, 0), np.where(condition, a, 0), "float32")


def test_where_does_not_depend_on_data(launches, pair):
    _, c = pair((6, 7), "bool", low=0, high=1.9)
    assert launches(lambda: ops.where(c, 1, 0))
    assert launches(lambda: ops.where(c, 1, 0))[0].is_replayed
