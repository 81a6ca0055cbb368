"""Timelines of streams against schedules worked out by hand.

The toy GPU: issuing costs the host 1 µs; a pinned copy takes 1 µs + bytes at 2 GB/s, a
pageable one 1 µs + bytes at 1 GB/s; synchronising costs nothing by itself. So a pinned
copy of 6000 B takes 4 µs, and of pageable memory 7 µs. All numbers below are µs.
"""

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import KernelTime
from tinytorch_gpu.runtime import Timeline
from tinytorch_gpu.runtime.order import NON_BLOCKING
from tinytorch_gpu.trace import KernelSource

TOY = find_gpu("toy")
KERNEL = KernelSource("work", "lesson.py", 1)
A, B, C, D = 101, 102, 103, 104  # handles of streams
SIDE = 201  # one that the default stream leaves be


@pytest.fixture(autouse=True)
def _side_stream():
    NON_BLOCKING.add(SIDE)
    yield
    NON_BLOCKING.discard(SIDE)


class Program:
    """Issues work; keeps (start, end) of each piece in µs."""

    def __init__(self, copy_engines=2):
        self.timeline = Timeline(replace(TOY, copy_engines=copy_engines))
        self.told = []

    def _keep(self, record):
        start, end = record.start_ns, record.start_ns + record.duration_ns
        self.told.append((start / 1000, end / 1000))
        return record

    def copy(self, direction, stream, *, pinned=True, nbytes=6000, is_async=True):
        return self._keep(
            self.timeline.add_copy(
                direction=direction,
                nbytes=nbytes,
                reason="test",
                is_pinned=pinned,
                stream=stream,
                is_async=is_async,
            )
        )

    def kernel(self, stream, us=6):
        return self._keep(
            self.timeline.add_launch(
                kernel=KERNEL,
                grid=(1, 1, 1),
                block=(32, 1, 1),
                shared_bytes=0,
                counts=None,
                is_replayed=False,
                time=KernelTime(us * 1000, "memory", {}),
                stream=stream,
            )
        )

    def chunk(self, stream, **options):
        self.copy("h2d", stream, **options)
        self.kernel(stream)
        self.copy("d2h", stream, **options)

    @property
    def host(self):
        return self.timeline.host_ns / 1000

    @property
    def end(self):
        return self.timeline.elapsed_ns / 1000


def test_one_stream_runs_piece_after_piece():
    program = Program()
    program.chunk(A)
    program.chunk(A)
    # Issued at 1, 2, 3, ... 6: the host is far ahead. In 1-5, kernel 5-11, out 11-15.
    assert program.told == [(1, 5), (5, 11), (11, 15), (15, 19), (19, 25), (25, 29)]
    assert (program.host, program.end) == (6, 29)


def test_two_streams_overlap_on_two_copy_engines():
    program = Program()
    program.chunk(A)
    program.chunk(B)
    # B's copy in follows A's (5-9); its kernel waits for A's (5-11): 11-17; out 17-21,
    # when A's copy out (11-15) is done.
    assert program.told == [(1, 5), (5, 11), (11, 15), (5, 9), (11, 17), (17, 21)]
    assert (program.host, program.end) == (6, 21)


def test_depth_first_issue_gains_less_on_one_copy_engine():
    program = Program(copy_engines=1)
    program.chunk(A)
    program.chunk(B)
    # The only queue holds in A, out A, in B, out B: in B stands behind out A (11-15).
    assert program.told == [(1, 5), (5, 11), (11, 15), (15, 19), (19, 25), (25, 29)]
    assert program.end == 29


def test_breadth_first_issue_overlaps_on_one_copy_engine():
    program = Program(copy_engines=1)
    for stream in (A, B):
        program.copy("h2d", stream)
    for stream in (A, B):
        program.kernel(stream)
    for stream in (A, B):
        program.copy("d2h", stream)
    # In 1-5 and 5-9; kernels 5-11 and 11-17; out A at 11, out B when its kernel ends.
    assert program.told == [(1, 5), (5, 9), (5, 11), (11, 17), (11, 15), (17, 21)]
    assert program.end == 21


def test_four_streams_are_bound_by_the_longest_engine():
    program = Program()
    for stream in (A, B, C, D):
        program.chunk(stream)
    ins, kernels, outs = program.told[0::3], program.told[1::3], program.told[2::3]
    # In: back to back from 1; D's is issued at 10. Kernels: 5 + 6 a piece, without a
    # gap; out: 4 after each kernel.
    assert ins == [(1, 5), (5, 9), (9, 13), (13, 17)]
    assert kernels == [(5, 11), (11, 17), (17, 23), (23, 29)]
    assert outs == [(11, 15), (17, 21), (23, 27), (29, 33)]
    assert (program.host, program.end) == (12, 33)
    # In a row: 4 x (4 + 6 + 4) = 56, and 1 to issue the first.
    row = Program()
    for _ in range(4):
        row.chunk(A)
    assert row.end == 57


