"""Grid and block: read as x, y, z, refused outside the limits of the GPU."""

import numpy as np
import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.errors import KernelTypeError, LaunchConfigError
from tinytorch_gpu.runtime.dimensions import read_dimensions, read_launch
from tinytorch_gpu.trace import KernelSource

KERNEL = KernelSource("k", "file.py", 3)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (5, (5, 1, 1)),
        ((5,), (5, 1, 1)),
        ([5, 6], (5, 6, 1)),
        ((5, 6, 7), (5, 6, 7)),
        (np.int16(5), (5, 1, 1)),
    ],
)
def test_lengths_are_filled_up_with_ones(given, read):
    assert read_dimensions(given, "grid", KERNEL) == read


@pytest.mark.parametrize("given", [1.0, "1", None, (1, 2.5), True, np.float32(3)])
def test_what_is_no_integer_is_a_type_error(given):
    with pytest.raises(KernelTypeError, match="block") as caught:
        read_dimensions(given, "block", KERNEL)
    assert "//" in caught.value.fix


@pytest.mark.parametrize("given", [(), (1, 1, 1, 1)])
def test_another_number_of_axes_is_a_value_error(given):
    with pytest.raises(LaunchConfigError, match="one to three"):
        read_dimensions(given, "grid", KERNEL)


LIMITS = [
    (0, 1, "grid x is 0"),
    ((1, 65_536), 1, "grid y is 65536"),
    (2**31, 1, "grid x"),
    (1, -3, "block x is -3"),
    (1, (1, 1, 65), "block z is 65"),
    (1, 1025, "block x is 1025"),
    (1, (32, 33), "a block of 1056 threads"),
]


@pytest.mark.parametrize(("grid", "block", "what"), LIMITS)
def test_a_length_outside_the_limits_is_refused(grid, block, what):
    with pytest.raises(LaunchConfigError, match=what):
        read_launch(grid, block, KERNEL, find_gpu("t4"))


def test_the_limits_themselves_are_allowed():
    grid, block = (2**31 - 1, 65_535, 65_535), (4, 4, 64)
    assert read_launch(grid, block, KERNEL, find_gpu("t4")) == (grid, block)
