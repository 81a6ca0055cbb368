"""Pinned, mapped and managed host arrays: NumPy arrays that kernels take."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.runtime.pinned import is_pinned

MAKERS = [cuda.pinned_array, cuda.mapped_array, cuda.managed_array]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("given", "strides"),
    [
        ({"shape": 3}, (8,)),
        ({"shape": (2, 3), "dtype": np.float32}, (12, 4)),
        ({"shape": (2, 3), "dtype": cuda.int16, "order": "F"}, (2, 4)),
        ({"shape": (2, 3), "dtype": np.int8, "strides": (1, 4)}, (1, 4)),
        ({"shape": (0, 3), "dtype": np.int8}, (3, 1)),
    ],
)
def test_a_host_array_of_any_layout(make, given, strides):
    array = make(**given)
    assert type(array) is np.ndarray
    assert array.strides == strides
    array[...] = 7
    assert (array == 7).all()
    assert is_pinned(array)


@pytest.mark.parametrize("make", [cuda.pinned_array_like, cuda.mapped_array_like])
def test_like_another_array(make):
    host = np.zeros((2, 3, 4), np.int16).transpose(1, 0, 2)[:, :, ::2]
    assert make(host).strides == np.empty_like(host).strides
    assert make(cuda.device_array(4, np.int8)).dtype == np.int8


@pytest.mark.parametrize("make", MAKERS)
def test_a_kernel_reads_and_writes_it(make):
    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        x[i] += x[i]

    array = make(3, np.int32)
    array[:] = [1, 2, 3]
    double[1, 3](array)
    assert array.tolist() == [2, 4, 6]


@pytest.mark.parametrize("shape", [-1, 2.5, (2, "3")])
def test_what_is_no_shape_is_refused(shape):
    with pytest.raises(ValueError, match="shape"):
        cuda.pinned_array(shape)
