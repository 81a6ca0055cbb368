"""The caching allocator: hands out device memory, and counts it.

An allocation gets a chunk of a segment (`segments.py`): a simulated address, aligned to
512 bytes. It is given back at once when the last array on it dies; the segment is kept
for the next request, because asking the driver takes time. What does not fit is refused
before anything changes.

Source: CUDA C++ Programming Guide, "Device Memory Accesses" (alignment of at least 256
bytes); PyTorch's CUDACachingAllocator.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from tinytorch_gpu.errors import OutOfMemoryError
from tinytorch_gpu.memory.buffer import DeviceBuffer
from tinytorch_gpu.memory.origin import user_line
from tinytorch_gpu.memory.segments import (
    LARGE_SEGMENT,
    LARGE_UNIT,
    SegmentCache,
    rounded,
)
from tinytorch_gpu.memory.statistics import MemoryStatistics
from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.memory.segments import Chunk, Segment

__all__ = ["Allocator"]


class Allocator:
    """The memory of one device, handed out in chunks and counted.

    Args:
        capacity_bytes: the device's memory.
        device: how errors name the device.
        base: address of the first segment.

    `is_traced` makes new buffers keep where they come from. `next_serial` is the serial
    number of the next one. `on_driver_call` hears of each cudaMalloc and cudaFree, by
    name.

    Example:
        >>> allocator = Allocator(2**30)
        >>> buffer = allocator.allocate(100)
        >>> buffer.address % 512, allocator.allocated_bytes, allocator.reserved_bytes
        (0, 512, 2097152)
        >>> del buffer
        >>> allocator.allocated_bytes, allocator.peak_bytes, allocator.reserved_bytes
        (0, 512, 2097152)
        >>> allocator.empty_cache()
        >>> allocator.reserved_bytes
        0
    """

    def __init__(
        self, capacity_bytes: int, device: str = "simgpu:0", base: int = LARGE_UNIT
    ) -> None:
        self.capacity_bytes = capacity_bytes
        self.device = device
        self.statistics = MemoryStatistics()
        self.on_driver_call: Callable[[str], None] = lambda _name: None
        self.is_traced = False
        self.next_serial = 0
        self._cache = SegmentCache(
            base, has_own_segments=capacity_bytes < LARGE_SEGMENT
        )
        self._live: WeakValueDictionary[int, DeviceBuffer] = WeakValueDictionary()
        self._returned: deque[tuple[Chunk, int]] = deque()
        self._is_busy = False

    @property
    def allocated_bytes(self) -> int:
        """Bytes of the chunks that live buffers lie in."""
        return self.statistics.of("allocated_bytes").current

    @property
    def peak_bytes(self) -> int:
        """The most `allocated_bytes` at one time, since peaks were reset."""
        return self.statistics.of("allocated_bytes").peak

    @property
    def reserved_bytes(self) -> int:
        """Bytes of all segments, in use or kept."""
        return self.statistics.of("reserved_bytes").current

    @property
    def free_bytes(self) -> int:
        """Bytes that the driver still has."""
        return self.capacity_bytes - self.reserved_bytes

    def set_capacity(self, capacity_bytes: int) -> None:
        """Have another amount of memory from now on, and no cache.

        Live buffers keep their addresses, each in a segment of its own.

        Args:
            capacity_bytes: at least `allocated_bytes`.
        """
        self.capacity_bytes = capacity_bytes
        for segment in self._cache.segments:
            self._count_segment(segment, -1)
        self._cache.keep_used()
        for segment in self._cache.segments:
            self._count_segment(segment, 1)
        self._cache.has_own_segments = capacity_bytes < LARGE_SEGMENT

    def split_bytes(self, pool: str) -> int:
        """Return the free bytes of segments that live buffers lie in too.

        They are free for further requests, and cannot go back to the driver.

        Args:
            pool: "small_pool" or "large_pool".
        """
        return self._cache.split_bytes(pool)

    def allocate(self, nbytes: int) -> DeviceBuffer:
        """Return a new buffer of `nbytes` bytes, contents undefined.

        Raises:
            OutOfMemoryError: neither a free chunk nor a new segment holds the rounded
                size, even with the cache emptied; no live array has changed.
        """
        self._is_busy = True
        try:
            chunk = self._chunk(nbytes)
        finally:
            self._is_busy = False
            self._settle()
        self._count(chunk, nbytes, 1)
        buffer = DeviceBuffer(self, chunk, nbytes, self.next_serial)
        if self.is_traced:
            buffer.origin = user_line()
        self._live[buffer.serial] = buffer
        self.next_serial += 1
        return buffer

    def find(self, address: int) -> DeviceBuffer | None:
        """Return the live buffer that holds the byte at an address, or None."""
        for buffer in self._live.values():
            if 0 <= address - buffer.address < max(1, buffer.nbytes):
                return buffer
        return None

    def live_since(self, serial: int) -> list[DeviceBuffer]:
        """Return the live buffers that were allocated since `next_serial` was this.

        Args:
            serial: what `next_serial` was.

        Example:
            >>> allocator = Allocator(4096)
            >>> since = allocator.next_serial
            >>> kept, dropped = allocator.allocate(8), allocator.allocate(8)
            >>> del dropped
            >>> allocator.live_since(since) == [kept]
            True
        """
        return [b for number, b in sorted(self._live.items()) if number >= serial]

    def free_all(self, reason: str) -> None:
        """Free all memory, whoever uses it, as the end of a CUDA context does.

        Args:
            reason: what the learner wrote.
        """
        for buffer in self.live_since(0):
            buffer.free(reason)
        self.empty_cache()

    def empty_cache(self) -> None:
        """Give the driver back all segments that no live buffer lies in."""
        for segment in self._cache.drop_free_segments():
            self._count_segment(segment, -1)
            self.on_driver_call("cudaFree")

    def forget(self, buffer: DeviceBuffer) -> None:
        """Take back a buffer that is freed while arrays still name it."""
        self._live.pop(buffer.serial, None)
        self.release(buffer)

    def release(self, buffer: DeviceBuffer) -> None:
        """Take back a dead buffer's chunk.

        Python may collect garbage, and so call this, in the midst of `allocate`: then
        the chunk waits until that is done.
        """
        self._returned.append((buffer.chunk, buffer.nbytes))
        if not self._is_busy:
            self._settle()

    def _settle(self) -> None:
        """Put returned chunks into the cache."""
        self._is_busy = True
        while self._returned:
            chunk, nbytes = self._returned.popleft()
            self._count(chunk, nbytes, -1)
            self._cache.give_back(chunk)
        self._is_busy = False

    def _chunk(self, nbytes: int) -> Chunk:
        """Return a chunk of the cache, or of a new segment."""
        size = rounded(nbytes)
        chunk = self._cache.fitting(size) or self._add_segment(nbytes, size)
        return self._cache.take(chunk, size)

    def _add_segment(self, nbytes: int, size: int) -> Chunk:
        """Ask the driver for a segment, with the cache emptied if need be."""
        need = self._cache.segment_bytes(size)
        if need > self.free_bytes:
            self.statistics.alloc_retries += 1
            self.empty_cache()
        if need > self.free_bytes:
            self.statistics.ooms += 1
            raise self._out_of_memory(nbytes, need)
        chunk = self._cache.add_segment(size)
        self._count_segment(chunk.segment, 1)
        self.on_driver_call("cudaMalloc")
        return chunk

    def _count_segment(self, segment: Segment, sign: int) -> None:
        """Count a segment that the driver gave or took."""
        self.statistics.add("segment", segment.pool, sign)
        self.statistics.add("reserved_bytes", segment.pool, sign * segment.nbytes)

    def _count(self, chunk: Chunk, nbytes: int, sign: int) -> None:
        """Count a chunk that begins or ends to be in use."""
        pool = chunk.segment.pool
        self.statistics.add("allocation", pool, sign)
        self.statistics.add("allocated_bytes", pool, sign * chunk.nbytes)
        self.statistics.add("requested_bytes", pool, sign * nbytes)

    def _out_of_memory(self, nbytes: int, need: int) -> OutOfMemoryError:
        largest = self._cache.largest_free_bytes()
        return OutOfMemoryError(
            f"{self.device} is out of memory: {format_bytes(nbytes)} requested",
            where="allocating device memory",
            why=f"of {format_bytes(self.capacity_bytes)}, segments reserve "
            f"{format_bytes(self.reserved_bytes)} and arrays have "
            f"{format_bytes(self.allocated_bytes)} of that;\n"
            f"a new segment of {format_bytes(need)} does not fit into the "
            f"{format_bytes(self.free_bytes)} that are free,\n"
            f"and the largest free chunk has {format_bytes(largest)}",
            fix="free arrays you no longer need (del x), use smaller batches,\n"
            'or model a larger GPU: install(gpu="a100")',
            requested_bytes=nbytes,
            allocated_bytes=self.allocated_bytes,
            reserved_bytes=self.reserved_bytes,
            free_bytes=self.free_bytes,
            largest_free_bytes=largest,
            capacity_bytes=self.capacity_bytes,
        )