def test_pageable_copies_never_overlap_and_stop_the_host():
    program = Program()
    program.chunk(A, pinned=False)
    program.chunk(B, pinned=False)
    # In 0-7 (the host works along, no issue), issue 8, kernel 8-14, out 14-21; again.
    expected = [(0, 7), (8, 14), (14, 21), (21, 28), (29, 35), (35, 42)]
    assert program.told == expected
    assert program.host == program.end == 42
    assert not program.copy("h2d", A, pinned=False).is_async


def test_a_pinned_copy_without_a_stream_of_its_own_stops_the_host():
    program = Program()
    program.kernel(A)
    record = program.copy("h2d", 0, is_async=False)
    # The default stream waits for A's kernel, 1-7; the copy takes 4; no issue.
    assert program.told == [(1, 7), (7, 11)]
    assert program.host == 11
    assert (record.engine, record.is_async) == ("h2d", False)


def test_work_in_the_default_stream_holds_up_all_streams():
    program = Program()
    program.kernel(A)  # 1-7
    program.copy("h2d", 0)  # waits for A: 7-11, though its engine is free
    program.kernel(B)  # and B for it: 11-17
    assert program.told == [(1, 7), (7, 11), (11, 17)]
    assert program.host == 3


def test_the_per_thread_default_stream_is_one_of_many():
    program = Program()
    program.kernel(A)
    program.copy("h2d", 2)
    assert program.told == [(1, 7), (2, 6)]


def test_a_non_blocking_stream_does_not_wait_for_the_default_stream():
    program = Program()
    program.kernel(0)
    program.copy("h2d", SIDE)
    program.copy("h2d", 0)  # nor it for this: it waits for the kernel only, 7
    assert program.told == [(1, 7), (2, 6), (7, 11)]


def test_a_stream_waits_for_an_event_of_another():
    program = Program()
    timeline = program.timeline
    program.copy("h2d", A)  # 1-5
    event = timeline.mark(A)
    program.copy("h2d", A)  # 5-9, behind the event
    timeline.order.wait(B, event)
    program.kernel(B)  # waits for the first copy only
    assert program.told == [(1, 5), (5, 9), (5, 11)]
    assert event.ready_ns == 5000
    assert program.host == 3


def test_waiting_for_a_stream_leaves_the_others_running():
    program = Program()
    program.kernel(A, us=10)  # 1-11
    program.copy("h2d", B)  # 2-6
    record = program.timeline.wait_for_stream(B, "test")
    assert (record.kind, record.stream, record.start_ns) == ("stream", B, 2000)
    assert (record.duration_ns, record.elapsed_ns) == (4000, 0)
    assert program.host == 6
    record = program.timeline.synchronize()
    assert (record.kind, record.duration_ns, program.host) == ("device", 5000, 11)


def test_waiting_for_an_event_waits_for_what_was_before_it():
    program = Program()
    program.copy("h2d", A)
    event = program.timeline.mark(A)
    program.kernel(A)
    record = program.timeline.wait_for_event(event, "test")
    assert (record.kind, record.duration_ns) == ("event", 3000)  # 2 to 5
    assert program.host == 5


def test_asking_takes_the_host_to_the_end_of_the_work():
    program = Program()
    program.kernel(A, us=3)  # 1-4
    event = program.timeline.mark(A)
    answers = [program.timeline.is_over(event) for _ in range(5)]
    assert answers == [False, False, False, True, True]  # asked at 1, 2, 3, 4, 4
    assert program.host == 4


def test_without_copy_engines_a_copy_stops_the_kernels():
    program = Program(copy_engines=0)
    program.kernel(A)
    record = program.copy("h2d", B)
    assert program.told == [(1, 7), (7, 11)]
    assert record.engine == "compute"


def test_a_copy_within_the_device_takes_the_compute_engine():
    program = Program()
    program.kernel(A)
    # 1 µs floor + 2 x 16 000 B at 32 GB/s
    record = program.copy("d2d", B, nbytes=16_000)
    assert program.told == [(1, 7), (7, 9)]
    assert (record.engine, record.is_async) == ("compute", True)


def test_host_time_lets_the_device_run_on():
    program = Program()
    program.kernel(A)
    record = program.timeline.add_host(2000, "cudaMalloc")
    assert (record.start_ns, record.duration_ns, record.elapsed_ns) == (1000, 2000, 0)
    assert program.timeline.add_host(9000, "cudaFree").elapsed_ns == 12_000 - 7000
