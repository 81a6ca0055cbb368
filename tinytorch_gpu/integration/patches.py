"""`Patches`: attributes set on somebody else's classes, and put back exactly."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Patches", "wrapped"]

_ABSENT = object()


def wrapped(
    attribute: Any, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Any:
    """Wrap the function of a method as it stands in its class; None if there is none.

    A static or class method stays one. Any other callable is no method, and is left.

    Args:
        attribute: what `vars(cls)` holds.
        wrap: makes a function of the function.

    Example:
        >>> wrapped(staticmethod(abs), lambda f: lambda x: f(x) + 1).__func__(-1)
        2
        >>> wrapped(abs, lambda f: f) is None
        True
    """
    if isinstance(attribute, (staticmethod, classmethod)):
        return type(attribute)(wrap(attribute.__func__))
    return wrap(attribute) if isinstance(attribute, FunctionType) else None


class Patches:
    """Remembers the original of each attribute it sets.

    Example:
        >>> class Theirs:
        ...     x = 1
        >>> patches = Patches()
        >>> patches.set(Theirs, "x", 2)
        >>> Theirs.x
        2
        >>> patches.undo()
        >>> Theirs.x
        1
    """

    def __init__(self) -> None:
        self._made: list[tuple[Any, str, Any, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a class or module."""
        original = vars(owner).get(name, _ABSENT)
        self._made.append((owner, name, original, value))
        setattr(owner, name, value)

    def wrap(self, owner: Any, name: str, wrap: Callable[..., Any]) -> None:
        """Wrap a function that a class or module has of its own; else change nothing.

        Args:
            owner: the class or module.
            name: the function's.
            wrap: makes a function of the function.
        """
        original = vars(owner).get(name)
        if isinstance(original, FunctionType):
            self.set(owner, name, wrap(original))

    def are_in_place(self) -> bool:
        """Tell whether every attribute is still what was set last.

        It is not when autograd was imported later, and wrapped what was here.
        """
        last = {
            (id(owner), name): (owner, value) for owner, name, _, value in self._made
        }
        return all(
            vars(owner).get(name, _ABSENT) is value
            for (_, name), (owner, value) in last.items()
        )

    def owns(self, owners: list[type]) -> bool:
        """Tell whether each of these classes has an attribute that was set.

        Args:
            owners: the classes.
        """
        made = {id(owner) for owner, *_ in self._made}
        return all(id(owner) in made for owner in owners)

    def original(self, owner: Any, name: str) -> Any:
        """Return the attribute as it is now, functions unbound."""
        return inspect.getattr_static(owner, name)

    def undo(self) -> None:
        """Put every attribute back, the last one first.

        One that somebody else has set since is theirs, and stays.
        """
        while self._made:
            owner, name, original, value = self._made.pop()
            if vars(owner).get(name, _ABSENT) is not value:
                continue
            if original is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
