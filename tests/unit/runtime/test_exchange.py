"""The CUDA Array Interface: memory is found by address, and only ours is."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import DtypeError, UnsupportedError
from tinytorch_gpu.runtime.exchange import array_from_interface, has_interface


def test_an_array_is_described_and_found_again():
    array = cuda.to_device(np.arange(6).reshape(2, 3))
    assert has_interface(array)
    assert not has_interface(np.zeros(3))
    found = array_from_interface(array.T.__cuda_array_interface__)
    assert found.buffer is array.buffer
    assert found.copy_to_host().tolist() == [[0, 3], [1, 4], [2, 5]]


def test_an_address_after_the_memory_died_is_refused():
    told = cuda.device_array(3).__cuda_array_interface__
    with pytest.raises(UnsupportedError, match=str(told["data"][0])):
        array_from_interface(told)


def test_a_foreign_dtype_is_refused():
    told = cuda.device_array(3).__cuda_array_interface__
    with pytest.raises(DtypeError):
        array_from_interface(told | {"typestr": "<c8"})
