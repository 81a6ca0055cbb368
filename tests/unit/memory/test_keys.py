"""What NumPy takes in brackets and assigns, where device arrays once did not."""

import numpy as np
import pytest

from tinytorch_gpu import cuda

X = np.arange(6, dtype=np.float32).reshape(2, 3)
NONE = np.ones((0, 3), np.float32)


@pytest.mark.parametrize("key", [True, False, np.bool_(True), np.array(True)])
def test_a_bool_is_one_more_axis(key):
    there = cuda.to_device(X)
    assert there[key].shape == X[key].shape
    assert float(there[key].sum()) == X[key].sum()


@pytest.mark.parametrize("key", [True, False])
def test_writing_by_a_bool_writes_all_or_nothing(key):
    there, here = cuda.to_device(X), X.copy()
    there[key], here[key] = 7.0, 7.0
    assert there.tolist() == here.tolist()


@pytest.mark.parametrize("function", [np.any, np.all])
@pytest.mark.parametrize("axis", [None, 0])
def test_truth_of_no_elements(function, axis):
    got = function(cuda.to_device(NONE), axis=axis)
    assert got.tolist() == function(NONE, axis=axis).tolist()
    assert function(cuda.to_device(NONE) > 0, axis=axis).tolist() == got.tolist()


@pytest.mark.parametrize("shape", [(1, 2, 3), (1, 1, 2, 3), (1, 1, 3), (1, 1)])
@pytest.mark.parametrize("is_there", [True, False])
def test_leading_axes_of_one_are_let_go(shape, is_there):
    value = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    there, here = cuda.to_device(X), X.copy()
    there[...] = cuda.to_device(value) if is_there else value
    here[...] = value
    assert there.tolist() == here.tolist()
