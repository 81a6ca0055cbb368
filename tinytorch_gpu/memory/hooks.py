"""What a DeviceArray asks of higher floors: copies (runtime) and ops (library).

A device array lies on a lower floor than the code that launches kernels for it. The
higher floors put themselves in here when they are imported; an array only calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Copies", "Hooks", "Ops", "hooks"]


class Copies(Protocol):
    """Copies between host and device; each writes a record.

    `array` and `out` are device arrays; their class stands above this file.
    """

    def to_host(self, array: Any, reason: str, out: Any = None) -> npt.NDArray[Any]:
        """Copy all elements to the host, into `out` or a new array."""
        ...

    def to_device(self, host: npt.NDArray[Any], reason: str, out: Any = None) -> Any:
        """Copy a host array to the device, into `out` or a new array."""
        ...


class Ops(Protocol):
    """NumPy's protocols and methods, answered by launches."""

    def ufunc(
        self,
        ufunc: np.ufunc,
        method: str,
        inputs: tuple[Any, ...],
        options: dict[str, Any],
    ) -> Any:
        """Answer `__array_ufunc__`."""
        ...

    def function(
        self, function: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Answer `__array_function__`."""
        ...

    def convert(self, array: Any, dtype: np.dtype[Any]) -> Any:
        """Copy an array into a new contiguous one of that dtype."""
        ...

    def assign(self, out: Any, value: Any) -> None:
        """Copy a value (broadcast) into every element of a device array."""
        ...


class Hooks:
    """The two slots; empty until the higher floors are imported."""

    copies: Copies
    ops: Ops


hooks = Hooks()
