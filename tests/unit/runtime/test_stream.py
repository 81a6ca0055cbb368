"""Streams: numba's names; work is done when the call that issues it returns."""

import asyncio

import pytest

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.runtime import current_device
from tinytorch_gpu.runtime.stream import Stream, check_stream, new_stream


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
