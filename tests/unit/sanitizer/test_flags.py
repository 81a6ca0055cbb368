"""Atomics with fences publish what came before, turn by turn."""

import numpy as np
import pytest

from tinytorch_gpu.executor.lanes import Batch
from tinytorch_gpu.sanitizer.flags import Flags
from tinytorch_gpu.sanitizer.lanes import Touched
from tinytorch_gpu.sanitizer.order import Order
from tinytorch_gpu.sanitizer.shadow import Shadow
from tinytorch_gpu.trace import KernelSource, LaunchStart

FLAG = Shadow(8, 4, is_fresh=False)


class Play:
    """Two blocks of 64 threads, whose accesses, fences and atomics are told by hand."""

    def __init__(self):
        shape = (2, 1, 1), (64, 1, 1)
        self.order = Order()
        self.order.begin(LaunchStart(KernelSource("k", "k.py", 1), *shape, {}))
        self.flags = Flags(self.order)
        self.batch = Batch(*shape, first=0, count=2)

    def access(self):
        return self.order.tick()

    def fence(self, *threads):
        self.flags.fence(np.array(threads))

    def atomic(self, *threads, cell=0):
        touched = Touched(np.full(len(threads), cell), np.array(threads))
        self.flags.atomic(FLAG, touched, self.order.tick())

    def sync_warps(self):
        self.order.sync_warp(self.batch, self.batch.entry, np.uint32(0xFFFFFFFF))

    def sync_warp(self):
        everyone = np.uint32(0xFFFFFFFF)
        self.order.sync_warp(self.batch, self.batch.entry, everyone)

    def barrier(self):
        self.order.release(self.batch, self.batch.entry, "block")

    def is_after(self, time, earlier, now):
        told = np.array([time]), np.array([earlier]), np.array([now])
        return bool(self.flags.orders(*told)[0])


@pytest.fixture
def play():
    return Play()


def test_write_fence_flag_then_flag_read(play):
    time = play.access()
    play.fence(0)
    play.atomic(0)
    assert not play.is_after(time, 0, 64)
    play.atomic(64)
    assert play.is_after(time, 0, 64)
    assert not play.is_after(time, 1, 64)  # another thread's write
    assert not play.is_after(time, 0, 65)  # another thread's read


def test_without_a_fence_nothing_is_out(play):
    time = play.access()
    play.atomic(0)
    play.atomic(64)
    assert not play.is_after(time, 0, 64)


def test_what_came_after_the_fence_is_not_out(play):
    play.fence(0)
    time = play.access()
    play.atomic(0)
    play.atomic(64)
    assert not play.is_after(time, 0, 64)


def test_who_comes_to_the_flag_first_learns_nothing(play):
    time = play.access()
    play.fence(0)
    play.atomic(64)
    play.atomic(0)
    assert not play.is_after(time, 0, 64)


def test_another_flag_tells_nothing(play):
    time = play.access()
    play.fence(0)
    play.atomic(0, cell=0)
    play.atomic(64, cell=1)
    assert not play.is_after(time, 0, 64)


def test_lanes_of_one_atomic_take_turns(play):
    time = play.access()
    play.fence(0, 64)
    play.atomic(0, 64)
    assert play.is_after(time, 0, 64)
    assert not play.is_after(time, 64, 0)


def test_block_mates_are_published_from_their_last_barrier_on(play):
    early = play.access()
    play.barrier()
    late = play.access()
    play.fence(0)
    play.atomic(0)
    play.atomic(64)
    assert play.is_after(early, 7, 64)
    assert not play.is_after(late, 7, 64)
    assert play.is_after(late, 0, 64)


def test_block_mates_learn_at_their_next_barrier(play):
    time = play.access()
    play.fence(0)
    play.atomic(0)
    play.atomic(64)
    assert not play.is_after(time, 0, 100)
    play.barrier()
    assert play.is_after(time, 0, 100)


def test_what_a_later_turn_publishes_was_not_learned(play):
    play.fence(0)
    play.atomic(0)
    play.atomic(64)
    time = play.access()
    play.fence(0)
    play.atomic(0)
    assert not play.is_after(time, 0, 64)
    play.atomic(64)
    assert play.is_after(time, 0, 64)


def test_a_fence_before_a_barrier_publishes_by_any_block_mate(play):
    time = play.access()
    play.fence(7)
    play.barrier()
    play.atomic(0)
    play.atomic(64)
    assert play.is_after(time, 7, 64)
    assert not play.is_after(time, 8, 64)


def test_a_warp_publishes_and_learns_at_syncwarp(play):
    time = play.access()
    play.fence(7)
    play.sync_warps()
    play.atomic(0)
    play.atomic(64)
    assert play.is_after(time, 7, 64)
    assert not play.is_after(time, 7, 65)
    play.sync_warps()
    assert play.is_after(time, 7, 65)
    assert not play.is_after(time, 7, 100)  # another warp


def test_many_may_ask_at_once(play):
    time = play.access()
    play.fence(*range(4))
    play.atomic(*range(4))
    play.atomic(64)
    earlier = np.array([0, 1, 5, 3])
    told = np.full(4, time), earlier, np.full(4, 64)
    assert play.flags.orders(*told).tolist() == [True, True, False, True]


def test_a_fence_of_each_thread_a_barrier_and_one_atomic_publish_for_all(play):
    """Each thread fences its own write; the thread that sets the flag did so too."""
    time = play.access()
    play.fence(*range(64))
    play.barrier()
    play.atomic(0)
    play.atomic(64)
    assert play.is_after(time, 5, 64)
    assert not play.is_after(time, 5, 65)


def test_a_fence_after_the_barrier_does_not_cover_what_mates_wrote_after_it(play):
    play.barrier()
    time = play.access()
    play.fence(0)
    play.atomic(0)
    play.atomic(64)
    assert play.is_after(time, 0, 64)
    assert not play.is_after(time, 5, 64)


def test_a_later_fence_of_the_writer_is_not_the_one_that_was_passed_on(play):
    play.fence(5)
    time = play.access()
    play.barrier()
    play.atomic(0)
    play.fence(5)
    play.atomic(64)
    assert not play.is_after(time, 5, 64)


def test_a_warp_publishes_and_learns_at_its_syncwarp(play):
    time = play.access()
    play.fence(*range(32))
    play.sync_warp()
    play.atomic(0)
    play.atomic(64)
    assert play.is_after(time, 7, 64)
    assert not play.is_after(time, 7, 70)
    assert not play.is_after(time, 40, 64)  # of another warp
    play.sync_warp()
    assert play.is_after(time, 7, 70)


def test_lanes_that_ask_at_once_get_their_own_answers(play):
    time = play.access()
    play.fence(*range(64))
    play.barrier()
    play.atomic(0)
    play.atomic(64)
    earlier = np.arange(16)
    times, now = np.full(16, time), np.full(16, 64)
    assert play.flags.orders(times, earlier, now).all()
    now[::4] = 65  # knows nothing of the flag
    assert (
        play.flags.orders(times, earlier, now).tolist() == [False, True, True, True] * 4
    )


def test_a_fence_of_the_block_publishes_to_no_other_block(play):
    time = play.access()
    play.flags.fence(np.array([0]), "threadfence_block")
    play.atomic(0)
    play.atomic(64)
    assert not play.is_after(time, 0, 64)
