"""`Journal`: what a run has overwritten and printed, so that it can be as if never run.

Before a launch first writes into an allocation, its bytes are kept. A launch that
faults rolls back; one that ends drops the copies. What threads print is kept until it
is known that no other order of the lanes will be tried.
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
    """Bytes of allocations before their first write in a launch, and printed lines.

    `lines` holds what threads have printed, in order; `told` what has been warned of.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.told: set[Any] = set()
        self._before: dict[DeviceBuffer, npt.NDArray[Any]] = {}

    def will_write(self, buffer: DeviceBuffer) -> None:
        """Keep the allocation's bytes unless they are kept already."""
        if buffer not in self._before:
            self._before[buffer] = buffer.elements(BYTES).copy()

    @property
    def before(self) -> dict[DeviceBuffer, npt.NDArray[Any]]:
        """The bytes of each allocation before its first write."""
        return dict(self._before)

    def roll_back(self) -> None:
        """Put all kept bytes back."""
        for buffer, before in self._before.items():
            buffer.elements(BYTES)[:] = before
        self._before.clear()

    def show_lines(self) -> None:
        """Print the lines."""
        for line in self.lines:
            print(line)  # noqa: T201  (what the learner asked for)
        self.lines.clear()
