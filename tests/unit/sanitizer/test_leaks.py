"""What is still held is noted by the line that allocated it."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.runtime import current_device
from tinytorch_gpu.sanitizer.leaks import live_allocations


@pytest.fixture
def allocator(own_memory):
    found = current_device().allocator
    found.is_traced = True
    return found


def test_only_what_is_alive_is_noted(allocator):
    early = cuda.device_array(4)
    since = allocator.next_serial
    kept = cuda.to_device(np.zeros((3, 5), np.float32))  # here
    dropped = cuda.device_array(7)
    del dropped
    (note,) = live_allocations(allocator, since)
    assert (note.tool, note.kind, note.level) == ("memcheck", "leak", "note")
    assert note.count == kept.nbytes == 60
    assert note.line.file == __file__
    assert note.line.text.startswith("kept = ")
    assert "float32 (3, 5)" in note.where
    assert early.size == 4


def test_allocations_of_one_line_are_one_note(allocator):
    held = [cuda.device_array(n, np.int8) for n in (10, 20)]
    (note,) = live_allocations(allocator, 0)
    assert (note.count, len(held)) == (30, 2)
    assert note.what == "2 arrays, 30 B, are still held on simgpu:0"


def test_ops_name_the_users_line(allocator):
    x = cuda.to_device(np.zeros(4, np.float32))
    since = allocator.next_serial
    y = x + x  # an op of the library
    (note,) = live_allocations(allocator, since)
    assert note.line.text == "y = x + x  # an op of the library"
    assert y.size == 4


def test_freed_memory_is_no_leak(allocator):
    x = cuda.device_array(4)
    cuda.close()
    assert live_allocations(allocator, 0) == []
    assert x.shape == (4,)


def test_untraced_allocations_have_no_line(own_memory):
    x = cuda.device_array(4)
    (note,) = live_allocations(current_device().allocator, 0)
    assert (note.line, note.count, x.size) == (None, 32, 4)
