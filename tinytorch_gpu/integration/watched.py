"""What names stood for when they were looked up; by looking again a change is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FunctionType

__all__ = ["ABSENT", "Watched"]

ABSENT = object()


class Watched:
    """Names that were looked up, and functions that were looked into.

    Example:
        >>> names = {"k": 1.0}
        >>> watched = Watched()
        >>> watched.look_up(names, "k")
        1.0
        >>> names["k"] = 2.0
        >>> watched.is_same()
        False
    """

    def __init__(self) -> None:
        self._named: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self._functions: dict[int, tuple[FunctionType, tuple[Any, ...]]] = {}

    def look_up(self, owner: Any, name: str) -> Any:
        """Return what a name stands for; `ABSENT` if for nothing.

        Args:
            owner: a class, whose own names these are, or the names of a module.
            name: the name.
        """
        value = _held(owner).get(name, ABSENT)
        self._named.setdefault((id(owner), name), (owner, name, value))
        return value

    def look_into(self, function: FunctionType) -> tuple[Any, ...]:
        """Remember what a function's meaning hangs on; return its defaults.

        Args:
            function: a function.
        """
        self._functions[id(function)] = function, _parts(function)
        named = function.__kwdefaults__ or {}
        return (*(function.__defaults__ or ()), *named.values())

    def is_same(self) -> bool:
        """Tell whether all is as it was."""
        return all(
            _held(owner).get(name, ABSENT) is value
            for owner, name, value in self._named.values()
        ) and all(_is_as(_parts(f), seen) for f, seen in self._functions.values())


def _held(owner: Any) -> Mapping[str, Any]:
    held: Mapping[str, Any] = owner if isinstance(owner, dict) else vars(owner)
    return held


def _parts(function: FunctionType) -> tuple[Any, ...]:
    """Return what a function's meaning hangs on, apart from names."""
    named = function.__kwdefaults__ or {}
    return (
        function.__code__,
        *(function.__defaults__ or ()),
        *named.values(),
        *(_content(cell) for cell in function.__closure__ or ()),
    )


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty as yet
        return ABSENT


def _is_as(parts: tuple[Any, ...], seen: tuple[Any, ...]) -> bool:
    return len(parts) == len(seen) and all(
        a is b for a, b in zip(parts, seen, strict=True)
    )
