"""The allocator counts chunks, uses addresses again, and refuses what does not fit."""

import numpy as np
import pytest

from tinytorch_gpu.errors import OutOfMemoryError
from tinytorch_gpu.memory import Allocator

MIB = 2**20


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


def test_a_dead_buffers_address_is_used_again_its_serial_is_not():
    allocator = Allocator(2**30)
    first = allocator.allocate(100)
    address, serial = first.address, first.serial
    del first
    second = allocator.allocate(300)
    assert (second.address, second.serial) == (address, serial + 1)


def test_live_since_goes_by_serial_number():
    allocator = Allocator(2**30)
    before = allocator.allocate(8)
    hole = allocator.allocate(8)
    since = allocator.next_serial
    del hole
    after = allocator.allocate(8)  # at the lower address of the hole
    assert allocator.live_since(since) == [after]
    assert allocator.live_since(0) == [before, after]


def test_the_driver_is_asked_for_segments_only():
    allocator, calls = Allocator(2**30), []
    allocator.on_driver_call = calls.append
    for _ in range(3):
        allocator.allocate(1000)
    assert calls == ["cudaMalloc"]
    allocator.empty_cache()
    assert calls == ["cudaMalloc", "cudaFree"]
    assert allocator.reserved_bytes == 0


def test_the_cache_is_emptied_before_memory_is_refused():
    allocator = Allocator(64 * MIB)
    small = allocator.allocate(512)
    allocator.allocate(40 * MIB)
    allocator.allocate(50 * MIB)  # needs the 40 MiB that the cache keeps
    assert allocator.reserved_bytes == 52 * MIB
    assert allocator.statistics.alloc_retries == 1
    assert small.nbytes == 512


def test_fragments_are_told_when_memory_is_refused():
    allocator = Allocator(20 * MIB)
    held = [allocator.allocate(4 * MIB) for _ in range(5)]
    del held[1], held[2]  # two holes of 4 MiB, not side by side
    with pytest.raises(OutOfMemoryError) as caught:
        allocator.allocate(6 * MIB)
    error = caught.value
    assert (error.allocated_bytes, error.reserved_bytes) == (12 * MIB, 20 * MIB)
    assert (error.free_bytes, error.largest_free_bytes) == (0, 4 * MIB)
    assert allocator.split_bytes("large_pool") == 8 * MIB
    assert all(len(line) <= 91 for line in str(error).splitlines())
    assert allocator.allocate(4 * MIB).nbytes == 4 * MIB


def test_garbage_that_dies_in_the_midst_waits_for_its_turn():
    allocator = Allocator(2**30)
    dying = allocator.allocate(512)
    allocator._is_busy = True  # as while a request is served
    del dying
    assert allocator.allocated_bytes == 512
    allocator._is_busy = False
    kept = allocator.allocate(512)
    assert allocator.allocated_bytes == 512
    assert kept.nbytes == 512


def test_freed_memory_is_given_back_once():
    allocator = Allocator(2**30)
    buffer = allocator.allocate(512)
    buffer.free("a test")
    buffer.free("a second time")
    assert (buffer.freed_by, allocator.allocated_bytes) == ("a test", 0)
    del buffer
    assert allocator.allocated_bytes == 0


def test_freeing_all_leaves_no_segment():
    allocator = Allocator(2**30)
    buffers = [allocator.allocate(n) for n in (100, 3 * MIB)]
    allocator.free_all("the end")
    assert [b.freed_by for b in buffers] == ["the end"] * 2
    assert (allocator.allocated_bytes, allocator.reserved_bytes) == (0, 0)


def test_another_capacity_keeps_only_what_lives():
    allocator = Allocator(2**30)
    kept, dropped = allocator.allocate(1024), allocator.allocate(512)
    del dropped
    allocator.set_capacity(MIB)
    assert (allocator.reserved_bytes, allocator.free_bytes) == (1024, MIB - 1024)
    held = [allocator.allocate(1024) for _ in range(MIB // 1024 - 1)]
    with pytest.raises(OutOfMemoryError):
        allocator.allocate(1)
    assert len({b.address for b in (kept, *held)}) == 1024


def test_each_device_has_addresses_of_its_own():
    other = Allocator(2**30, "simgpu:1", base=2**40)
    assert other.allocate(8).address == 2**40
