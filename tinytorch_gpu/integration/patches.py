"""`Patches`: attributes set on somebody else's classes, and put back exactly."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["Patches"]

_ABSENT = object()


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
