"""A shadow keeps who wrote and read each element, by hand-made accesses."""

import numpy as np
import pytest

from tinytorch_gpu.sanitizer.lanes import Touched
from tinytorch_gpu.sanitizer.shadow import BEFORE, LEAST_ROOM, NOBODY, Shadow


class Loose:
    """Nothing is in order; threads of one ten are a block, of one number a warp."""

    def unordered(self, times, earlier, threads):
        return (earlier != NOBODY) & (earlier != threads) & (times >= self.floor)

    def apart(self, one, other):
        distance = np.where(one // 10 == other // 10, 1, 2) - (one == other)
        return np.where(one == NOBODY, -1, distance)

    def __init__(self, floor=0):
        self.floor = floor


def lanes(cells, threads, key=0):
    return Touched(np.array(cells), np.array(threads, np.int32), key)


def kept(shadow, cell):
    """Return (time, thread) of both reads of an element that have a thread."""
    pairs = [
        (int(r.times[0]), int(r.threads[0])) for r in shadow.reads(np.array([cell]))
    ]
    return [pair for pair in pairs if pair[1] != NOBODY]


def read(shadow, time, cells, threads, order=None):
    shadow.read_later(lanes(cells, threads, key=time), 0, time)
    shadow.enter_reads(order or Loose())


def test_fresh_elements_are_counted_down_once_each():
    shadow = Shadow(6, 4, is_fresh=True)
    shadow.write(lanes([1, 1, 4], [0, 1, 2]), 3)  # two lanes meet
    assert shadow.fresh == 4
    shadow.write(lanes([4, 5], [7, 8]), 4)
    assert shadow.fresh == 3
    assert np.flatnonzero(shadow.is_fresh_at(np.arange(6))).tolist() == [0, 2, 3]
    assert shadow.writes(np.array([1, 4])).threads.tolist() == [1, 7]
    assert shadow.writes(np.array([1, 4])).times.tolist() == [3, 4]


def test_memory_from_before_is_not_fresh():
    shadow = Shadow(3, 4, is_fresh=False)
    assert not shadow.is_fresh_at(np.arange(3)).any()
    shadow.write(lanes([0], [5]), 9)
    assert shadow.fresh == 0
    assert shadow.writes(np.array([0, 1])).times.tolist() == [9, BEFORE]


def test_a_copy_from_the_host_writes_elements_and_slices():
    shadow = Shadow(5, 4, is_fresh=True)
    shadow.written_by_host(np.array([0, 3]))
    assert shadow.fresh == 3
    shadow.written_by_host(slice(None))
    assert shadow.fresh == 0
    assert shadow.writes(np.array([3])).threads.tolist() == [NOBODY]


def test_narrower_elements_split_the_history():
    shadow = Shadow(2, 8, is_fresh=True)
    shadow.write(lanes([1], [4]), 2)
    shadow.read_later(lanes([0], [6], key=1), 1, 3)  # reads element 1
    narrow = shadow.cells_of(lanes([5], [9]), 2)  # bytes 10 and 11
    assert narrow.cells.tolist() == [5]
    assert (shadow.size, shadow.granule, shadow.fresh) == (8, 2, 4)
    assert shadow.writes(np.arange(3, 6)).threads.tolist() == [NOBODY, 4, 4]
    shadow.enter_reads(Loose())
    assert [kept(shadow, cell) for cell in (3, 4, 7)] == [[], [(3, 6)], [(3, 6)]]


def test_wider_elements_touch_several_cells():
    shadow = Shadow(8, 2, is_fresh=True)
    wide = shadow.cells_of(lanes([0, 1], [3, 4], key=5), 8)
    assert wide.cells.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert wide.threads.tolist() == [3] * 4 + [4] * 4
    assert wide.key == 5
    assert (shadow.size, shadow.granule) == (8, 2)


def test_reads_wait_until_they_are_entered():
    shadow = Shadow(4, 4, is_fresh=False)
    shadow.read_later(lanes([0, 1], [7, 8], key=1), 2, 5)
    assert shadow.reads(np.array([2])) == ()
    shadow.enter_reads(Loose())
    assert (kept(shadow, 2), kept(shadow, 3)) == ([(5, 7)], [(5, 8)])
    assert kept(shadow, 0) == []


def test_of_equal_reads_the_last_one_counts():
    shadow = Shadow(4, 4, is_fresh=False)
    for time in (3, 4, 9):
        shadow.read_later(lanes([1], [2], key=1), 0, time)
    shadow.enter_reads(Loose())
    assert kept(shadow, 1) == [(9, 2)]


def test_reads_that_are_dropped_leave_nothing():
    shadow = Shadow(4, 4, is_fresh=False)
    shadow.read_later(lanes([1], [2], key=1), 0, 3)
    shadow.drop_reads()
    shadow.enter_reads(Loose())
    assert shadow.reads(np.array([1])) == ()


def test_the_first_and_the_last_lane_of_a_read_are_kept():
    shadow = Shadow(1, 4, is_fresh=False)
    read(shadow, 4, [0] * 5, [1, 2, 11, 21, 22])
    assert kept(shadow, 0) == [(4, 22), (4, 1)]


def test_a_read_in_another_block_stays_beside_the_last():
    shadow = Shadow(1, 4, is_fresh=False)
    read(shadow, 1, [0], [11])
    read(shadow, 2, [0], [3])
    read(shadow, 3, [0], [4])
    assert kept(shadow, 0) == [(3, 4), (1, 11)]


def test_a_read_that_is_in_order_with_the_next_is_forgotten():
    shadow = Shadow(1, 4, is_fresh=False)
    read(shadow, 1, [0], [11])
    read(shadow, 6, [0], [3], Loose(floor=5))
    assert kept(shadow, 0) == [(6, 3)]


def test_a_write_is_kept_among_the_reads_until_it_is_forgotten():
    shadow = Shadow(2, 4, is_fresh=False)
    shadow.write(lanes([0, 1], [1, 2]), 3)
    assert not shadow.has_writes
    shadow.keep_write(lanes([0, 1], [1, 2]), np.array([3, 3]), Loose())
    assert shadow.has_writes
    assert kept(shadow, 1) == [(3, 2)]
    shadow.forget_reads(np.array([1]), lambda times: times == 3)
    assert (kept(shadow, 0), kept(shadow, 1)) == ([(3, 1)], [])


def test_a_lost_write_stands_beside_what_was_read_since():
    shadow = Shadow(3, 4, is_fresh=False)
    shadow.write(lanes([0, 1, 2], [11, 1, 2]), 3)
    read(shadow, 5, [0, 1], [1, 1])
    shadow.keep_lost(lanes([0, 1, 2], [11, 1, 2]), np.array([3, 3, 3]), Loose())
    assert kept(shadow, 0) == [(5, 1), (3, 11)]
    assert kept(shadow, 1) == [(5, 1)]  # the same thread, in order
    assert kept(shadow, 2) == [(3, 2)]


def test_lanes_that_count_up_take_no_memory_while_they_wait():
    shadow = Shadow(1 << 22, 4, is_fresh=False)
    packed = Touched(np.arange(1 << 20) + 5, np.arange(1 << 20, dtype=np.int32), 1)
    shadow.read_later(packed, 0, 1)
    assert not shadow.is_crowded
    shadow.enter_reads(Loose())
    assert kept(shadow, 5 + 77) == [(1, 77)]


@pytest.mark.parametrize("size", [1000, 1 << 20])
def test_many_reads_that_wait_are_a_crowd(size):
    shadow = Shadow(size, 4, is_fresh=False)
    room = max(24 * size, LEAST_ROOM) // 12 - 100  # lanes of 12 bytes
    for time, count in enumerate([room // 2, room // 2, 1000]):
        assert not shadow.is_crowded
        scattered = np.arange(count) * 3 % size
        lanes_of_one = Touched(scattered, np.zeros(count, np.int32), time + 1)
        shadow.read_later(lanes_of_one, 0, time)
    assert shadow.is_crowded
    shadow.drop_reads()
    assert not shadow.is_crowded


def arrays_of(shadow):
    return [*shadow._write, *shadow._read]


def test_what_is_kept_of_an_element_grows_with_what_happens_to_it():
    shadow, sizes = Shadow(1000, 4, is_fresh=False), []
    for time, threads in enumerate([np.arange(1000), np.arange(1000)[::-1]]):
        read(shadow, time, np.arange(1000), threads)
        sizes.append(sum(kept.nbytes for kept in arrays_of(shadow)) // 1000)
    shadow.write(lanes(np.arange(1000), np.arange(1000)), 3)
    sizes.append(sum(kept.nbytes for kept in arrays_of(shadow)) // 1000)
    assert sizes == [8, 16, 24]
