"""Which launches are in order, by streams, events and what the host waited for."""

import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.runtime.order import Point, WorkOrder
from tinytorch_gpu.runtime.stream import new_handle
from tinytorch_gpu.runtime.watching import watching
from tinytorch_gpu.trace import Recorder


def test_launches_of_one_stream_are_in_order():
    order = WorkOrder()
    first, second = order.launch(7), order.launch(7)
    assert second.is_after(first)
    assert not first.is_after(second)


def test_launches_of_two_streams_are_not():
    order = WorkOrder()
    first, second = order.launch(7), order.launch(8)
    assert not second.is_after(first)
    assert not first.is_after(second)


@pytest.mark.parametrize("default", [0, 1])
def test_the_default_stream_waits_for_all_and_all_for_it(default):
    order = WorkOrder()
    before = order.launch(7)
    between = order.launch(default)
    after = order.launch(8)
    assert between.is_after(before)
    assert after.is_after(between)
    assert after.is_after(before)


def test_an_event_orders_what_was_issued_before_it_was_recorded():
    order = WorkOrder()
    before = order.launch(7)
    event = order.record(7)
    too_late = order.launch(7)
    order.wait(8, event)
    after = order.launch(8)
    assert after.is_after(before)
    assert not after.is_after(too_late)


def test_an_event_of_the_default_stream_holds_what_all_streams_did():
    order = WorkOrder()
    before = order.launch(7)
    order.wait(8, order.record(0))
    assert order.launch(8).is_after(before)


def test_order_passes_from_stream_to_stream():
    order = WorkOrder()
    first = order.launch(7)
    order.wait(8, order.record(7))
    order.launch(8)
    order.wait(9, order.record(8))
    assert order.launch(9).is_after(first)


def test_the_host_waits_for_one_stream_for_an_event_or_for_all():
    order = WorkOrder()
    seven, eight = order.launch(7), order.launch(8)
    order.synchronize(7)
    ninth = order.launch(9)
    assert ninth.is_after(seven)
    assert not ninth.is_after(eight)
    order.reach(order.record(8))
    assert order.launch(10).is_after(eight)
    last = order.launch(7)
    order.synchronize()
    assert order.launch(9).is_after(last)


def test_the_default_stream_leaves_non_blocking_streams_be():
    order, side = WorkOrder(), new_handle(is_blocking=False)
    aside = order.launch(side)
    default = order.launch(0)
    assert not default.is_after(aside)
    assert not order.launch(side).is_after(default)
    order.wait(side, order.record(0))
    assert order.launch(side).is_after(default)


def test_an_event_of_a_blocking_stream_comes_after_the_default_streams_work():
    order = WorkOrder()
    default = order.launch(0)
    side = new_handle(is_blocking=False)
    order.wait(side, order.record(7))
    assert order.launch(side).is_after(default)


def test_a_kept_point_does_not_move_with_its_stream():
    order = WorkOrder()
    order.next_point(7).ready_ns = 5.0
    kept = order.record(7)
    order.next_point(7).ready_ns = 9.0
    order.launch(7)
    assert kept == Point({}, 5.0)
    order.restart_clock()
    assert order.next_point(7) == Point({7: 1}, 0.0)


class Stamps(Recorder):
    def __init__(self):
        self.seen, self.ended = [], []

    def begin(self, launch):
        self.seen.append(launch.stamp)

    def end(self, counts, error):
        self.ended.append((counts, error))


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    x[i] += 1


def stamps_of(work):
    recorder = Stamps()
    with watching(recorder):
        work(cuda.device_array(32, "int32"))
    return recorder.seen


def test_launches_carry_their_stream_and_a_watcher_hears_of_it():
    one, two, event = cuda.stream(), cuda.stream(), cuda.event()

    def work(x):
        add_one[1, 32, one](x)
        add_one[1, 32, two](x)
        event.record(two)
        event.wait(one)
        add_one[1, 32, one](x)

    first, second, third = stamps_of(work)
    assert not second.is_after(first)
    assert third.is_after(second)


@pytest.mark.parametrize(
    "wait",
    [
        lambda one, _x: one.synchronize(),
        lambda _one, _x: cuda.synchronize(),
        lambda _one, x: x.copy_to_host(),
    ],
)
def test_what_the_host_waits_for_is_over(wait):
    one, two = cuda.stream(), cuda.stream()

    def work(x):
        add_one[1, 32, one](x)
        wait(one, x)
        add_one[1, 32, two](x)

    first, second = stamps_of(work)
    assert second.is_after(first)


def test_a_copy_that_the_host_does_not_wait_for_orders_nothing_for_the_host():
    one, two = cuda.stream(), cuda.stream()
    host = cuda.pinned_array(32, "int32")

    def work(x):
        add_one[1, 32, one](x)
        x.copy_to_host(host, stream=one)
        add_one[1, 32, two](x)
        one.synchronize()
        add_one[1, 32, two](x)

    first, too_early, third = stamps_of(work)
    assert not too_early.is_after(first)
    assert third.is_after(first)


def test_a_watcher_hears_how_each_launch_ended():
    recorder = Stamps()
    x = cuda.device_array(16, "int32")
    with watching(recorder):
        add_one[1, 16](x)
        with pytest.raises(IndexError):
            add_one[1, 32](x)
    (counts, none), (nothing, error) = recorder.ended
    assert (counts.requests, none, nothing) == (2, None, None)
    assert error.threads[0] == (16, 0, 0)


def test_a_replayed_launch_is_watched_too():
    x = cuda.device_array(32, "int32")
    add_one[1, 32](x)
    recorder = Stamps()
    with watching(recorder):
        add_one[1, 32](x)
    assert len(recorder.seen) == 1
    assert recorder.ended[0][0].requests == 2


@pytest.mark.parametrize("stream", [0, 1, 7, 8, 9])
def test_seeing_what_a_stream_waits_for_moves_no_point(stream):
    def points(*, is_seen):
        order = WorkOrder()
        order.next_point(7).ready_ns = 100.0
        order.launch(8)
        if is_seen:
            seen = order.seen(stream)
            seen.take_over(Point({7: 5, 8: 5}, 900.0))
        return [order.next_point(other) for other in (8, 7, 9)]

    assert points(is_seen=True) == points(is_seen=False)


def test_what_is_seen_is_what_the_next_work_waits_for():
    for stream in (0, 1, 7, 8):
        order = WorkOrder()
        order.next_point(7).ready_ns = 100.0
        order.launch(8)
        assert order.seen(stream) == order.next_point(stream)
