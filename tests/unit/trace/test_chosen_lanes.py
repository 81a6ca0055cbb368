"""What is picked out of a batch, and that it is no larger than it has to be."""

import numpy as np

from tinytorch_gpu.executor.lanes import Batch
from tinytorch_gpu.executor.mask import Mask
from tinytorch_gpu.trace import Selection
from tinytorch_gpu.trace.chosen_lanes import ChosenLanes
from tinytorch_gpu.trace.selection import EVERYTHING


def chosen(selection=EVERYTHING, threads=96):
    """Blocks 10 to 13 of 20."""
    batch = Batch((20, 1, 1), (threads, 1, 1), first=10, count=4)
    return batch, ChosenLanes(batch, selection, selection.block_numbers(batch.grid))


def test_rows_and_columns_of_the_chosen_lanes():
    _, lanes = chosen(Selection(blocks=(11, 13, 19), warps=(0, 2)))
    assert lanes.where.blocks.tolist() == [11, 13]
    assert lanes.where.threads.tolist() == [*range(32), *range(64, 96)]
    whole = np.arange(4 * 96).reshape(4, 96)
    assert lanes.of(whole).tolist() == whole[[1, 3]][:, lanes.where.threads].tolist()
    assert lanes.of(whole[:, :1]).tolist() == [[96], [288]]
    assert lanes.of(whole[:1]).tolist() == [lanes.where.threads.tolist()]
    assert lanes.of(np.int64(5)) == 5


def test_a_batch_without_a_chosen_lane_is_empty():
    assert chosen(Selection(blocks=(3,)))[1].is_empty
    assert chosen(Selection(warps=(3,)))[1].is_empty
    assert not chosen(Selection(warps=(2,)))[1].is_empty


def test_columns_are_kept_as_they_are_if_that_costs_nothing():
    lanes = chosen()[1]
    column = np.zeros((4, 96))
    assert lanes.of(column) is column


def test_repeated_rows_and_larger_arrays_behind_are_not_kept():
    lanes = chosen()[1]
    row = np.arange(96.0)
    assert lanes.of(np.broadcast_to(row, (4, 96))).shape == (1, 96)
    assert lanes.of(np.broadcast_to(np.ones((4, 1)), (4, 96))).shape == (4, 1)
    large = np.arange(4 * 960).reshape(4, 960)
    part = lanes.of(large[:, :96])
    assert part.base is None
    assert (part == large[:, :96]).all()


def test_masks_are_bits_and_none_for_all():
    batch, lanes = chosen(threads=70)
    assert lanes.bits(batch.entry) is None
    low = batch.entry.split(np.arange(96)[None] < 3)[0]
    assert lanes.bits(low).tolist() == [[0b11100000, *[0] * 11]]
    assert lanes.bits(low) is lanes.bits(low)
    two_blocks = Mask(np.array([[True], [False], [True], [False]]), (4, 96))
    assert lanes.bits(two_blocks).sum(axis=1).tolist() == [255 * 12, 0, 255 * 12, 0]
