"""Embedding against NumPy's fancy indexing and np.add.at."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import OutOfBoundsError, ShapeError
from tinytorch_gpu.kernels.embedding import embedding, embedding_backward


@pytest.mark.parametrize("dtype", ["float32", "int64", "int32"])
@pytest.mark.parametrize("shape", [(), (1,), (8, 32), (0,), (2, 3, 4)], ids=str)
def test_rows_and_their_gradients(shape, dtype, pair, close):
    w, weight = pair((65, 32))
    ids = np.random.default_rng(0).integers(0, 65, shape)
    indices = cuda.to_device(ids.astype(dtype))
    out = embedding(weight, indices)
    close(out, w[ids], "f4", 0)
    g, grad = pair(out.shape)
    expected = np.zeros((65, 32))
    np.add.at(expected, ids, g.astype("f8"))
    close(embedding_backward(grad, indices, 65), expected, "f4", 1e-5)


@pytest.mark.parametrize(
    ("indices", "told"),
    [
        (np.int64([0, 4]), "4"),
        (np.int64([[0, -1]]), "-1"),
        (np.float32([0, -1]), "-1"),
        (np.float32([0, 1.5]), "1.5"),
        (np.float32([0, np.nan]), "nan"),
        (np.int32([0, -4]), "-4"),
    ],
)
def test_an_index_that_is_no_row_is_told(indices, told, pair):
    _, weight = pair((4, 2))
    grad = pair((*indices.shape, 2))[1]
    there = cuda.to_device(indices)
    for op in (
        lambda: embedding(weight, there),
        lambda: embedding_backward(grad, there, 4),
    ):
        with pytest.raises(OutOfBoundsError, match=f": {told} is none of 4 rows") as e:
            op()
        assert e.value.place == 1
        assert "embedding" in e.value.kernel
        assert "thread" in e.value.where


@pytest.mark.parametrize("width", [3, 40])
def test_nothing_for_the_sanitizer_to_name(width, clean, pair):
    _, weight = pair((5, width))
    indices = cuda.to_device(np.int64([0, 4, 4, 4, 1]))
    clean(lambda: embedding_backward(embedding(weight, indices), indices, 5))


def test_other_shapes_are_refused(pair):
    indices = cuda.to_device(np.int64([0]))
    with pytest.raises(ShapeError, match="embedding"):
        embedding(indices, indices)
    with pytest.raises(ShapeError, match="grad"):
        embedding_backward(pair((2, 3))[1], indices, 4)


def test_rows_beyond_what_float32_counts_to_are_rows():
    far = 2**24 + 1  # no float32
    weight = cuda.to_device(np.zeros((far + 1, 1), np.float32))
    index = cuda.to_device(np.array([far, 3]))
    assert embedding(weight, index).copy_to_host().tolist() == [[0.0], [0.0]]
