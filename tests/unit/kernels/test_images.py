"""Launches over more images than one grid holds, and over none."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.images import check_images
from tinytorch_gpu.kernels.pooling import avg_pool2d


def test_more_images_than_a_grid_holds(launches):
    x = cuda.to_device(np.broadcast_to(np.float32([[[[2, 4]]]]), (70_000, 1, 1, 2)))
    records = []
    records += launches(lambda: records.append(avg_pool2d(x, (1, 2))))
    out = records[0].copy_to_host()
    assert out.shape == (70_000, 1, 1, 1)
    assert set(out.ravel()) == {3.0}
    assert len(records) == 3  # the result, and two launches


def test_what_has_not_four_axes_is_refused():
    with pytest.raises(ShapeError, match="conv2d"):
        check_images("conv2d", cuda.device_array((3, 3)))
