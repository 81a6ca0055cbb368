"""Arrays that are told by shape and dtype."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu.errors import DtypeError, ShapeError
from tinytorch_gpu.profiler.stand_in import kernel_array_of, like


def test_shape_and_dtype():
    assert like(5).shape == (5,)
    assert like((2, 3), "int8").dtype == np.int8


def test_a_dtype_that_devices_do_not_hold_is_refused():
    with pytest.raises(DtypeError):
        like(3, "complex64")


def test_a_kernel_sees_it_as_an_array_of_its_own():
    first, second = (kernel_array_of(np.zeros((2, 3))) for _ in range(2))
    assert (first.lengths, first.steps) == ((2, 3), (3, 1))
    assert first.address != second.address
    assert first.address % 512 == 0


@pytest.mark.parametrize(
    "shape", [-1, (3, -1), "a", 1.5, True, None, 10**13, (2**20,) * 3]
)
def test_shapes_of_no_array_are_refused(shape):
    with pytest.raises(ShapeError) as caught:
        like(shape)
    assert all((caught.value.where, caught.value.why, caught.value.fix))


def test_large_stand_ins_lie_apart():
    first, second = (kernel_array_of(np.zeros(1, np.float32)) for _ in range(2))
    assert abs(first.buffer.address - second.buffer.address) >= 2**40
