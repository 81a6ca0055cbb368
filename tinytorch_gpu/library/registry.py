"""The table of kernels: op × key → the functions registered, the last one on top.

The learner's registration covers the shipped one; `override` puts one on top for a
while. In PyTorch's words; `op "_"` holds the fallbacks, which serve every op.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, overload

from tinytorch_gpu.errors import DuplicateKernelError
from tinytorch_gpu.library.keys import DispatchKey, device_key, device_keys
from tinytorch_gpu.library.registration import Registration, registration
from tinytorch_gpu.library.schema import known_op, qualified, schema_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinytorch_gpu.trace import KernelSource

__all__ = [
    "ANY_OP",
    "find",
    "has_kernel",
    "impl",
    "override",
    "put",
    "register_kernel",
    "registered",
    "shipped",
    "take_away",
    "when_changed",
]

ANY_OP = "_"  # torch.library's name for the namespace of all ops
Function = TypeVar("Function", bound="Callable[..., Any]")
Types = str | tuple[str, ...] | list[str] | None


_table: dict[tuple[str, DispatchKey], list[Registration]] = {}
_hear: list[Callable[[], None]] = []


def when_changed(hear: Callable[[], None]) -> None:
    """Have a function called whenever the table changes."""
    _hear.append(hear)


@overload
def impl(qualname: str, types: Types = ...) -> Callable[[Function], Function]: ...


@overload
def impl(qualname: str, types: Types, func: Function) -> Function: ...


def impl(
    qualname: str, types: Types = "simgpu", func: Function | None = None
) -> Function | Callable[[Function], Function]:
    """Register a function as an op's kernel; a call, or a decorator without `func`.

    Args:
        qualname: the op, for example `"tinytorch::sigmoid"`.
        types: device types or keys, one or several; see `device_key`.
        func: the function.

    Returns:
        The function, or the decorator that registers and returns it.

    Raises:
        OpNotFoundError: no op has that name.
        UnknownDeviceError: a type is no device type and no key.
        UnsupportedError: what is registered is no Python function.
        SchemaError: the function does not take what the op's schema says.
        DuplicateKernelError: another function of yours is registered there.

    Example:
        >>> from tinytorch_gpu.library.schema import define
        >>> define("lesson::same", "(x)")
        >>> @impl("lesson::same", "simgpu")
        ... def same(x):
        ...     return x
        >>> find("lesson::same", DispatchKey.SIMGPU).function is same
        True
    """
    op, keys = known_op(qualname), device_keys(types)

    def register(function: Function) -> Function:
        made = registration(function, op, schema_of(op))
        for key in keys:
            _check_is_single(op, key, made)
        for key in keys:
            _register(op, key, made)
        return function

    return register if func is None else register(func)


@overload
def register_kernel(
    op: str, device_types: Types, /
) -> Callable[[Function], Function]: ...


@overload
def register_kernel(op: str, device_types: Types, func: Function, /) -> Function: ...


def register_kernel(
    op: str, device_types: Types, func: Function | None = None, /
) -> Function | Callable[[Function], Function]:
    """Register a function as an op's kernel for device types, as torch.library does.

    Args:
        op: the op.
        device_types: see `impl`; None for code that runs on any device.
        func: the function; without it this is a decorator.

    Raises:
        OpNotFoundError: no op has that name.
        UnknownDeviceError: a type is no device type and no key.
        UnsupportedError: what is registered is no Python function.
        SchemaError: the function does not take what the op's schema says.
        DuplicateKernelError: another function of yours is registered there.

    Example:
        >>> from tinytorch_gpu.library.schema import define
        >>> define("lesson::twice", "(x)")
        >>> @register_kernel("lesson::twice", None)
        ... def twice(x):
        ...     return x + x
        >>> "lesson::twice" in registered(DispatchKey.DECOMPOSE)
        True
    """
    return impl(op, device_types) if func is None else impl(op, device_types, func)


@contextmanager
def override(
    qualname: str, device: str, function: Callable[..., Any]
) -> Iterator[None]:
    """Use another kernel for an op within a `with` block; blocks may be nested.

    Args:
        qualname: the op.
        device: a device type or a key, see `impl`.
        function: the function to use.

    Raises:
        OpNotFoundError: no op has that name.
        UnknownDeviceError: the device is no device type and no key.
        UnsupportedError: it is no Python function.
        SchemaError: it does not take what the op's schema says.
    """
    op, key = known_op(qualname), device_key(device)
    made = registration(function, op, schema_of(op))
    put(op, key, made)
    try:
        yield
    finally:
        take_away(op, key, made)


def find(qualname: str, key: DispatchKey) -> Registration | None:
    """Return what serves an op at a key, or None."""
    stack = _table.get((qualname, key))
    return stack[-1] if stack else None


def has_kernel(qualname: str) -> bool:
    """Tell whether a function is registered for an op at SimGPU, and no fallthrough.

    Example:
        >>> has_kernel("lesson::nothing")
        False
    """
    found = find(qualified(qualname), DispatchKey.SIMGPU)
    return found is not None and not found.is_fallthrough


def registered(key: DispatchKey = DispatchKey.SIMGPU) -> dict[str, KernelSource]:
    """Return every op that has a function at a key, with the function's place."""
    ops = sorted(op for (op, k), stack in _table.items() if k is key and stack)
    return {op: _table[op, key][-1].source for op in ops if op != ANY_OP}


