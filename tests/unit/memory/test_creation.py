"""A fresh array is poison, in the order asked for; one that is refused takes nothing."""

import numpy as np
import pytest

from tinytorch_gpu import memory_allocated
from tinytorch_gpu.errors import DtypeError, OutOfMemoryError
from tinytorch_gpu.memory import elements_of, empty
from tinytorch_gpu.runtime import current_device


def test_a_fresh_array_is_poison():
    allocator = current_device().allocator
    assert np.isnan(elements_of(empty(allocator, 3, "float32"))).all()
    assert (elements_of(empty(allocator, (2, 2), "int8")) == 127).all()


def test_fortran_order_is_kept():
    array = empty(current_device().allocator, (2, 3), "float32", order="F")
    assert array.strides == (4, 8)


@pytest.mark.parametrize("shape", [0, (0,), (3, 0), ()])
def test_empty_and_scalar_shapes(shape):
    array = empty(current_device().allocator, shape, "float32")
    assert array.copy_to_host().shape == np.zeros(shape).shape


def test_an_array_that_is_refused_takes_no_memory():
    before = memory_allocated()
    with pytest.raises(DtypeError):
        empty(current_device().allocator, 3, complex)
    with pytest.raises(OutOfMemoryError):
        empty(current_device().allocator, 2**40, "float64")
    assert memory_allocated() == before
