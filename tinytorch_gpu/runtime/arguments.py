"""Arguments of a launch: checked before anything happens, then brought to the device.

`check_arguments` gives what can be judged without a copy: host arrays stand with their
copy direction. `types_of` shows their types to the kernel's compiler, `to_kernel`
copies them and returns the values, and what to copy back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.global_memory import global_array
from tinytorch_gpu.executor.kernel_array import KernelArray
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime.directions import ArgHint, InOut
from tinytorch_gpu.runtime.exchange import array_from_interface, has_interface
from tinytorch_gpu.runtime.placement import check_is_here

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.trace import KernelSource

__all__ = ["check_arguments", "to_kernel", "types_of"]


def check_arguments(
    kernel: KernelSource, names: tuple[str, ...], arguments: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Check the arguments of a launch; nothing is copied.

    Args:
        kernel: the kernel's name and place.
        names: names of its parameters.
        arguments: what the launch was given.

    Returns:
        Device arrays as kernels see them, `ArgHint`s of host arrays, NumPy scalars,
        None, and tuples.

    Raises:
        KernelTypeError: there are too many or too few, or a kernel cannot take one.
        DeviceMismatchError: an array lies on another device.
        DtypeError: device memory does not hold the dtype of a host array.
    """
    if len(arguments) != len(names):
        raise KernelTypeError(
            f"{kernel.name} takes {len(names)} arguments, {len(arguments)} were given",
            where=str(kernel),
            why="parameters: " + ", ".join(names),
            fix="pass one argument for each parameter",
        )
    return tuple(
        _checked(kernel, name, value)
        for name, value in zip(names, arguments, strict=True)
    )


def types_of(checked: Any) -> Any:
    """Return checked arguments as the executor takes them, host arrays without bytes.

    Args:
        checked: what `check_arguments` returned, or a part of it.
    """
    if isinstance(checked, ArgHint):
        host = checked.value
        return KernelArray(np.empty(0, host.dtype), np.int64(0), host.shape, ())
    if isinstance(checked, tuple):
        return _rebuilt(checked, [types_of(part) for part in checked])
    return checked


def to_kernel(
    kernel: KernelSource, names: tuple[str, ...], checked: tuple[Any, ...]
) -> tuple[tuple[Any, ...], list[Callable[[], None]]]:
    """Bring checked arguments to the device.

    Args:
        kernel: the kernel's name and place, for the records.
        names: names of its parameters.
        checked: what `check_arguments` returned.

    Returns:
        The values that the executor takes, and what to call after the launch to copy
        results back. A host array that is given twice has one copy.
    """
    copies = _HostArrays()
    values = []
    for name, value in zip(names, checked, strict=True):
        reason = f"host array argument `{name}` of {kernel.name}"
        values.append(copies.to_kernel(value, reason))
    return tuple(values), copies.copy_back


class _HostArrays:
    """The host arrays of one launch and their copies on the device."""

    def __init__(self) -> None:
        self.copies: dict[tuple[int, type[ArgHint]], DeviceArray] = {}
        self.copy_back: list[Callable[[], None]] = []

    def to_kernel(self, value: Any, reason: str) -> Any:
        """Return an argument as the executor takes it."""
        if isinstance(value, tuple):
            return _rebuilt(value, [self.to_kernel(part, reason) for part in value])
        if isinstance(value, ArgHint):
            array = global_array(self._copy(value, reason))
            array.is_read_only = not value.value.flags.writeable
            return array
        return value

    def _copy(self, hint: ArgHint, reason: str) -> DeviceArray:
        key = id(hint.value), type(hint)
        if key not in self.copies:
            array = self.copies[key] = hint.on_device(reason)
            self.copy_back.append(lambda: hint.copy_back(array, reason))
        return self.copies[key]


def _checked(kernel: KernelSource, name: str, value: Any) -> Any:
    """Return an argument as a kernel takes it."""
    if isinstance(value, DeviceArray):
        return global_array(check_is_here(kernel, name, value))
    if value is None:
        return None
    if isinstance(value, tuple):
        return _rebuilt(value, [_checked(kernel, name, part) for part in value])
    if isinstance(value, (ArgHint, np.ndarray)):
        return _checked_hint(kernel, name, value)
    number = _number(value)
    if number is not None:
        return number
    if has_interface(value):
        array = array_from_interface(value.__cuda_array_interface__)
        return global_array(check_is_here(kernel, name, array))
    raise _not_taken(kernel, name, value)


def _checked_hint(kernel: KernelSource, name: str, value: Any) -> Any:
    """Return a host array with its direction; a device array in a hint as it is."""
    hint = value if isinstance(value, ArgHint) else InOut(value)
    if not isinstance(hint.value, np.ndarray):
        return _checked(kernel, name, hint.value)
    check_dtype(hint.value.dtype, f"argument `{name}` (host array)")
    return hint


def _number(value: Any) -> Any:
    """Return a number as numba types it; None for what is none, or over 64 bits."""
    if isinstance(value, np.generic):
        return value if value.dtype.kind in "biuf" else None
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, float):
        return np.float64(value)
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        return np.int64(value) if value < 2**63 else np.uint64(value)
    return None


def _rebuilt(original: tuple[Any, ...], parts: list[Any]) -> tuple[Any, ...]:
    """Return a tuple or named tuple of the same kind with other parts."""
    kind: Any = type(original)
    made: tuple[Any, ...] = kind(*parts) if hasattr(kind, "_fields") else tuple(parts)
    return made


def _not_taken(kernel: KernelSource, name: str, value: Any) -> KernelTypeError:
    return KernelTypeError(
        f"argument `{name}` of {kernel.name} is a {type(value).__name__}",
        where=str(kernel),
        why="a kernel takes device arrays, NumPy arrays, floats, bools, integers of "
        "64 bits,\ntuples of these, and None",
        fix="convert it, for example with cuda.to_device(np.array(...)); "
        "of a Tensor pass .data",
    )
