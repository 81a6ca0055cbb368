"""im2col against slices; col2im as its transpose."""

import numpy as np
import pytest

from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.im2col import col2im, im2col


def test_columns_are_the_windows(pair, close):
    a, x = pair((2, 3, 5, 6))
    padded = np.pad(a, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 2), (2, 3))
    windows = windows[:, :, ::2, ::3].transpose(0, 1, 4, 5, 2, 3)
    close(im2col(x, (3, 2), (2, 3), 1), windows.reshape(2, 18, -1))


@pytest.mark.parametrize("stride", [1, 2, (3, 1)])
def test_col2im_is_the_transpose_of_im2col(stride, pair):
    a, x = pair((2, 2, 6, 5), "float64")
    columns = im2col(x, 3, stride, 1)
    c, other = pair(columns.shape, "float64")
    back = col2im(other, (6, 5), 3, stride, 1)
    # <im2col(a), c> = <a, col2im(c)> holds for no other linear map than the transpose.
    left, right = (columns.copy_to_host() * c).sum(), (a * back.copy_to_host()).sum()
    assert left == pytest.approx(right, rel=1e-12)


def test_other_columns_are_refused(pair):
    with pytest.raises(ShapeError, match="col2im"):
        col2im(pair((1, 9, 5))[1], (4, 4), 3)
    with pytest.raises(ShapeError, match="im2col"):
        im2col(pair((4, 4))[1], 3)
