"""A grid with a grid barrier must be resident as a whole."""

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost.cooperative import (
    check_cooperative_grid,
    max_cooperative_blocks,
)
from tinytorch_gpu.errors import LaunchConfigError

T4 = find_gpu("t4")  # 40 SMs; each holds 1,024 threads, 16 blocks, 64 KiB shared


@pytest.mark.parametrize(
    ("threads", "shared_bytes", "per_sm"),
    [
        (1024, 0, 1),
        (256, 0, 4),
        (32, 0, 16),
        (33, 0, 16),
        (256, 20 * 1024, 3),
        (256, 48 * 1024, 1),
    ],
)
def test_blocks_that_fit_on_all_sms(threads, shared_bytes, per_sm):
    assert max_cooperative_blocks(T4, threads, shared_bytes) == 40 * per_sm


def test_a_grid_that_fits_exactly_is_accepted():
    check_cooperative_grid(T4, 160, 256, 0, "k (k.py:1)")


def test_one_block_more_is_refused_with_both_numbers():
    with pytest.raises(LaunchConfigError) as caught:
        check_cooperative_grid(T4, 161, 256, 0, "k (k.py:1)")
    error = caught.value
    assert (error.blocks, error.limit) == (161, 160)
    assert "161 > 160" in error.why
    assert "at most 160 blocks" in error.fix
    assert max(map(len, str(error).splitlines())) <= 91
