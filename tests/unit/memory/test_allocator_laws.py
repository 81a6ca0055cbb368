"""Laws of the allocator: whatever is allocated and freed, in whatever order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.errors import OutOfMemoryError
from tinytorch_gpu.memory import Allocator
from tinytorch_gpu.memory.segments import rounded

MIB = 2**20
CAPACITY = 64 * MIB

# What a program does: allocate so many bytes, or (negative) free one that is alive.
SIZES = st.one_of(
    st.integers(0, 5000), st.integers(0, 3 * MIB), st.integers(8 * MIB, 24 * MIB)
)
PROGRAMS = st.lists(st.one_of(SIZES, st.integers(-50, -1)), max_size=40)


def run(program, allocator):
    """Run a program; return what is alive at its end."""
    live = []
    for step in program:
        if step < 0:
            if live:
                del live[step % len(live)]
        else:
            try:
                live.append(allocator.allocate(step))
            except OutOfMemoryError:
                assert not fits_surely(step, live)
    return live


def fits_surely(nbytes, live):
    """Tell whether a segment for it would fit beside segments of all that lives.

    A live buffer keeps at most a segment of its own: 20 MiB, or 2 MiB above its size.
    """
    kept = sum(max(20 * MIB, rounded(b.nbytes) + 2 * MIB) for b in live)
    return kept + max(20 * MIB, rounded(nbytes) + 2 * MIB) <= CAPACITY


@given(PROGRAMS)
def test_live_buffers_never_overlap(program):
    live = run(program, Allocator(CAPACITY))
    spans = sorted((b.address, b.address + max(1, b.nbytes)) for b in live)
    ends = [0, *(end for _, end in spans)]
    assert all(start >= end for (start, _), end in zip(spans, ends, strict=False))
    assert all(b.address % 512 == 0 for b in live)


@given(PROGRAMS)
def test_counts_are_those_of_a_naive_model(program):
    allocator = Allocator(CAPACITY)
    live = run(program, allocator)
    numbers = allocator.statistics.to_dict()
    assert numbers["allocation.all.current"] == len(live)
    assert numbers["requested_bytes.all.current"] == sum(b.nbytes for b in live)
    at_least = sum(rounded(b.nbytes) for b in live)
    spare = sum(MIB for b in live if b.nbytes > MIB)  # a rest of 1 MiB is not split off
    assert at_least <= allocator.allocated_bytes <= at_least + spare
    assert allocator.allocated_bytes <= allocator.reserved_bytes <= CAPACITY
    for row in ("allocated_bytes", "reserved_bytes", "segment", "allocation"):
        tally = allocator.statistics.of(row)
        assert tally.allocated - tally.freed == tally.current <= tally.peak


@given(PROGRAMS)
def test_when_all_is_freed_all_chunks_have_merged(program):
    allocator = Allocator(CAPACITY)
    live = run(program, allocator)
    live.clear()
    assert allocator.allocated_bytes == 0
    assert (
        allocator.split_bytes("small_pool") == allocator.split_bytes("large_pool") == 0
    )
    allocator.empty_cache()
    assert allocator.reserved_bytes == 0
    assert allocator.allocate(CAPACITY).address == 2 * MIB


def test_the_second_step_of_a_training_asks_the_driver_for_nothing():
    allocator, calls = Allocator(2**30), []
    allocator.on_driver_call = calls.append
    for _step in range(3):
        arrays = [allocator.allocate(n) for n in (1000, 3 * MIB, MIB // 2, 40 * MIB)]
        arrays.clear()
        assert calls == ["cudaMalloc"] * 3  # segments of 2, 20 and 40 MiB
    assert allocator.reserved_bytes == 62 * MIB


@pytest.mark.parametrize("capacity", [20 * MIB, 22 * MIB, 64 * MIB])
def test_memory_is_full_exactly_at_its_capacity(capacity):
    allocator = Allocator(capacity)
    held = [allocator.allocate(MIB) for _ in range(capacity // MIB)]
    assert allocator.allocated_bytes == capacity
    with pytest.raises(OutOfMemoryError) as caught:
        allocator.allocate(1)
    assert caught.value.free_bytes == caught.value.largest_free_bytes == 0
    held.pop()
    assert allocator.allocate(MIB).nbytes == MIB
