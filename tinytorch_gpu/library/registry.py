"""The table of kernels: op × key → the function registered last.

The learner's registration covers the shipped one; `override` takes it away again.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.library.keys import DispatchKey, device_key
from tinytorch_gpu.library.schema import qualified, schema_of
from tinytorch_gpu.trace import KernelSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Registration", "find", "impl", "override", "registered"]

Function = TypeVar("Function", bound="Callable[..., Any]")


@dataclass(frozen=True)
class Registration:
    """One registered function.

    Args:
        function: the host function that launches the kernels.
        source: its name, file and line.
    """

    function: Callable[..., Any]
    source: KernelSource


_table: dict[tuple[str, DispatchKey], list[Registration]] = {}


def impl(qualname: str, device: str = "simgpu") -> Callable[[Function], Function]:
    """Register a function as an op's kernel on a device; use as a decorator.

    Args:
        qualname: the op, for example `"tinytorch::sigmoid"`.
        device: `"simgpu"`.

    Returns:
        A decorator that registers the function and returns it unchanged.

    Raises:
        OpNotFoundError: no op has that name.
        ValueError: kernels cannot be registered for that device.
        UnsupportedError: what is decorated is no Python function.

    Example:
        >>> from tinytorch_gpu.library.schema import define
        >>> define("lesson::same", "(x)")
        >>> @impl("lesson::same", "simgpu")
        ... def same(x):
        ...     return x
        >>> find("lesson::same", DispatchKey.SIMGPU).function is same
        True
    """
    op, key = qualified(qualname), device_key(device)
    schema_of(op)

    def register(function: Function) -> Function:
        stack = _table.setdefault((op, key), [])
        made = Registration(function, _source(function))
        if stack and _is_rerun(stack[-1], made):
            stack.pop()  # the same notebook cell again
        stack.append(made)
        return function

    return register


@contextmanager
def override(
    qualname: str, device: str, function: Callable[..., Any]
) -> Iterator[None]:
    """Use another kernel for an op within a `with` block.

    Args:
        qualname: the op.
        device: `"simgpu"`.
        function: the function to use.

    Raises:
        OpNotFoundError: no op has that name.
    """
    place = (qualified(qualname), device_key(device))
    schema_of(place[0])
    before = list(_table.get(place, ()))
    impl(qualname, device)(function)
    try:
        yield
    finally:
        _table[place] = before


def find(qualname: str, key: DispatchKey) -> Registration | None:
    """Return what serves an op at a key, or None."""
    stack = _table.get((qualname, key))
    return stack[-1] if stack else None


def registered(key: DispatchKey = DispatchKey.SIMGPU) -> dict[str, KernelSource]:
    """Return every op that has a kernel, with the kernel's place."""
    return {op: s[-1].source for (op, k), s in sorted(_by_name()) if k is key and s}


def _by_name() -> list[tuple[tuple[str, DispatchKey], list[Registration]]]:
    return sorted(_table.items(), key=lambda item: item[0][0])


def _source(function: Callable[..., Any]) -> KernelSource:
    if not isinstance(function, FunctionType):
        raise UnsupportedError(
            f"a {type(function).__name__} registered as an op's kernel",
            where="library.impl",
            why="the op calls a Python function that allocates `out` and launches",
            fix="write a function: def op(x): out = cuda.device_array_like(x);\n"
            "kernel[grid, block](x, out); return out",
        )
    return KernelSource.of(function)


def _is_rerun(old: Registration, new: Registration) -> bool:
    """Tell whether a cell or module was run again: same name, same place."""
    return old.source == new.source
