"""Indexing ops against NumPy; atomics count every index."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import OutOfBoundsError, ShapeError
from tinytorch_gpu.kernels.gather import (
    gather,
    index,
    index_put,
    index_select,
    scatter_add,
)

I = np.array([[1, -1, 0], [3, 2, -4]])


def on_device(*arrays):
    return tuple(None if a is None else cuda.to_device(a) for a in arrays)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_index_select(dim, order, pair, close):
    a, x = pair((4, 5, 4), order=order)
    close(index_select(x, dim, *on_device(I)), np.take(a, I, dim), "f4", 0)


@pytest.mark.parametrize(
    "indices",
    [(I,), (None, I), (I, None, I), (None, I, I[0]), (I, I, I), (I, I[0], None)],
)
def test_index_is_numpys(indices, pair, close):
    a, x = pair((4, 5, 4), order=(2, 0, 1))
    key = tuple(slice(None) if i is None else i for i in indices)
    close(index(x, on_device(*indices)), a[key], "f4", 0)


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_index_put_reaches_views(order, accumulate, pair, close):
    a, x = pair((4, 6, 5), order=order)
    a = a.copy()
    rows = np.array([0, 3, -5])
    v, values = pair((4, 3, 2), seed=1)
    index_put(x[:, :, 1::2], (None, *on_device(rows)), values, accumulate)
    if accumulate:
        a[:, rows, 1::2] += v
    else:
        a[:, rows, 1::2] = v
    close(x, a, "f4", 0)


def test_an_index_that_stands_twice_counts_twice(close):
    x = cuda.to_device(np.zeros(3, np.float32))
    twice = cuda.to_device(np.int32([2, 2, 0]))
    index_put(x, (twice,), cuda.to_device(np.float32(1)), accumulate=True)
    close(x, [1, 0, 2])


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_gather_and_scatter_add(dim, pair, close):
    a, x = pair((4, 5, 6))
    lengths = [4, 5, 6]
    lengths[dim] = 9
    places = np.random.default_rng(0).integers(0, x.shape[dim], lengths)
    found = gather(x, dim, *on_device(places))
    close(found, np.take_along_axis(a, places, dim), "f4", 0)
    expected = a.astype("f8")
    at = list(np.ogrid[tuple(slice(n) for n in lengths)])
    at[dim] = places
    np.add.at(expected, tuple(at), found.copy_to_host())
    close(scatter_add(x, dim, *on_device(places), found), expected, "f4", 1e-5)
    close(x, a, "f4", 0)  # it is not changed


def test_gather_of_fewer_rows(pair, close):
    a, x = pair((4, 5))
    places = np.array([[4], [0]])
    close(gather(x, 1, *on_device(places)), np.take_along_axis(a[:2], places, 1))


@pytest.mark.parametrize("wrong", [4, -5])
def test_an_index_that_is_no_place_is_a_fault(wrong, pair):
    _, x = pair((4, 3))
    (places,) = on_device(np.array([0, wrong]))
    zeros = cuda.to_device(np.array([0, 0]))
    for attempt in (
        lambda: index(x, (places,)),
        lambda: index(x, (places, zeros)),
        lambda: index(x, (zeros, places)),
        lambda: index_put(x, (places,), cuda.to_device(np.float32(1))),
        lambda: index_put(x, (places,), cuda.to_device(np.float32(1)), accumulate=True),
    ):
        with pytest.raises(OutOfBoundsError):
            attempt()


def test_nothing_to_find(pair):
    _, x = pair((4, 3))
    none = cuda.device_array((0,), np.int64)
    assert index(x, (none,)).shape == (0, 3)
    assert index_put(x, (none,), cuda.to_device(np.float32(1))) is x


@pytest.mark.parametrize("shape", [(4, 3), (70, 5)], ids=str)
def test_nothing_for_the_sanitizer_to_name(shape, clean, pair):
    _, x = pair(shape)
    rows, columns = on_device(np.array([0, 3, 3, 1]), np.array([-1, 0, 0, 2]))
    one = cuda.to_device(np.float32(1))
    clean(lambda: index(x, (rows, columns)))
    clean(lambda: index_put(x, (rows, columns), one, accumulate=True))
    clean(lambda: index_put(x, (columns[:1],), one))
    wide = rows.reshape(-1, 1).broadcast_to((4, shape[1]))
    clean(lambda: gather(x, 0, wide))
    clean(lambda: scatter_add(x, 0, wide, wide.astype(x.dtype)))


def test_what_does_not_fit_is_refused(pair):
    _, x = pair((4, 3))
    (rows,) = on_device(np.array([0, 1]))
    with pytest.raises(ShapeError, match="axes"):
        index(x, (rows, rows, rows))
    with pytest.raises(ShapeError, match="axes"):
        index(x, (None,))
    with pytest.raises(ShapeError, match="broadcast"):
        index(x, (rows, cuda.to_device(np.array([0, 1, 2]))))
    with pytest.raises(ShapeError, match="gather"):
        gather(x, 0, rows)
    with pytest.raises(ShapeError, match="scatter_add"):
        scatter_add(x, 0, rows.reshape(2, 1), x)
