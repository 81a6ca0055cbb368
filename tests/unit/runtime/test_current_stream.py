"""The current stream: what takes the place of a stream that is not named."""

import threading

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.runtime import current_device
from tinytorch_gpu.runtime.current_stream import in_stream, stream_handle
from tinytorch_gpu.runtime.stream import Stream


@pytest.mark.parametrize("unnamed", [0, None])
def test_what_names_no_stream_is_the_current_one(unnamed):
    assert stream_handle(unnamed) == 0
    with in_stream(7):
        assert stream_handle(unnamed) == 7
        with in_stream(unnamed):
            assert stream_handle() == 7


def test_a_default_stream_that_is_named_is_meant():
    with in_stream(7):
        assert stream_handle(Stream(0)) == 0
        with in_stream(Stream(0)):
            assert stream_handle() == 0
        assert stream_handle() == 7


def test_each_host_thread_has_its_own():
    seen = []
    with in_stream(7):
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
