"""Which blocks and warps a trace keeps."""

import numpy as np

from tinytorch_gpu.trace import Selection
from tinytorch_gpu.trace.selection import EVERYTHING


def test_everything():
    assert EVERYTHING.block_numbers((4, 1, 1)) is None
    assert EVERYTHING.thread_numbers(64) is None


def test_blocks_by_number_and_place_in_order_and_once():
    chosen = Selection(blocks=((1, 2, 0), 3, 9, 3))  # (1, 2, 0) of 4 x 3 is number 9
    assert chosen.block_numbers((4, 3, 1)).tolist() == [3, 9]


def test_blocks_that_a_grid_does_not_have_are_left_out():
    chosen = Selection(blocks=((0, 1, 0), 3, 100))
    assert chosen.block_numbers((4, 1, 1)).tolist() == [3]


def test_threads_of_warps():
    chosen = Selection(warps=(1, 5))
    assert chosen.thread_numbers(96).tolist() == list(range(32, 64))
    assert chosen.thread_numbers(32).tolist() == []


def test_a_sample_is_drawn_by_seed():
    draws = [Selection(sample=5, seed=s).block_numbers((1000, 1, 1)) for s in (0, 0, 1)]
    assert draws[0].tolist() == draws[1].tolist() != draws[2].tolist()
    assert (np.diff(draws[0]) > 0).all()
    assert Selection(sample=5).block_numbers((5, 1, 1)) is None
