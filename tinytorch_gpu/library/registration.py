"""A registration: a function as the table of kernels holds it, and the fallthrough."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import SchemaError, UnsupportedError
from tinytorch_gpu.library.schema_text import least_call
from tinytorch_gpu.memory.origin import PACKAGE
from tinytorch_gpu.trace import KernelSource

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Registration", "check_takes", "fallthrough_kernel", "registration"]


def fallthrough_kernel(*_: Any, **__: Any) -> Any:
    """Stand for "skip this key, ask the next"; to be registered, not to be called.

    Raises:
        UnsupportedError: it is called.
    """
    raise UnsupportedError(
        "fallthrough_kernel was called",
        where="library.fallthrough_kernel",
        why="it has no code: the dispatcher passes on where it is registered",
        fix='register it: library.register_kernel("mine::op", "Autograd",\n'
        "library.fallthrough_kernel)",
    )


@dataclass(frozen=True, eq=False)
class Registration:
    """One registered function.

    Args:
        function: the host function that launches the kernels.
        source: its name, file and line.
    """

    function: Callable[..., Any]
    source: KernelSource

    @property
    def is_shipped(self) -> bool:
        """Whether it came with this package."""
        return self.source.file.startswith(PACKAGE)

    @property
    def is_fallthrough(self) -> bool:
        """Whether it passes every call on to the next key."""
        return self.function is fallthrough_kernel


def registration(function: Any, op: str, schema: str) -> Registration:
    """Return what the table holds of a function.

    Args:
        function: what is registered.
        op: the op's qualified name.
        schema: the op's parameters.

    Raises:
        UnsupportedError: it is no Python function.
        SchemaError: it cannot be called as the schema says.
    """
    if not isinstance(function, FunctionType):
        raise UnsupportedError(
            f"a value of type {type(function).__name__} registered for op `{op}`",
            where="library.impl",
            why="the op calls a Python function that allocates `out` and launches",
            fix="write a function: def op(x): out = cuda.device_array_like(x);\n"
            "kernel[grid, block](x, out); return out",
        )
    check_takes(function, op, schema)
    return Registration(function, KernelSource.of(function))


def check_takes(function: Callable[..., Any], op: str, schema: str) -> None:
    """Refuse a function that cannot be called with the least that an op gets.

    A parameter that has a default in the schema may be missing.

    Args:
        function: what is registered.
        op: the op's qualified name.
        schema: the op's parameters.

    Raises:
        SchemaError: it takes fewer or more.
    """
    operands, named = least_call(schema)
    try:
        taken = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):  # one of C's, that does not tell
        return
    if _binds(taken, operands, named):
        return
    least, name = [*operands, *named], op.rpartition("::")[2]
    raise SchemaError(
        f"the function registered for `{op}` does not take what the op gives",
        where=_place(function),
        why=f"the op gives {len(least)} at least, {', '.join(least)}, by its schema\n"
        f"{schema}; the function takes {taken}",
        fix=f"def {name}{schema}: ...",
        op=op,
        schema=schema,
    )


def _place(function: object) -> str:
    """Name, file and line of a Python function; what Python shows of others."""
    if isinstance(function, FunctionType):
        return str(KernelSource.of(function))
    return repr(function)


def _binds(
    taken: inspect.Signature, operands: list[str], named: dict[str, str]
) -> bool:
    try:
        taken.bind(*operands, **named)
    except TypeError:
        return False
    return True
