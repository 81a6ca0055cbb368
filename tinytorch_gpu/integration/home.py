"""Where library code makes its constants: on the device of what it was called with.

A layer makes arrays of its own: a dropout mask, a causal mask, zeros to fill. TinyTorch
makes them on the host. While a layer, loss or gradient rule of TinyTorch runs with
device operands, that device is its *home*: `np.zeros(...)` in it is device memory, and
a `Tensor(...)` it makes from host numbers is copied there, with a reason that the
copy's record shows. Code of the learner's own scripts has no home, as in PyTorch. Nor
is a Tensor that somebody forgot to move a constant: it is refused.
"""

from __future__ import annotations

import functools
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime.placement import check_no_host_array, device_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tinytorch_gpu.runtime import Device

__all__ = [
    "Home", "at_home", "away_from_home", "current_home", "is_host", "is_library",
    "know_library",
]  # fmt: skip


class Home(NamedTuple):
    """Where library code is at work.

    Args:
        device: the device of its operands.
        name: whose code it is.
        owner: the layer or node; None for a function.
    """

    device: Device
    name: str
    owner: Any = None


# Of this thread: a loader that runs beside has a stack of its own.
_homes: ContextVar[tuple[Home | None, ...]] = ContextVar("_homes", default=())
_library: set[str] = set()


def current_home() -> Home | None:
    """Return the device that library code works on now, and whose code it is."""
    homes = _homes.get()
    return homes[-1] if homes else None


def know_library(names: Iterable[str]) -> None:
    """Note the modules of a TinyTorch.

    Args:
        names: their full names.
    """
    _library.update(names)


def is_library() -> bool:
    """Tell whether library code has asked for what is computed now."""
    frame = sys._getframe(1)  # noqa: SLF001  (documented, and far cheaper)
    while frame.f_back is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name in _library:
            return True
        if name.partition(".")[0] not in {"tinytorch_gpu", "numpy", "functools"}:
            return False
        frame = frame.f_back
    return False


@contextmanager
def away_from_home() -> Iterator[None]:
    """Let library code have no home in the `with` block: it works on the host there.

    Example:
        >>> with away_from_home():
        ...     current_home() is None
        True
    """
    before = _homes.set((*_homes.get(), None))
    try:
        yield
    finally:
        _homes.reset(before)


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
        operands = (*args, *options.values())
        arrays = [_array(operand) for operand in operands]
        there = [array for array in arrays if isinstance(array, DeviceArray)]
        if not there:
            return function(*args, **options)
        owner = args[0] if args and arrays[0] is None else None
        host = [array.shape for array in arrays if is_host(array)]
        check_no_host_array(name, there, host)
        home = Home(device_of(there[0]), name, owner)
        before = _homes.set((*_homes.get(), home))
        try:
            return function(*args, **options)
        finally:
            _homes.reset(before)

    return wrapper


def _array(operand: Any) -> Any:
    """Return a device array, or the data of a Tensor; None of anything else."""
    state = getattr(operand, "__dict__", {})
    return operand if isinstance(operand, DeviceArray) else state.get("data")


def is_host(array: Any) -> bool:
    """Tell whether an operand is a host array with axes.

    Args:
        array: an operand.
    """
    return isinstance(array, np.ndarray) and bool(array.ndim)
