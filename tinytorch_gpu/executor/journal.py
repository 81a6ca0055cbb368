"""`Journal`: what a kernel has overwritten, so that a fault leaves arrays as they were.

Before a launch first writes into an allocation, its bytes are kept. A launch that
faults rolls back; one that ends drops the copies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceBuffer

__all__ = ["Journal"]

BYTES = np.dtype(np.uint8)


class Journal:
    """Bytes of allocations before their first write in a launch."""

    def __init__(self) -> None:
        self._before: dict[DeviceBuffer, npt.NDArray[Any]] = {}

    def will_write(self, buffer: DeviceBuffer) -> None:
        """Keep the allocation's bytes unless they are kept already."""
        if buffer not in self._before:
            self._before[buffer] = buffer.elements(BYTES).copy()

    def roll_back(self) -> None:
        """Put all kept bytes back."""
        for buffer, before in self._before.items():
            buffer.elements(BYTES)[:] = before
        self._before.clear()
