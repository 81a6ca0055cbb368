"""Checks of what a file says: each returns the value, or says what is wrong."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["DamagedError", "mapping", "need", "numbers", "sequence", "text", "whole"]

MOST = 2**62


class DamagedError(Exception):
    """A file says what cannot be; the reader tells it as a `TraceFileError`.

    Args:
        why: what is wrong.
        fix: what helps, or "".
    """

    def __init__(self, why: str, fix: str = "") -> None:
        super().__init__(why)
        self.fix = fix


def need(is_right: bool, why: str, fix: str = "") -> None:
    """Go on only if something is right.

    Args:
        is_right: whether it is.
        why: what is wrong otherwise.
        fix: what helps.
    """
    if not is_right:
        raise DamagedError(why, fix)


def mapping(value: Any) -> dict[str, Any]:
    """Return a JSON object."""
    return value if isinstance(value, dict) else _no("an object", value)


def sequence(value: Any, length: int | None = None) -> list[Any]:
    """Return a JSON list, of a length if one is given."""
    if isinstance(value, list) and length in (None, len(value)):
        return value
    return _no("a list" if length is None else f"a list of {length}", value)


def text(value: Any) -> str:
    """Return a text."""
    return value if isinstance(value, str) else _no("a text", value)


def whole(value: Any, low: int = 0, high: int = MOST) -> int:
    """Return an integer within bounds, both included.

    Example:
        >>> whole(7, 1, 9)
        7
    """
    if type(value) is int and low <= value <= high:
        return value
    return _no(f"a whole number from {low} to {high}", value)


def numbers(
    value: Any, length: int | None = None, low: int = 0, high: int = MOST
) -> tuple[int, ...]:
    """Return a list of integers within bounds as a tuple."""
    return tuple(whole(part, low, high) for part in sequence(value, length))


def _no(wanted: str, value: Any) -> NoReturn:
    raise DamagedError(f"it has {value!r:.60} where {wanted} should be")
