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
        self._originals: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a class or module."""
        original = vars(owner).get(name, _ABSENT)
        self._originals.append((owner, name, original))
        setattr(owner, name, value)

    def original(self, owner: Any, name: str) -> Any:
        """Return the attribute as it is now, functions unbound."""
        return inspect.getattr_static(owner, name)

    def undo(self) -> None:
        """Put every attribute back, the last one first."""
        while self._originals:
            owner, name, original = self._originals.pop()
            if original is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
