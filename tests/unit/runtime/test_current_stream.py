"""The current stream: what takes the place of a stream that is not named."""

import threading

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.profiler import profile
from tinytorch_gpu.runtime import current_device
from tinytorch_gpu.runtime.current_stream import in_stream, stream_handle
from tinytorch_gpu.runtime.stream import Stream, new_stream
from tinytorch_gpu.trace import CopyRecord

SEVEN = Stream(7)


@pytest.mark.parametrize("unnamed", [0, None])
def test_what_names_no_stream_is_the_current_one(unnamed):
    assert stream_handle(unnamed) == 0
    with in_stream(SEVEN):
        assert stream_handle(unnamed) == 7
        with in_stream(unnamed):
            assert stream_handle() == 7


def test_a_default_stream_that_is_named_is_meant():
    with in_stream(SEVEN):
        assert stream_handle(Stream(0)) == 0
        with in_stream(Stream(0)):
            assert stream_handle() == 0
        assert stream_handle() == 7


def test_each_host_thread_has_its_own():
    seen = []
    with in_stream(SEVEN):
        thread = threading.Thread(target=lambda: seen.append(stream_handle()))
        thread.start()
        thread.join()
    assert seen == [0]


@pytest.mark.parametrize("stream", [1.5, -1, "a", True, [1], np.float32(2)])
def test_what_is_no_stream_is_refused(stream):
    with pytest.raises(KernelTypeError, match="given as the stream") as caught:
        stream_handle(stream)
    assert all((caught.value.where, caught.value.why, caught.value.fix))
    x = np.ones(4, np.float32)
    heard = []
    current_device().timeline.listeners.append(heard.append)
    try:
        with pytest.raises(KernelTypeError):
            cuda.to_device(x, stream=stream)
    finally:
        current_device().timeline.listeners.remove(heard.append)
    assert not heard


def test_the_handle_of_a_stream_that_was_made_names_it():
    made = [new_stream(), cuda.external_stream(31_000_001), simgpu.Stream()]
    for stream in (*made, cuda.legacy_default_stream()):
        assert stream_handle(stream.handle) == stream_handle(stream) == stream.handle
        assert stream_handle(np.int64(stream.handle)) == stream.handle


UNKNOWN = 31_000_099
PINNED = cuda.pinned_array(4, np.float32)
USES = {
    "to_device": lambda _, s: cuda.to_device(np.ones(4, np.float32), stream=s),
    "copy_to_device": lambda x, s: x.copy_to_device(PINNED, stream=s),
    "copy from the device": lambda x, s: x.copy_to_device(x + 1, stream=s),
    "copy_to_host": lambda x, s: x.copy_to_host(stream=s),
    "copy_to_host(ary)": lambda x, s: x.copy_to_host(PINNED, stream=s),
    "setitem": lambda x, s: x.setitem(0, 5, stream=s),
    "getitem": lambda x, s: x.getitem(0, stream=s),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("stream", [UNKNOWN, 1.5, "a", -1])
def test_what_was_never_made_is_refused_before_anything_has_an_effect(use, stream):
    x = cuda.to_device(np.arange(4, dtype=np.float32))
    PINNED[:] = 9
    timeline = current_device().timeline
    queues = len(timeline.order._streams)
    told = pytest.raises(KernelTypeError, match="given as the stream")
    with profile() as prof, told as caught:
        use(x, stream)
    heard = [r for r in prof.events() if isinstance(r, CopyRecord)]
    assert all((caught.value.where, caught.value.why, caught.value.fix))
    assert not heard
    assert len(timeline.order._streams) == queues
    assert x.copy_to_host().tolist() == [0, 1, 2, 3]
    assert PINNED.tolist() == [9] * 4


def test_the_error_of_an_unknown_handle_tells_how_to_get_a_stream():
    with pytest.raises(KernelTypeError, match=f"{UNKNOWN} given") as caught:
        stream_handle(UNKNOWN)
    assert "cuda.stream()" in caught.value.fix
    assert f"cuda.external_stream({UNKNOWN})" in caught.value.fix
