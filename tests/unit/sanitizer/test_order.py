"""Which accesses are in order, of launches and barriers made by hand."""

import numpy as np
import pytest

from tinytorch_gpu.executor.lanes import Batch
from tinytorch_gpu.executor.mask import Mask
from tinytorch_gpu.sanitizer.order import Order
from tinytorch_gpu.sanitizer.shadow import NOBODY
from tinytorch_gpu.trace import KernelSource, LaunchStart, Stamp

SOURCE = KernelSource("k", "k.py", 1)
BLOCKS, THREADS = 2, 64


def start(stamp=None, blocks=BLOCKS, threads=THREADS):
    shape = (blocks, 1, 1), (threads, 1, 1)
    return LaunchStart(SOURCE, *shape, {}, stamp or Stamp(0, 1))


@pytest.fixture
def order():
    made = Order()
    made.begin(start())
    return made


def batch(first=0, count=BLOCKS, threads=THREADS):
    return Batch((BLOCKS, 1, 1), (threads, 1, 1), first=first, count=count)


def everyone(of):
    return of.entry


def loose(order, time, earlier, now):
    return bool(order.unordered(*(np.array([n]) for n in (time, earlier, now)))[0])


def test_times_count_accesses(order):
    assert [order.tick() for _ in range(3)] == [0, 1, 2]


def test_only_the_same_thread_is_in_order_without_a_barrier(order):
    time = order.tick()
    assert not loose(order, time, 5, 5)
    assert loose(order, time, 5, 6)
    assert loose(order, time, 5, 70)
    assert not loose(order, time, NOBODY, 6)


def test_a_barrier_orders_its_block(order):
    time = order.tick()
    order.release(batch(), everyone(batch()), "block")
    assert not loose(order, time, 5, 60)
    assert loose(order, time, 5, 64)  # the other block
    assert loose(order, order.tick(), 5, 60)  # after it


def test_a_barrier_of_one_block_leaves_the_other_alone(order):
    time = order.tick()
    rows = Mask(np.array([[False], [True]]), (2, THREADS))
    order.release(batch(), rows, "count")
    assert loose(order, time, 5, 60)
    assert not loose(order, time, 70, 100)
    assert order.barrier_of(np.array([3, 64])).tolist() == [-1, 1]


def test_a_grid_barrier_orders_all(order):
    time = order.tick()
    order.release(batch(), everyone(batch()), "grid")
    assert not loose(order, time, 5, 100)
    assert order.floor == order.now


def test_shared_memory_is_behind_a_floor_when_all_blocks_passed(order):
    of = batch()
    order.tick()
    order.release(of, Mask(np.array([[False], [True]]), of.shape), "block")
    assert order.floor_of(of, "shared") == 0
    order.release(of, everyone(of), "block")
    assert (order.floor_of(of, "shared"), order.floor_of(of, "global")) == (1, 0)
    assert order.floor_of(batch(), "shared") == 0  # other blocks, other memory


def test_syncwarp_orders_one_warp(order):
    time, of = order.tick(), batch()
    low = of.entry.split(np.arange(THREADS)[None] < 32)[0]
    order.sync_warp(of, low, np.uint32(0xFFFFFFFF))
    assert not loose(order, time, 5, 31)
    assert loose(order, time, 40, 41)  # a warp that did not call it
    assert loose(order, time, 5, 64)


def test_syncwarp_orders_the_lanes_that_its_mask_names(order):
    time, of = order.tick(), batch()
    few = of.entry.split(np.arange(THREADS)[None] % 32 < 4)[0]
    order.sync_warp(of, few, np.uint32(0b1111))
    assert not loose(order, time, 0, 3)
    assert loose(order, time, 0, 4)
    assert loose(order, time, 4, 0)
    assert not loose(order, time, 64, 67)


def test_each_warp_may_have_its_own_mask(order):
    time, of = order.tick(), batch(count=1)
    half = np.arange(THREADS)[None] % 32 < 16
    members = np.array([[0xFFFF], [0xFFFFFFFF]], np.uint32)
    order.sync_warp(of, of.entry.split(half | (np.arange(THREADS) >= 32))[0], members)
    assert not loose(order, time, 0, 15)
    assert loose(order, time, 0, 16)
    assert not loose(order, time, 32, 63)


def test_a_lane_that_returned_counts_only_if_it_is_named(order):
    time, of = order.tick(), batch()
    of.live = of.entry.split(np.arange(THREADS)[None] % 32 > 0)[0]
    order.sync_warp(of, of.live, np.uint32(0xFFFFFFFE))
    assert not loose(order, time, 1, 2)
    assert loose(order, time, 0, 2)


def test_a_short_warp_is_whole_without_the_lanes_it_lacks():
    order, of = Order(), batch(threads=40)
    order.begin(start(threads=40))
    time = order.tick()
    low = of.entry.split(np.arange(THREADS)[None] >= 32)[0]
    order.sync_warp(of, low, np.uint32(0xFF))  # the second warp has 8 lanes
    assert not loose(order, time, 32, 39)
    assert order._warp_floor.tolist() == [-1, time + 1, -1, time + 1]


def test_a_later_launch_is_in_order():
    order = Order()
    order.begin(start(Stamp(0, 1)))
    time = order.tick()
    order.end()
    order.begin(start(Stamp(0, 2, {0: 1})))
    assert (order.floor, order.start) == (1, 1)
    assert not loose(order, time, 5, 5)
    assert not loose(order, time, 5, 6)


def test_a_launch_of_another_stream_is_not_unless_it_is_over():
    order = Order()
    order.begin(start(Stamp(7, 1)))
    time = order.tick()
    order.end()
    order.begin(start(Stamp(8, 1)))
    assert order.floor == 0
    assert loose(order, time, 5, 5)  # the same number is another thread
    order.release(batch(), everyone(batch()), "block")
    order.release(batch(), everyone(batch()), "grid")
    assert loose(order, time, 5, 5)
    order.end()
    order.begin(start(Stamp(8, 2, {8: 1, 7: 1})))
    assert not loose(order, time, 5, 6)


def test_of_three_streams_only_the_one_that_was_waited_for_is_in_order():
    order, times = Order(), []
    for stream in (7, 8):
        order.begin(start(Stamp(stream, 1)))
        times.append(order.tick())
        order.end()
    order.begin(start(Stamp(9, 1, {7: 1})))
    assert [loose(order, time, 5, 6) for time in times] == [False, True]


def test_how_far_apart_threads_are(order):
    one = np.array([0, 0, 0, NOBODY, 63])
    other = np.array([31, 32, 64, 0, 64])
    assert order.apart(one, other).tolist() == [0, 1, 2, -1, 2]
