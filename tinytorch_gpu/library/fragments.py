"""`Library`: torch.library's object for several registrations, and for fallbacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.library.keys import DispatchKey, device_key
from tinytorch_gpu.library.registration import Registration, registration
from tinytorch_gpu.library.registry import ANY_OP, find, impl, put, take_away
from tinytorch_gpu.library.schema import define, known_op

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Library"]


class Library:
    """Registrations of one namespace; used in a `with` statement, they end with it.

    Args:
        ns: the namespace, for example `"mine"`; `"_"` for fallbacks, for all ops.
        kind: `"DEF"`, `"FRAGMENT"` or `"IMPL"`; the last defines no ops.
        dispatch_key: where `impl` and `fallback` register if they are told no key.

    Example:
        >>> lib = Library("lesson", "FRAGMENT")
        >>> lib.define("half(x)")
        'lesson::half'
        >>> def half(x):
        ...     return x * 0.5
        >>> lib.impl("half", half, "CompositeImplicitAutograd") is half
        True

    Raises:
        UnsupportedError: the kind is none of the three.
        UnknownDeviceError: the key is no device type and no key.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise UnsupportedError(
                f"a library of kind {kind!r}",
                where="library.Library(ns, kind)",
                why="it defines ops, adds some, or registers functions",
                fix='one of "DEF", "FRAGMENT" and "IMPL"',
            )
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._key()
        self._made: list[tuple[str, DispatchKey, Registration]] = []

    def __enter__(self) -> Library:  # noqa: PYI034  (Self needs Python 3.11)
        """Begin a block; at its end the library's registrations are undone (ours)."""
        return self

    def __exit__(self, *_: object) -> None:
        """Undo the registrations; the ops stay defined."""
        self._destroy()

    def define(self, schema: str) -> str:
        """Add an op; its schema begins with its name: `"half(Tensor x) -> Tensor"`.

        Returns:
            The op's qualified name.

        Raises:
            DuplicateKernelError: the op exists with other parameters.
            OpNotFoundError: the schema begins with no name.
            SchemaError: the schema cannot be read.
            UnsupportedError: the library is of kind "IMPL".
        """
        if self.kind == "IMPL":
            raise UnsupportedError(
                "a library of kind 'IMPL' defines no ops",
                where=f"library.Library({self.ns!r}, 'IMPL').define",
                why="IMPL registers functions for ops that are there",
                fix=f'library.Library("{self.ns}", "FRAGMENT")',
            )
        name, bracket, rest = schema.partition("(")
        qualname = f"{self.ns}::{name.strip()}"
        define(qualname, bracket + rest)
        return qualname

    def impl(
        self, op_name: str, fn: Callable[..., Any], dispatch_key: str = ""
    ) -> Callable[..., Any]:
        """Register a function for an op of the namespace.

        Args:
            op_name: with or without the namespace.
            fn: the function, or `fallthrough_kernel`.
            dispatch_key: a device type or a key.

        Raises:
            OpNotFoundError: no op has that name.
            UnknownDeviceError: the key is no device type and no key.
            UnsupportedError: what is registered is no Python function.
            SchemaError: the function does not take what the op's schema says.
            DuplicateKernelError: another function of yours is registered there.
        """
        is_short = isinstance(op_name, str) and "::" not in op_name
        name = known_op(f"{self.ns}::{op_name}" if is_short else op_name)
        key = self._key(dispatch_key)
        impl(name, key.value)(fn)
        made = find(name, key)
        if made is not None:
            self._made.append((name, key, made))
        return fn

    def fallback(self, fn: Callable[..., Any], dispatch_key: str = "") -> None:
        """Let a function serve all ops that have none at a key: `fn(op, *args, **kw)`.

        At CPU the function gets host arrays, where the CPU may serve the op at all.

        Args:
            fn: called with the op's name first; `fallthrough_kernel` passes on.
            dispatch_key: a device type or a key.

        Raises:
            UnsupportedError: the library's namespace is not `"_"`, or what is
                registered is no Python function.
            UnknownDeviceError: the key is no device type and no key.
            SchemaError: the function does not take the op's name and its operands.
        """
        if self.ns != ANY_OP:
            raise UnsupportedError(
                f"a fallback for the namespace {self.ns!r}",
                where="Library.fallback",
                why="as in PyTorch a fallback serves the ops of all namespaces",
                fix=f'library.Library("{ANY_OP}", "IMPL").fallback(fn, "SimGPU")',
            )
        key = self._key(dispatch_key)
        made = registration(fn, f"{ANY_OP}::fallback", "(op, *operands)")
        put(ANY_OP, key, made)
        self._made.append((ANY_OP, key, made))

    def _key(self, name: str = "") -> DispatchKey:
        return device_key(name or self.dispatch_key or "simgpu")

    def _destroy(self) -> None:
        """Take all its registrations away (torch.library's name)."""
        for op, key, made in self._made:
            take_away(op, key, made)
        self._made.clear()
