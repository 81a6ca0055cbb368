"""Device memory by the byte: buffers, and the allocator that counts them.

An allocation gets a simulated address, aligned as cudaMalloc aligns, and is given back
when the last array on it dies. `Allocator.allocate` refuses what does not fit before
anything changes.

Source: CUDA C++ Programming Guide, "Device Memory Accesses" (alignment of at least 256
bytes); PyTorch's caching allocator rounds to 512.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.errors import OutOfMemoryError
from tinytorch_gpu.memory.origin import user_line
from tinytorch_gpu.units import format_bytes

__all__ = ["ALIGNMENT", "Allocator", "DeviceBuffer"]

ALIGNMENT = 512


class DeviceBuffer:
    """One allocation: an address, and bytes that only the executor and copies touch.

    Args:
        allocator: counts the buffer, and gets it back when it dies.
        address: simulated byte address.
        nbytes: bytes asked for.

    `freed_by` tells what freed it under its arrays; it is "" while it may be used.
    `origin` is file and line of the user's code that asked for it, `contents` dtype and
    shape; both are known only of what was allocated while `Allocator.is_traced`.
    """

    __slots__ = (
        "__weakref__",
        "_allocator",
        "_bytes",
        "address",
        "contents",
        "freed_by",
        "nbytes",
        "origin",
    )

    def __init__(self, allocator: Allocator, address: int, nbytes: int) -> None:
        self._allocator = allocator
        self._bytes = np.empty(nbytes, np.uint8)
        self.address = address
        self.nbytes = nbytes
        self.freed_by = ""
        self.origin: tuple[str, int] | None = None
        self.contents = ""

    def elements(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """View the bytes as whole elements, (n,); not for the host's eyes."""
        whole = self.nbytes - self.nbytes % dtype.itemsize
        return self._bytes[:whole].view(dtype)

    def offset_of(self, elements: npt.NDArray[Any]) -> int:
        """Return the byte at which a view of this buffer begins."""
        start: int = elements.__array_interface__["data"][0]
        return start - int(self._bytes.__array_interface__["data"][0])

    def free(self, reason: str = "array.gpu_data.free()") -> None:
        """Give the bytes back now; arrays that lie in them cannot be used any more.

        Args:
            reason: what the learner wrote.
        """
        if not self.freed_by:
            self.freed_by = reason
            self._allocator.forget(self)

    def __del__(self) -> None:
        """Give the bytes back."""
        if not self.freed_by:
            self._allocator.release(self.nbytes)


class Allocator:
    """Counts the bytes of live buffers against a capacity.

    Args:
        capacity_bytes: the device's memory.
        device: how errors name the device.

    `is_traced` makes new buffers keep where they come from.

    Example:
        >>> allocator = Allocator(1024)
        >>> buffer = allocator.allocate(100)
        >>> buffer.address % 512, allocator.allocated_bytes
        (0, 512)
        >>> del buffer
        >>> allocator.allocated_bytes, allocator.peak_bytes
        (0, 512)

    Limits: addresses are never used twice, so there is no fragmentation.
    """

    def __init__(self, capacity_bytes: int, device: str = "simgpu:0") -> None:
        self.capacity_bytes = capacity_bytes
        self.device = device
        self.allocated_bytes = 0
        self.peak_bytes = 0
        self.is_traced = False
        self.next_address = ALIGNMENT
        self._live: WeakValueDictionary[int, DeviceBuffer] = WeakValueDictionary()

    def allocate(self, nbytes: int) -> DeviceBuffer:
        """Return a new buffer of `nbytes` bytes, contents undefined.

        Raises:
            OutOfMemoryError: the rounded size does not fit; nothing has changed.
        """
        rounded = _rounded(nbytes)
        if self.allocated_bytes + rounded > self.capacity_bytes:
            raise self._out_of_memory(nbytes)
        buffer = DeviceBuffer(self, self.next_address, nbytes)
        if self.is_traced:
            buffer.origin = user_line()
        self._live[buffer.address] = buffer
        self.next_address += rounded
        self.allocated_bytes += rounded
        self.peak_bytes = max(self.peak_bytes, self.allocated_bytes)
        return buffer

    def find(self, address: int) -> DeviceBuffer | None:
        """Return the live buffer that holds the byte at an address, or None."""
        for buffer in self._live.values():
            if 0 <= address - buffer.address < max(1, buffer.nbytes):
                return buffer
        return None

    def live_since(self, address: int) -> list[DeviceBuffer]:
        """Return the live buffers that were allocated since `next_address` was this.

        Args:
            address: what `next_address` was.

        Example:
            >>> allocator = Allocator(4096)
            >>> since = allocator.next_address
            >>> kept, dropped = allocator.allocate(8), allocator.allocate(8)
            >>> del dropped
            >>> allocator.live_since(since) == [kept]
            True
        """
        return [b for at, b in sorted(self._live.items()) if at >= address]

    def free_all(self, reason: str) -> None:
        """Free all memory, whoever uses it, as the end of a CUDA context does.

        Args:
            reason: what the learner wrote.
        """
        for buffer in self.live_since(0):
            buffer.free(reason)

    def forget(self, buffer: DeviceBuffer) -> None:
        """Take a freed buffer out of the count."""
        self._live.pop(buffer.address, None)
        self.release(buffer.nbytes)

    def release(self, nbytes: int) -> None:
        """Take a dead buffer's bytes out of the count."""
        self.allocated_bytes -= _rounded(nbytes)

    def _out_of_memory(self, nbytes: int) -> OutOfMemoryError:
        free = self.capacity_bytes - self.allocated_bytes
        return OutOfMemoryError(
            f"{self.device} is out of memory: {format_bytes(nbytes)} requested",
            where="allocating device memory",
            why=f"{format_bytes(self.allocated_bytes)} of "
            f"{format_bytes(self.capacity_bytes)} are allocated, "
            f"{format_bytes(free)} are free",
            fix="free arrays you no longer need (del x), use smaller batches,\n"
            'or model a larger GPU: install(gpu="a100")',
            requested_bytes=nbytes,
            allocated_bytes=self.allocated_bytes,
            free_bytes=free,
            capacity_bytes=self.capacity_bytes,
        )


def _rounded(nbytes: int) -> int:
    """Round up to the alignment; an empty array still takes one unit."""
    return max(ALIGNMENT, -(-nbytes // ALIGNMENT) * ALIGNMENT)
