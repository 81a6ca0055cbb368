"""Indices of threads and blocks are made once and cannot be changed."""

import numpy as np
import pytest

from tinytorch_gpu.executor.geometry import block_geometry, block_indices


def test_a_block_of_whole_warps_has_no_padding():
    threads, padded, entry, (x, y, z) = block_geometry((8, 4, 2))
    assert (threads, padded, entry) == (64, 64, None)
    assert (x[0, 37], y[0, 37], z[0, 37]) == (5, 0, 1)  # 37 = 5 + 8 × (0 + 4 × 1)


def test_the_padding_does_not_enter_and_repeats_the_last_thread():
    threads, padded, entry, (x, y, _) = block_geometry((5, 7, 1))
    assert (threads, padded) == (35, 64)
    assert np.flatnonzero(entry[0]).tolist() == list(range(35))
    assert set(x[0, 35:]) == {4}
    assert set(y[0, 35:]) == {6}


def test_some_blocks_of_a_grid():
    x, y, z = block_indices((2, 3, 4), first=6, count=18)
    assert [a.shape for a in (x, y, z)] == [(18, 1)] * 3
    assert (x[5, 0], y[5, 0], z[5, 0]) == (1, 2, 1)  # 11 = 1 + 2 × (2 + 3 × 1)


@pytest.mark.parametrize(
    "index", [*block_geometry((8, 4, 1))[3], *block_indices((4, 2, 1), 0, 8)]
)
def test_what_later_launches_get_cannot_be_changed(index):
    with pytest.raises(ValueError, match="read-only"):
        index[0, 0] = 1
