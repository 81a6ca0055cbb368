"""`DeviceBuffer`: the bytes of one allocation, and who gets them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tinytorch_gpu.memory.segments import Chunk

__all__ = ["DeviceBuffer", "Owner"]


class Owner(Protocol):
    """Who handed a buffer out: the allocator."""

    def forget(self, buffer: DeviceBuffer) -> None:
        """Take back a buffer that is freed while arrays still name it."""
        ...

    def release(self, buffer: DeviceBuffer) -> None:
        """Take back a dead buffer's chunk."""
        ...


class DeviceBuffer:
    """One allocation: an address, and bytes that only the executor and copies touch.

    Args:
        owner: counts the buffer, and gets it back when it dies.
        chunk: where it lies.
        nbytes: bytes asked for.
        serial: counts the allocator's allocations; addresses are used again, it is not.

    `freed_by` tells what freed it under its arrays; it is "" while it may be used.
    `origin` is file and line of the user's code that asked for it, `contents` dtype and
    shape; both are known only of what was allocated while `Allocator.is_traced`.
    """

    __slots__ = (
        "__weakref__",
        "_bytes",
        "_owner",
        "address",
        "chunk",
        "contents",
        "freed_by",
        "nbytes",
        "origin",
        "serial",
    )

    def __init__(self, owner: Owner, chunk: Chunk, nbytes: int, serial: int) -> None:
        self._owner = owner
        self._bytes = np.empty(nbytes, np.uint8)
        self.chunk = chunk
        self.address = chunk.address
        self.nbytes = nbytes
        self.serial = serial
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
            self._owner.forget(self)

    def __del__(self) -> None:
        """Give the bytes back."""
        if not self.freed_by:
            self._owner.release(self)
