"""Copy directions of host arrays given to a launch: `In`, `Out`, `InOut`.

Source: numba.cuda 0.30.4, `numba.cuda.args`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.runtime.copy import empty_like, to_device, to_host

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["ArgHint", "In", "InOut", "Out"]


class ArgHint:
    """A host array and the direction in which a launch copies it.

    Args:
        value: the host array; a device array is used as it is.
    """

    copies_in = True
    copies_back = True

    def __init__(self, value: Any) -> None:
        self.value = value

    def on_device(self, reason: str) -> DeviceArray:
        """Return the array that the kernel gets, copied or left undefined.

        Args:
            reason: for the copy's record.
        """
        if self.copies_in:
            return to_device(self.value, reason)
        return empty_like(self.value)

    def copy_back(self, array: DeviceArray, reason: str) -> None:
        """Copy what the kernel left to the host array, if it is to be and can be.

        Args:
            array: what `on_device` returned.
            reason: for the copy's record.
        """
        if self.copies_back and self.value.flags.writeable:
            to_host(array, reason, out=self.value)

    def __repr__(self) -> str:
        """Name the direction and what is copied."""
        return f"cuda.{type(self).__name__}({self.value!r})"


class In(ArgHint):
    """Copy to the device before the launch, and not back.

    Example:
        >>> import numpy as np
        >>> In(np.zeros(2))
        cuda.In(array([0., 0.]))
    """

    copies_back = False


class Out(ArgHint):
    """Copy back after the launch, and not in: what the kernel leaves out is poison."""

    copies_in = False


class InOut(ArgHint):
    """Copy in and back, as for a plain host array."""
