"""A batch: geometry of its lanes, merges, branches, lazy expressions, frames."""

import numpy as np
import pytest

from tinytorch_gpu.errors import UninitializedReadError
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.lanes import UNDEFINED
from tinytorch_gpu.trace import Site, SourceLine

SITE = Site(SourceLine("k", "k.py", 1, ""))


@pytest.fixture
def batch():
    return Batch((4, 3, 2), (5, 4, 3), first=7, count=6)


def test_threads_are_padded_to_whole_warps_and_the_padding_is_inactive(batch):
    assert batch.shape == (6, 64)
    assert batch.entry.count == 6 * 60
    assert not batch.entry.full()[:, 60:].any()


@pytest.mark.parametrize(
    ("axis", "stride", "length"), [(0, 1, 5), (1, 5, 4), (2, 20, 3)]
)
def test_thread_indices_have_x_fastest(batch, axis, stride, length):
    index = batch.thread_index(axis)
    assert index.dtype == np.int32
    assert index[0, :60].tolist() == [t // stride % length for t in range(60)]


@pytest.mark.parametrize(
    ("axis", "stride", "length"), [(0, 1, 4), (1, 4, 3), (2, 12, 2)]
)
def test_block_indices_have_x_fastest(batch, axis, stride, length):
    index = batch.block_index(axis)
    assert index.dtype == np.int32
    assert index[:, 0].tolist() == [b // stride % length for b in range(7, 13)]


def test_padding_repeats_the_last_thread_so_that_it_stays_in_bounds(batch):
    last = [batch.thread_index(axis)[0, 63] for axis in range(3)]
    assert last == [4, 3, 2]


def test_what_is_the_same_for_all_lanes_is_a_scalar():
    flat = Batch((1, 1, 1), (64, 1, 1), first=0, count=1)
    for value in (flat.block_index(0), flat.thread_index(1), flat.block_dim(0)):
        assert (value.dtype, np.ndim(value)) == (np.int32, 0)
    assert (flat.block_dim(0), flat.grid_dim(2)) == (64, 1)


@pytest.fixture
def flat():
    return Batch((2, 1, 1), (32, 1, 1), first=0, count=2)


LANE = np.arange(32)[None]


def test_a_merge_keeps_the_other_lanes(flat):
    low = flat.entry.split(LANE < 8)[0]
    merged = flat.merge(low, flat.entry, np.int64(1), np.int64(2))
    assert merged.dtype == np.int64
    assert np.broadcast_to(merged, (2, 32))[1].tolist() == [1] * 8 + [2] * 24


def test_a_merge_of_all_lanes_is_the_new_value_itself(flat):
    new = np.arange(64).reshape(2, 32)
    assert flat.merge(flat.entry, flat.entry, new, np.int64(2)) is new


def test_a_merge_unifies(flat):
    low = flat.entry.split(LANE < 8)[0]
    assert flat.merge(low, flat.entry, np.float32(1), np.int32(2)).dtype == np.float64


def test_tuples_merge_element_by_element(flat):
    low = flat.entry.split(LANE < 8)[0]
    a, b = flat.merge(low, flat.entry, (np.int64(1), np.int64(3)), (np.int64(2),) * 2)
    assert (a.sum(), b.sum()) == (8 + 48, 24 + 48)


def test_the_first_assignment_needs_no_old_value(flat):
    low = flat.entry.split(LANE < 8)[0]
    assert flat.merge(low, flat.entry, np.int64(1), UNDEFINED) == 1


@pytest.mark.parametrize("use", [lambda v: v.dtype, lambda v: v.astype(np.int64)])
def test_reading_what_no_lane_assigned_is_an_error(use):
    with pytest.raises(UninitializedReadError) as caught:
        use(UNDEFINED)
    assert caught.value.fix


def probe(log, value):
    """Return a side of a lazy expression that notes how many lanes evaluate it."""

    def side(mask):
        log.append(mask.count)
        return value

    return side


def test_and_evaluates_its_right_side_for_the_lanes_that_need_it(flat):
    log = []
    found = flat.both(flat.entry, LANE < 8, probe(log, LANE < 4))
    assert log == [16]
    assert np.broadcast_to(found, (2, 32)).sum() == 8


def test_and_does_not_evaluate_for_no_one(flat):
    log = []
    assert not np.any(flat.both(flat.entry, LANE < 0, probe(log, LANE)))
    assert not log


def test_or_evaluates_its_right_side_for_the_lanes_that_need_it(flat):
    log = []
    found = flat.either(flat.entry, LANE < 8, probe(log, LANE > 29))
    assert log == [48]
    assert np.broadcast_to(found, (2, 32)).sum() == 20


def test_choose_evaluates_each_side_for_its_own_lanes(flat):
    yes, no = [], []
    found = flat.choose(
        flat.entry, LANE < 8, probe(yes, np.int64(1)), probe(no, np.int64(2)), SITE
    )
    assert (yes, no) == ([16], [48])
    assert found[0].tolist() == [1] * 8 + [2] * 24


def test_lanes_that_return_from_a_kernel_are_no_longer_alive(flat):
    frame = flat.frame(flat.entry, is_kernel=True)
    low, rest = flat.entry.split(LANE < 8)
    frame.leave(low)
    assert flat.live.count == 48
    assert frame.staying(flat.entry).count == rest.count


def test_lanes_that_return_from_a_device_function_go_on_living(flat):
    frame = flat.frame(flat.entry, is_kernel=False)
    low, rest = flat.entry.split(LANE < 8)
    frame.leave(low, np.int64(5))
    frame.leave(rest, LANE)
    assert flat.live.count == 64
    assert np.broadcast_to(frame.value, (2, 32))[0].tolist() == [5] * 8 + list(
        range(8, 32)
    )


def test_a_part_has_lanes_of_its_own_and_the_shared_memory_of_all(batch):
    part = batch.part(np.arange(64)[None] >= 32)
    assert part.entry.count == part.live.count == 6 * 28
    assert part.shared is batch.shared
    part.shared_bytes += 16
    assert batch.shared_bytes == 16
    part.frame(part.entry, is_kernel=True).leave(part.entry)
    assert (part.live.count, batch.live.count) == (0, 6 * 60)
