"""The current stream: what takes the place of a stream that is not named."""

import threading

import pytest

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
