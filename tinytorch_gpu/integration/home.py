"""Where library code makes its constants: on the device of what it was called with.

A layer makes arrays of its own: a dropout mask, a causal mask, zeros to fill. TinyTorch
makes them on the host. While a layer, loss or gradient rule of TinyTorch runs with
device operands, that device is its *home*: `np.zeros(...)` in it is device memory, and
a `Tensor(...)` it makes from host numbers is copied there, with a reason that the
copy's record shows. Code of the learner's own scripts has no home, as in PyTorch.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime.placement import device_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tinytorch_gpu.runtime import Device

__all__ = ["at_home", "away_from_home", "current_home"]

_homes: list[tuple[Device, str] | None] = []


def current_home() -> tuple[Device, str] | None:
    """Return the device that library code works on now, and whose code it is."""
    return _homes[-1] if _homes else None


@contextmanager
def away_from_home() -> Iterator[None]:
    """Let library code have no home in the `with` block: it works on the host there.

    Example:
        >>> with away_from_home():
        ...     current_home() is None
        True
    """
    _homes.append(None)
    try:
        yield
    finally:
        _homes.pop()


def at_home(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Wrap library code: device operands give it a home while it runs.

    Args:
        function: a `forward`, or a gradient rule; its signature stays visible.
        name: what copies made in it are logged under, for example `"Dropout.forward"`.

    Example:
        >>> at_home(lambda x: current_home(), "f")(1.0) is None
        True
    """

    @functools.wraps(function)
    def wrapper(*args: Any, **options: Any) -> Any:
        device = _device((*args, *options.values()))
        if device is None:
            return function(*args, **options)
        _homes.append((device, name))
        try:
            return function(*args, **options)
        finally:
            _homes.pop()

    return wrapper


def _device(operands: Iterable[Any]) -> Device | None:
    """Return the device of the first operand (array or Tensor) that is on one."""
    for operand in operands:
        state = getattr(operand, "__dict__", {})
        array = operand if isinstance(operand, DeviceArray) else state.get("data")
        if isinstance(array, DeviceArray):
            return device_of(array)
    return None
