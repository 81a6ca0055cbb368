"""Streams: numba's names; work is done when the call that issues it returns."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.profiler import profile
from tinytorch_gpu.runtime import current_device, use_gpu
from tinytorch_gpu.runtime.stream import Stream, check_stream, new_stream
from tinytorch_gpu.trace import CopyRecord, LaunchRecord


def test_handles_and_names():
    assert str(Stream(0)) == "<Default CUDA stream>"
    assert str(Stream(1)) == "<Legacy default CUDA stream>"
    assert str(Stream(2)) == "<Per-thread default CUDA stream>"
    assert str(Stream(77)) == "<CUDA stream 77>"
    assert str(Stream(77, external=True)) == "<External CUDA stream 77>"
    assert int(Stream(77)) == 77


def test_new_streams_differ():
    handles = {int(new_stream()) for _ in range(5)}
    assert len(handles) == 5
    assert min(handles) > 2


def test_synchronize_takes_modelled_host_time():
    timeline = current_device().timeline
    calls = timeline.synchronize_calls
    new_stream().synchronize()
    with new_stream().auto_synchronize() as inner:
        assert isinstance(inner, Stream)
        assert timeline.synchronize_calls == calls + 1
    assert timeline.synchronize_calls == calls + 2


def test_a_callback_gets_stream_status_and_argument():
    told = []
    stream = new_stream()
    stream.add_callback(lambda *given: told.append(given), "extra")
    stream.add_callback(lambda *given: told.append(given))
    assert told == [(stream, 0, "extra"), (stream, 0, None)]


def test_async_done_gives_the_stream():
    stream = new_stream()

    async def wait():
        return await stream.async_done()

    assert asyncio.run(wait()) is stream


@pytest.mark.parametrize("stream", [0, None, Stream(0), Stream(5)])
def test_streams_and_zero_are_accepted(stream):
    check_stream(stream, "here")


@pytest.mark.parametrize("stream", ["0", 1.5, 1024, (0,)])
def test_anything_else_is_refused(stream):
    with pytest.raises(KernelTypeError, match="stream") as caught:
        check_stream(stream, "here")
    assert caught.value.where == "here"


@pytest.mark.parametrize("other", [None, 3, "a"])
def test_what_is_no_event_or_stream_is_refused(other):
    stream = Stream(0)
    with pytest.raises(KernelTypeError, match="given as the event"):
        stream.wait_event(other)
    with pytest.raises(KernelTypeError, match="given as the stream"):
        stream.wait_stream(other)
    if other is not None:
        with pytest.raises(KernelTypeError, match="given as the event"):
            stream.record_event(other)


# A question puts nothing into a stream: whatever is asked, wherever, the schedule of
# what the program does is the same.

PLACES = 12
QUESTIONS = {
    "default": lambda streams, events: cuda.default_stream().query(),
    "legacy": lambda streams, events: cuda.legacy_default_stream().query(),
    "current": lambda streams, events: simgpu.current_stream().query(),
    "first": lambda streams, events: streams[0].query(),
    "second": lambda streams, events: streams[1].query(),
    "non-blocking": lambda streams, events: streams[2].query(),
    "another": lambda streams, events: cuda.stream().query(),
    "event": lambda streams, events: events and events[-1].query(),
    "first event": lambda streams, events: events and events[0].query(),
}


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


class Asked:
    """A program of copies and launches in streams, with questions in between."""

    def __init__(self, asked):
        self.asked, self.told, self.at = asked, [], 0
        self.streams = [cuda.stream(), cuda.stream(), simgpu.Stream()]
        self.events = []

    def ask(self):
        for name in self.asked.get(self.at, ()):
            QUESTIONS[name](self.streams, self.events)
        self.at += 1

    def run(self):
        one, two, side = self.streams
        x = [cuda.device_array(6000, np.int8) for _ in range(3)]
        pinned = [cuda.pinned_array(6000, np.int8) for _ in range(3)]
        steps = [
            lambda: x[0].copy_to_device(pinned[0], stream=one),
            lambda: self.events.append(one.record_event()),
            lambda: x[1].copy_to_host(pinned[1], stream=two),
            lambda: add_one[6, 1024, one](x[0]),
            lambda: two.wait_event(self.events[0]),
            lambda: x[2].copy_to_device(pinned[2], stream=side),
            lambda: self.events.append(side.record_event()),
            lambda: add_one[6, 1024, two](x[1]),
            lambda: x[0].copy_to_host(pinned[0], stream=one),
            lambda: add_one[6, 1024](x[2]),
            lambda: x[1].copy_to_host(pinned[1], stream=two),
        ]
        assert len(steps) == PLACES - 1
        with profile() as prof:
            for step in steps:
                self.ask()
                step()
            self.ask()
            host = current_device().timeline.host_ns
            cuda.synchronize()
        works = [r for r in prof.events() if isinstance(r, (LaunchRecord, CopyRecord))]
        return host, [(r.start_ns, r.duration_ns, r.issue_start_ns) for r in works]


def schedule_of(asked):
    use_gpu("toy")
    current_device().timeline.reset()
    return Asked(asked).run()


@pytest.fixture(scope="module")
def unasked():
    before = current_device().spec
    found = schedule_of({})
    use_gpu(before)
    return found


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("place", range(PLACES))
def test_a_question_changes_no_schedule(place, name, unasked):
    assert schedule_of({place: [name]}) == unasked


@settings(max_examples=20)
@given(
    names=st.lists(st.sampled_from(list(QUESTIONS)), min_size=PLACES, max_size=PLACES)
)
def test_questions_everywhere_change_no_schedule(names, unasked):
    asked = {place: [name] for place, name in enumerate(names)}
    assert schedule_of(asked) == unasked


def test_a_question_to_the_default_stream_leaves_copies_beside_each_other():
    use_gpu("toy")
    one, two = cuda.stream(), cuda.stream()
    x, y = (cuda.device_array(6000, np.int8) for _ in range(2))
    pinned = [cuda.pinned_array(6000, np.int8) for _ in range(2)]
    with profile() as prof:
        x.copy_to_device(pinned[0], stream=one)
        assert not cuda.default_stream().query()
        y.copy_to_host(pinned[1], stream=two)
    there, back = [r for r in prof.events() if isinstance(r, CopyRecord)]
    assert back.start_ns < there.start_ns + there.duration_ns


@pytest.mark.parametrize("issue_ns", [0.0, 1000.0])
def test_a_program_that_asks_in_a_loop_has_waited_in_the_end(issue_ns):
    use_gpu(replace(find_gpu("toy"), launch_issue_ns=issue_ns))
    timeline, stream = current_device().timeline, cuda.stream()
    x = cuda.device_array(6000, np.int8)
    x.copy_to_device(cuda.pinned_array(6000, np.int8), stream=stream)
    before, asked = timeline.host_ns, 0
    while not stream.query():
        assert timeline.host_ns == before
        asked += 1
    assert asked == (4 if issue_ns else 1)  # 4 µs of copying, 1 µs a question
    assert timeline.host_ns == before + 4000
    assert stream.query()
    assert timeline.host_ns == before + 4000


def test_a_question_answered_yes_orders_what_comes_after_it():
    order = current_device().order
    stream, other = cuda.stream(), cuda.stream()
    first = order.launch(stream.handle)
    assert stream.query()
    assert order.launch(other.handle).is_after(first)
