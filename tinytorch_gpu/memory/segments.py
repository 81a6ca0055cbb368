"""Segments and chunks: where the caching allocator puts what it hands out.

The driver gives whole segments; a request gets a chunk, the best fitting free piece of
a segment. Comes in: rounded sizes. Goes out: chunks with simulated addresses, which are
used again. Nothing here holds bytes.

Source: PyTorch's CUDACachingAllocator: requests rounded up to 512 B; those up to 1 MiB
from segments of 2 MiB, those below 10 MiB from segments of 20 MiB, larger ones from
their own, rounded up to 2 MiB; best fit, split, merged with free neighbours.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["ALIGNMENT", "Chunk", "Segment", "SegmentCache", "rounded"]

ALIGNMENT = 512
MIB = 2**20
SMALL_MOST, SMALL_SEGMENT = 1 * MIB, 2 * MIB
LARGE_LEAST, LARGE_SEGMENT, LARGE_UNIT = 10 * MIB, 20 * MIB, 2 * MIB


@dataclass(slots=True, eq=False)
class Chunk:
    """A piece of a segment: in use, or free and kept for the next request.

    Args:
        segment: what it is a piece of.
        address: simulated byte address.
        nbytes: bytes, a multiple of 512.
        is_free: nobody uses it.
        before, after: its neighbours in the segment.
    """

    segment: Segment
    address: int
    nbytes: int
    is_free: bool = True
    before: Chunk | None = None
    after: Chunk | None = None


@dataclass(slots=True, eq=False)
class Segment:
    """What one cudaMalloc gave.

    Args:
        address: simulated byte address.
        nbytes: bytes of all its chunks.
        pool: "small_pool" or "large_pool".
    """

    address: int
    nbytes: int
    pool: str


class SegmentCache:
    """The segments of one device.

    Args:
        base: address of the first segment.
        has_own_segments: every request gets a segment of its own rounded size, which a
            device needs that is smaller than one large segment (the toy GPU).

    Example:
        >>> cache = SegmentCache(base=2**21)
        >>> cache.fitting(512) is None, cache.segment_bytes(512)
        (True, 2097152)
        >>> first = cache.take(cache.add_segment(512), 512)
        >>> second = cache.take(cache.fitting(512), 512)
        >>> second.address - first.address
        512
        >>> cache.give_back(first)
        >>> cache.fitting(512) is first         # the smallest free chunk that fits
        True
    """

    # Simplified: one cache serves all streams. PyTorch keeps free chunks for each
    # stream apart, so a program with several streams may reserve more there.

    def __init__(self, base: int, *, has_own_segments: bool = False) -> None:
        self.segments: list[Segment] = []  # by address
        self._base = base
        self.has_own_segments = has_own_segments
        self._free: dict[str, list[tuple[int, int]]] = {
            "small_pool": [],
            "large_pool": [],
        }
        self._chunks: dict[int, Chunk] = {}  # by address

    def fitting(self, nbytes: int) -> Chunk | None:
        """Return the smallest free chunk that holds the bytes, or None."""
        free = self._free[_pool(nbytes)]
        at = bisect_left(free, (nbytes, 0))
        return self._chunks[free[at][1]] if at < len(free) else None

    def segment_bytes(self, nbytes: int) -> int:
        """Return the size of the segment that the driver is asked for."""
        if self.has_own_segments:
            return nbytes
        if nbytes <= SMALL_MOST:
            return SMALL_SEGMENT
        if nbytes < LARGE_LEAST:
            return LARGE_SEGMENT
        return -(-nbytes // LARGE_UNIT) * LARGE_UNIT

    def add_segment(self, nbytes: int) -> Chunk:
        """Take a segment for a request from the driver; return its one free chunk."""
        size = self.segment_bytes(nbytes)
        segment = Segment(self._gap(size), size, _pool(nbytes))
        self.segments.append(segment)
        self.segments.sort(key=lambda s: s.address)
        chunk = Chunk(segment, segment.address, size)
        self._chunks[chunk.address] = chunk
        self._add_free(chunk)
        return chunk

    def take(self, chunk: Chunk, nbytes: int) -> Chunk:
        """Use a free chunk; what is over stays free if it is large enough.

        Args:
            chunk: one that `fitting` returned, or a new segment's only one.
            nbytes: bytes that are needed, a multiple of 512.
        """
        self._remove_free(chunk)
        chunk.is_free = False
        rest = chunk.nbytes - nbytes
        if (
            rest >= ALIGNMENT
            if chunk.segment.pool == "small_pool"
            else rest > SMALL_MOST
        ):
            self._split(chunk, nbytes)
        return chunk

    def give_back(self, chunk: Chunk) -> None:
        """Free a chunk and merge it with its free neighbours."""
        chunk.is_free = True
        before, after = chunk.before, chunk.after
        if after is not None and after.is_free:
            self._remove_free(after)
            self._absorb(chunk, after)
        if before is not None and before.is_free:
            self._remove_free(before)
            self._absorb(before, chunk)
            chunk = before
        self._add_free(chunk)

    def drop_free_segments(self) -> list[Segment]:
        """Give segments that are free as a whole to the driver; return them."""
        firsts = [(s, self._chunks[s.address]) for s in self.segments]
        dropped = [s for s, c in firsts if c.is_free and c.nbytes == s.nbytes]
        for segment in dropped:
            self._remove_free(self._chunks.pop(segment.address))
            self.segments.remove(segment)
        return dropped

    def keep_used(self) -> None:
        """Cut the segments down to the chunks in use, each a segment of its own."""
        used = sorted(
            (c for c in self._chunks.values() if not c.is_free), key=lambda c: c.address
        )
        for chunk in used:
            chunk.segment = Segment(chunk.address, chunk.nbytes, chunk.segment.pool)
            chunk.before = chunk.after = None
        self.segments = [chunk.segment for chunk in used]
        self._chunks = {chunk.address: chunk for chunk in used}
        self._free = {"small_pool": [], "large_pool": []}

    def largest_free_bytes(self) -> int:
        """Return the size of the largest free chunk; 0 if there is none."""
        return max((free[-1][0] for free in self._free.values() if free), default=0)

    def split_bytes(self, pool: str) -> int:
        """Return the free bytes of segments that are partly in use: not droppable."""
        whole = {s.address: s.nbytes for s in self.segments}
        return sum(n for n, at in self._free[pool] if whole.get(at) != n)

    def _gap(self, size: int) -> int:
        """Return the lowest address where a new segment fits between the others."""
        if not self.segments or self._base + size <= self.segments[0].address:
            return self._base
        for before, after in pairwise(self.segments):
            if before.address + before.nbytes + size <= after.address:
                return before.address + before.nbytes
        return self.segments[-1].address + self.segments[-1].nbytes

    def _split(self, chunk: Chunk, nbytes: int) -> None:
        rest = Chunk(chunk.segment, chunk.address + nbytes, chunk.nbytes - nbytes)
        chunk.nbytes = nbytes
        _join(rest, chunk.after)
        _join(chunk, rest)
        self._chunks[rest.address] = rest
        self._add_free(rest)

    def _absorb(self, chunk: Chunk, following: Chunk) -> None:
        chunk.nbytes += following.nbytes
        _join(chunk, following.after)
        del self._chunks[following.address]

    def _add_free(self, chunk: Chunk) -> None:
        insort(self._free[chunk.segment.pool], (chunk.nbytes, chunk.address))

    def _remove_free(self, chunk: Chunk) -> None:
        free = self._free[chunk.segment.pool]
        del free[bisect_left(free, (chunk.nbytes, chunk.address))]


def _join(before: Chunk, after: Chunk | None) -> None:
    """Make two chunks neighbours; None stands for the end of the segment."""
    before.after = after
    if after is not None:
        after.before = before


def rounded(nbytes: int) -> int:
    """Round up to 512 bytes; an empty array still takes one unit.

    Example:
        >>> rounded(0), rounded(512), rounded(513)
        (512, 512, 1024)
    """
    return max(ALIGNMENT, -(-nbytes // ALIGNMENT) * ALIGNMENT)


def _pool(nbytes: int) -> str:
    return "small_pool" if nbytes <= SMALL_MOST else "large_pool"
