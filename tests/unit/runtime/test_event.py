"""Events: modelled time between marks in the device's work, in milliseconds."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.errors import KernelTypeError, UnsupportedError
from tinytorch_gpu.runtime import current_device, use_gpu
from tinytorch_gpu.runtime.event import Event, elapsed_ms


def test_the_time_between_two_events_is_the_growth_of_the_timeline():
    timeline = current_device().timeline
    start, end = Event(), Event()
    before = timeline.elapsed_ns
    start.record()
    cuda.to_device(np.zeros(1_000_000, np.float32))
    end.record(cuda.stream())
    grown = timeline.elapsed_ns - before
    assert grown > 4e6 / current_device().spec.pageable_gb_per_s
    assert start.elapsed_time(end) == elapsed_ms(start, end) == grown / 1e6
    assert elapsed_ms(end, start) == -grown / 1e6


def test_recording_again_moves_the_mark():
    start, end = Event(), Event()
    start.record()
    end.record()
    assert start.elapsed_time(end) == 0
    current_device().timeline.synchronize()
    end.record()
    assert start.elapsed_time(end) == current_device().spec.synchronize_ns / 1e6


def test_an_event_is_always_done_and_can_be_waited_for():
    event = Event()
    assert event.query()
    event.record()
    event.wait()
    event.wait(cuda.stream())
    calls = current_device().timeline.synchronize_calls
    event.synchronize()
    assert current_device().timeline.synchronize_calls == calls + 1


def test_two_gpus_have_no_common_clock():
    spec = current_device().spec
    start, end = Event(), Event()
    start.record()
    end.record()
    try:
        use_gpu("a100" if spec.name != find_gpu("a100").name else "t4")
        assert start.elapsed_time(end) == 0
        end.record()
        for pair in ((start, end), (end, start)):
            with pytest.raises(UnsupportedError, match="two modelled GPUs") as caught:
                elapsed_ms(*pair)
            assert all((caught.value.where, caught.value.why, caught.value.fix))
        start.record()
        assert start.elapsed_time(end) == 0
    finally:
        use_gpu(spec)


@pytest.mark.parametrize(("timing", "text"), [(True, "never"), (False, "without")])
def test_time_needs_two_recorded_events_with_timing(timing, text):
    recorded, other = Event(), Event(timing=timing)
    recorded.record()
    if not timing:
        other.record()
    for pair in ((recorded, other), (other, recorded)):
        with pytest.raises(UnsupportedError, match=text):
            elapsed_ms(*pair)


@pytest.mark.parametrize("stream", [5, "a", 1.5, True])
def test_what_is_no_stream_is_refused(stream):
    event = Event()
    for use in (event.record, event.wait):
        with pytest.raises(KernelTypeError, match="given as the stream") as caught:
            use(stream)
        assert all((caught.value.where, caught.value.why, caught.value.fix))


@pytest.mark.parametrize("other", [None, 3, "a"])
def test_what_is_no_event_is_refused(other):
    event = Event()
    event.record()
    with pytest.raises(KernelTypeError, match="given as the event") as caught:
        event.elapsed_time(other)
    assert all((caught.value.where, caught.value.why, caught.value.fix))


WAITS = {
    "synchronize the event": lambda event, stream: event.synchronize(),
    "synchronize the stream": lambda event, stream: stream.synchronize(),
    "synchronize the device": lambda event, stream: cuda.synchronize(),
    "a blocking copy": lambda event, stream: cuda.to_device(np.ones(4)),
    "ask in a loop": lambda event, stream: [0 for _ in iter(event.query, True)],
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_no_time_is_told_before_both_marks_are_reached(wait):
    stream, start, end = cuda.stream(), Event(), Event()
    x = cuda.device_array(100_000, np.float32)
    pinned = cuda.pinned_array(100_000, np.float32)
    start.record(stream)
    x.copy_to_device(pinned, stream=stream)
    end.record(stream)
    assert not end.is_reached()
    for pair, late in (((start, end), "end"), ((end, start), "start")):
        for ask in (Event.elapsed_time, elapsed_ms, cuda.event_elapsed_time):
            with pytest.raises(UnsupportedError, match=f"the {late} event") as caught:
                ask(*pair)
            assert isinstance(caught.value, RuntimeError)  # as torch's and numba's
            assert caught.value.fix.startswith(f"{late}.synchronize()")
            assert all((caught.value.where, caught.value.why))
    assert not end.is_reached()
    wait(end, stream)
    assert end.is_reached()
    assert end.query()
    assert start.elapsed_time(end) > 0.4 / current_device().spec.pinned_gb_per_s


def test_a_time_is_told_whenever_query_says_yes():
    stream, start, end = cuda.stream(), Event(), Event()
    start.record(stream)
    end.record(stream)
    assert end.query()
    assert start.elapsed_time(end) == 0
