"""masked_fill, dropout, tril and triu against NumPy."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.masked import (
    dropout,
    dropout_backward,
    masked_fill,
    tril,
    triu,
)


@pytest.mark.parametrize("shape", [(3, 4), (4,), (3, 1), ()], ids=str)
@pytest.mark.parametrize("dtype", ["bool", "float32"])
def test_masked_fill_and_dropout(dtype, shape, pair, close):
    a, x = pair((3, 4), order=(1, 0))
    m = np.random.default_rng(1).random(shape) < 0.5
    mask = cuda.to_device(m.astype(dtype))
    close(masked_fill(x, mask, -np.inf), np.where(m, -np.inf, a), "f4")
    close(dropout(x, mask, 0.2), np.where(m, a.astype("f8") / 0.8, 0), "f4")
    close(dropout_backward(x, mask, 1.0), np.zeros((3, 4)), "f4")


def test_masked_fill_in_place(pair, close):
    a, x = pair((3, 4))
    assert masked_fill(x, x > 0, 7, out=x) is x
    close(x, np.where(a > 0, 7, a))


@pytest.mark.parametrize("diagonal", [-9, -1, 0, 2, 9])
@pytest.mark.parametrize("shape", [(3, 5), (2, 4, 4), (0, 3), (2, 0, 3)], ids=str)
def test_triangles(shape, diagonal, pair, close):
    a, x = pair(shape)
    close(tril(x, diagonal), np.tril(a, diagonal), "f4", 0)
    close(triu(x, diagonal), np.triu(a, diagonal), "f4", 0)


def test_a_triangle_of_views_and_of_integers(pair, close):
    a, x = pair((4, 6), "int64", order=(1, 0))
    close(triu(x[:, ::2]), np.triu(a[:, ::2]), "i8", 0)


def test_shapes_are_refused(pair):
    (_, x), (_, mask) = pair((3,)), pair((2, 3))
    for attempt in (lambda: masked_fill(x, mask, 0), lambda: dropout(x, mask)):
        with pytest.raises(ShapeError, match="mask"):
            attempt()
    with pytest.raises(ShapeError, match="tril"):
        tril(x)


@pytest.mark.parametrize("shape", [(3, 5), (40, 9)], ids=str)
def test_nothing_for_the_sanitizer_to_name(shape, clean, pair):
    _, x = pair(shape)
    clean(lambda: (masked_fill(x, x > 0, 1), dropout(x, x), tril(x), triu(x, 1)))
