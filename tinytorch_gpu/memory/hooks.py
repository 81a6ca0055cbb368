"""What a DeviceArray asks of higher floors: copies (runtime) and ops (library).

A device array lies on a lower floor than the code that launches kernels for it. The
higher floors put themselves in here when they are imported; an array only calls.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import numpy as np
    import numpy.typing as npt

__all__ = ["Copies", "Hooks", "MemoryWatch", "Ops", "Waiting", "hooks"]


class Copies(Protocol):
    """Copies between host and device; each writes a record.

    `array` and `out` are device arrays; their class stands above this file.
    """

    def to_host(
        self, array: Any, reason: str, out: Any = None, stream: Any = 0
    ) -> npt.NDArray[Any]:
        """Copy all elements to the host, into `out` or a new array."""
        ...

    def to_device(
        self, host: Any, reason: str, out: Any = None, stream: Any = 0
    ) -> Any:
        """Copy a host array to the device, into `out` or a new array."""
        ...

    def in_stream(self, stream: Any) -> AbstractContextManager[None]:
        """Put what the `with` block launches into a stream; 0 changes nothing."""
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

    def gather(self, array: Any, key: Any) -> Any:
        """Return the elements that a key with index arrays or a mask names."""
        ...

    def scatter(self, array: Any, key: Any, value: Any) -> None:
        """Write where a key with index arrays or a mask says."""
        ...


class MemoryWatch(Protocol):
    """Who wants to know which device memory holds what somebody wrote."""

    def allocated(self, array: Any) -> None:
        """Hear of a new device array, whose elements nothing has written."""
        ...

    def written(self, array: Any, elements: npt.NDArray[Any]) -> None:
        """Hear that the host has written a device array's elements."""
        ...

    def misused(self, error: Exception) -> None:
        """Hear of a use of memory that was freed, which raises an error now."""
        ...


class Waiting(Protocol):
    """Launches that wait for somebody to look at memory, until it is over."""

    is_over: bool

    def flush(self) -> None:
        """Run them now."""
        ...


class Hooks:
    """Slots, empty until the higher floors are imported; who watches; what waits."""

    copies: Copies
    ops: Ops
    watches: tuple[MemoryWatch, ...] = ()

    @property
    def held(self) -> Waiting | None:
        """Launches that were put off: who looks at any element runs them first."""
        held = _held.get()
        return None if held is None or held.is_over else held

    @held.setter
    def held(self, held: Waiting | None) -> None:
        _held.set(held)

    def look(self) -> None:
        """Run what waits: somebody looks at memory, or measures."""
        held = self.held
        if held is not None:
            held.flush()


# Of each thread its own: what one puts off is no other's.
_held: ContextVar[Waiting | None] = ContextVar("held", default=None)
hooks = Hooks()