def shipped(op: str, key: DispatchKey) -> Registration | None:
    """Return this package's own function of an op at a key, or None."""
    return next((r for r in _table.get((op, key), []) if r.is_shipped), None)


def put(op: str, key: DispatchKey, made: Registration) -> None:
    """Put a registration on top of an op's others."""
    _table.setdefault((op, key), []).append(made)
    _changed()


def take_away(op: str, key: DispatchKey, made: Registration) -> None:
    """Take a registration away, wherever in the stack it is."""
    stack = _table.get((op, key), [])
    stack[:] = [other for other in stack if other is not made]
    _changed()


def _register(op: str, key: DispatchKey, made: Registration) -> None:
    """Put a function on top; what it redefines goes."""
    for old in list(_table.get((op, key), [])):
        if _is_rerun(old, made):
            take_away(op, key, old)
    put(op, key, made)


def _check_is_single(op: str, key: DispatchKey, made: Registration) -> None:
    """Refuse a function beside another one of the learner's that it does not redefine.

    Raises:
        DuplicateKernelError: both would stay.
    """
    others = [o for o in _table.get((op, key), []) if not _is_rerun(o, made)]
    if others and not (others[-1].is_shipped or others[-1].is_fallthrough):
        raise _duplicate(op, key, others[-1], made)


def _is_rerun(old: Registration, new: Registration) -> bool:
    """Tell whether a cell or module was run again.

    Then the new function stands at the same place, or it redefines the old one: in one
    namespace it has its name. A cell that was changed first is such a case.
    """
    if old.source == new.source:
        return True
    names = {part.function.__qualname__ for part in (old, new)}
    spaces = [getattr(part.function, "__globals__", None) for part in (old, new)]
    is_named = not names & {"_", "<lambda>"}
    return len(names) == 1 and is_named and spaces[0] is spaces[1]


def _duplicate(
    op: str, key: DispatchKey, old: Registration, new: Registration
) -> DuplicateKernelError:
    sites = tuple(f"{r.source.file}:{r.source.line}" for r in (old, new))
    return DuplicateKernelError(
        f"op `{op}` has two registrations at {key.value}",
        where=f"first {old.source.name}: {sites[0]}\n"
        f"now   {new.source.name}: {sites[1]}",
        why="one function serves an op at a key; which of the two, nobody said",
        fix="give both the same name, so that the second replaces the first; or\n"
        f'with library.override("{op}", "{key.value}", {new.source.name}): ...',
        op=op,
        sites=sites,
    )


def _changed() -> None:
    for hear in _hear:
        hear()
