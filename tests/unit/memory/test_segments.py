"""Segments are cut and merged as PyTorch's allocator does."""

import pytest

from tinytorch_gpu.memory.segments import SegmentCache, rounded

MIB = 2**20
BASE = 2 * MIB


def taken(cache, nbytes):
    """Take a chunk, from a new segment if there is none."""
    chunk = cache.fitting(nbytes) or cache.add_segment(nbytes)
    return cache.take(chunk, nbytes)


@pytest.mark.parametrize(
    ("nbytes", "segment"),
    [
        (512, 2 * MIB),
        (MIB, 2 * MIB),
        (MIB + 512, 20 * MIB),
        (10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB),
        (10 * MIB + 512, 12 * MIB),
        (33 * MIB, 34 * MIB),
    ],
)
def test_the_driver_is_asked_for_whole_segments(nbytes, segment):
    assert SegmentCache(BASE).segment_bytes(nbytes) == segment


@pytest.mark.parametrize(
    ("nbytes", "chunk"), [(0, 512), (1, 512), (512, 512), (513, 1024)]
)
def test_requests_are_rounded_up_to_512(nbytes, chunk):
    assert rounded(nbytes) == chunk


def test_chunks_of_a_segment_lie_one_after_another():
    cache = SegmentCache(BASE)
    chunks = [taken(cache, n) for n in (512, 1024, 512)]
    assert [c.address - BASE for c in chunks] == [0, 512, 1536]
    assert len(cache.segments) == 1


def test_the_smallest_free_chunk_that_fits_is_used():
    cache = SegmentCache(BASE)
    wide, _wall, narrow, _end = (taken(cache, n) for n in (4096, 512, 1024, 512))
    cache.give_back(wide)
    cache.give_back(narrow)
    assert taken(cache, 1024).address == narrow.address
    assert taken(cache, 1024).address == wide.address


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (0, 2, 1), (1, 0, 2)])
def test_neighbours_merge_whatever_is_freed_first(order):
    cache = SegmentCache(BASE)
    chunks = [taken(cache, 512) for _ in range(3)]
    for i in order:
        cache.give_back(chunks[i])
    assert len(cache.segments) == 1
    chunk = cache.fitting(512)
    assert (chunk.nbytes, chunk.address, chunk.is_free) == (2 * MIB, BASE, True)
    assert cache.largest_free_bytes() == 2 * MIB


def test_large_chunks_keep_a_rest_of_up_to_one_mib():
    cache = SegmentCache(BASE)
    whole = taken(cache, 19 * MIB)  # its own segment of 20 MiB: 1 MiB is not split off
    assert whole.nbytes == 20 * MIB
    part = taken(cache, 9 * MIB)  # of a segment of 20 MiB
    assert part.nbytes == 9 * MIB
    assert cache.split_bytes("large_pool") == 11 * MIB


def test_small_and_large_requests_have_pools_of_their_own():
    cache = SegmentCache(BASE)
    taken(cache, 9 * MIB)
    assert cache.fitting(11 * MIB) is not None
    assert cache.fitting(512) is None


def test_only_segments_that_are_free_as_a_whole_are_dropped():
    cache = SegmentCache(BASE)
    kept, freed = taken(cache, 512), taken(cache, 512)
    big = taken(cache, 32 * MIB)
    cache.give_back(freed)
    cache.give_back(big)
    (dropped,) = cache.drop_free_segments()
    assert dropped.nbytes == 32 * MIB
    assert [s.address for s in cache.segments] == [kept.segment.address]
    assert cache.split_bytes("small_pool") == 2 * MIB - 512


def test_a_new_segment_fills_the_gap_of_a_dropped_one():
    cache = SegmentCache(BASE)
    first, second = taken(cache, 32 * MIB), taken(cache, 32 * MIB)
    assert second.address == BASE + 32 * MIB
    cache.give_back(first)
    cache.drop_free_segments()
    assert taken(cache, 12 * MIB).address == BASE
    assert taken(cache, 20 * MIB).address == BASE + 12 * MIB
    assert taken(cache, 20 * MIB).address == BASE + 64 * MIB


def test_a_small_device_has_a_segment_for_each_request():
    cache = SegmentCache(512, has_own_segments=True)
    chunks = [taken(cache, n) for n in (512, 1536)]
    assert [s.nbytes for s in cache.segments] == [512, 1536]
    assert [c.address for c in chunks] == [512, 1024]


def test_keeping_what_is_used_makes_a_segment_of_each_chunk():
    cache = SegmentCache(BASE)
    first, hole, last = (taken(cache, 1024) for _ in range(3))
    cache.give_back(hole)
    cache.keep_used()
    assert [(s.address, s.nbytes) for s in cache.segments] == [
        (first.address, 1024),
        (last.address, 1024),
    ]
    assert cache.largest_free_bytes() == 0
    cache.give_back(last)
    assert cache.fitting(1024) is last
