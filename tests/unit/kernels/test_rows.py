"""Views around an axis, and launches of nothing."""

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.kernels.rows import around, launch_flat


def test_around_is_a_view_of_contiguous_arrays_and_a_copy_of_others():
    x = cuda.to_device(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    view = around(x, 1)
    assert view.shape == (2, 3, 4)
    assert view.buffer is x.buffer
    assert around(x, 0, 2).shape == (1, 6, 4)
    turned = around(x.T, 1, 2)
    assert turned.buffer is not x.buffer
    expected = np.arange(24).reshape(2, 3, 4).T.reshape(4, 6, 1)
    np.testing.assert_array_equal(turned.copy_to_host(), expected)


def test_no_elements_are_no_launch(launches):
    assert not launches(lambda: launch_flat(None, (), 0))
