"""The allocator counts rounded bytes, aligns addresses, and refuses what does not fit."""

import numpy as np
import pytest

from tinytorch_gpu.errors import OutOfMemoryError
from tinytorch_gpu.memory import Allocator


def test_sizes_are_rounded_up_to_512():
    allocator = Allocator(10_000)
    buffers = [allocator.allocate(n) for n in (1, 512, 513)]
    assert allocator.allocated_bytes == 512 + 512 + 1024
    assert [b.nbytes for b in buffers] == [1, 512, 513]


def test_an_empty_allocation_takes_one_unit():
    allocator = Allocator(1024)
    buffer = allocator.allocate(0)
    assert (buffer.nbytes, allocator.allocated_bytes) == (0, 512)


def test_addresses_are_aligned_and_do_not_overlap():
    allocator = Allocator(10_000)
    one, two = allocator.allocate(600), allocator.allocate(10)
    assert one.address % 512 == two.address % 512 == 0
    assert one.address > 0
    assert two.address >= one.address + one.nbytes


def test_memory_comes_back_when_the_buffer_dies_and_the_peak_stays():
    allocator = Allocator(2048)
    buffer = allocator.allocate(2048)
    del buffer
    assert (allocator.allocated_bytes, allocator.peak_bytes) == (0, 2048)
    assert allocator.allocate(2048).nbytes == 2048


def test_exactly_what_is_left_fits():
    allocator = Allocator(1024)
    buffers = [allocator.allocate(512), allocator.allocate(512)]
    assert allocator.allocated_bytes == 1024
    assert len(buffers) == 2


def test_what_does_not_fit_is_refused_with_all_numbers():
    allocator = Allocator(1024)
    buffer = allocator.allocate(512)
    with pytest.raises(OutOfMemoryError) as caught:
        allocator.allocate(513)
    error = caught.value
    assert (error.requested_bytes, error.allocated_bytes) == (513, 512)
    assert (error.free_bytes, error.capacity_bytes) == (512, 1024)
    assert all((error.what, error.where, error.why, error.fix))
    assert (allocator.allocated_bytes, allocator.peak_bytes) == (512, 512)
    assert buffer.nbytes == 512


def test_elements_are_a_view_of_the_bytes():
    buffer = Allocator(1024).allocate(8)
    buffer.elements(np.dtype("int32"))[:] = (1, 256)
    assert buffer.elements(np.dtype("uint8")).tolist() == [1, 0, 0, 0, 0, 1, 0, 0]


def test_a_buffer_is_found_by_any_of_its_addresses_while_it_lives():
    allocator = Allocator(10_000)
    first, second = allocator.allocate(100), allocator.allocate(600)
    assert allocator.find(first.address) is first
    assert allocator.find(first.address + 99) is first
    assert allocator.find(first.address + 100) is None
    assert allocator.find(second.address + 599) is second
    address = second.address
    del second
    assert allocator.find(address) is None
