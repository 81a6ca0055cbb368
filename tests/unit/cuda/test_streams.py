"""Streams and events by numba.cuda's names."""

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.runtime import current_device
from tinytorch_gpu.runtime.event import Event
from tinytorch_gpu.runtime.stream import Stream


def test_each_name_makes_its_stream():
    assert isinstance(cuda.stream(), Stream)
    assert int(cuda.default_stream()) == 0
    assert str(cuda.legacy_default_stream()) == "<Legacy default CUDA stream>"
    assert str(cuda.per_thread_default_stream()) == "<Per-thread default CUDA stream>"
    assert str(cuda.external_stream(9)) == "<External CUDA stream 9>"


def test_events_time_what_lies_between_them():
    start, end = cuda.event(), cuda.event(timing=True)
    assert isinstance(start, Event)
    start.record(stream=0)
    cuda.to_device(np.ones(10), stream=cuda.stream())
    end.record(stream=cuda.stream())
    assert cuda.event_elapsed_time(start, end) == start.elapsed_time(end) > 0


def test_synchronize_waits_for_the_device():
    timeline = current_device().timeline
    calls = timeline.synchronize_calls
    cuda.synchronize()
    assert timeline.synchronize_calls == calls + 1
    assert timeline.host_ns >= timeline.device_ns


def test_copies_take_a_stream():
    stream = cuda.stream()
    array = cuda.to_device(np.arange(3.0), stream=stream)
    array.copy_to_device(np.arange(3.0) + 1, stream=stream)
    assert array.copy_to_host(stream=stream).tolist() == [1, 2, 3]
