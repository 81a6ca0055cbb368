"""What a list, dict, set or array held when it was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Snapshot", "is_container"]

LARGEST = 4096  # elements of a container; of a larger one only the size is seen
CONTAINERS = (list, dict, set, tuple, np.ndarray)
PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)


def is_container(value: Any) -> bool:
    """Tell whether a value can hold others."""
    return type(value) in CONTAINERS


class Snapshot:
    """A container, and what it held.

    Args:
        container: a list, dict, set, tuple or array.

    Example:
        >>> cache = {}
        >>> snapshot = Snapshot(cache)
        >>> cache["key"] = 1
        >>> snapshot.is_same()
        False
        >>> snapshot.put_back()
        >>> cache
        {}
    """

    def __init__(self, container: Any) -> None:
        self._container = container
        is_small = np.size(container) <= LARGEST if _is_array(container) else True
        self._copy = container.copy() if _is_kept(container) and is_small else None
        self._seen = _told(container)

    def is_same(self) -> bool:
        """Tell whether it holds the same still."""
        return isinstance(self._container, tuple) or self._seen == _told(
            self._container
        )

    def values(self) -> Iterable[Any]:
        """Return what it holds."""
        if _is_array(self._container):
            return ()
        held = self._container
        return list(held.values() if isinstance(held, dict) else held)[:LARGEST]

    def put_back(self) -> None:
        """Let it hold again what it held."""
        if self._copy is None or self.is_same():
            return
        if _is_array(self._container):
            self._container[...] = self._copy
        elif isinstance(self._container, list):
            self._container[:] = self._copy
        else:
            self._container.clear()
            self._container.update(self._copy)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _is_kept(container: Any) -> bool:
    is_fixed = _is_array(container) and not container.flags.writeable
    return not isinstance(container, tuple) and not is_fixed


def _told(container: Any) -> Any:
    """Return what tells two states of a container apart; of things in it, which."""
    if _is_array(container):
        is_small = container.size <= LARGEST and container.dtype.kind in "biufc"
        return container.shape, container.tobytes() if is_small else None
    if len(container) > LARGEST:
        return len(container)
    if isinstance(container, dict):
        return [(_leaf(k), _leaf(v)) for k, v in container.items()]
    if isinstance(container, set):
        return {_leaf(v) for v in container}
    return [_leaf(v) for v in container]


def _leaf(value: Any) -> Any:
    if isinstance(value, PLAIN):
        return type(value), repr(value)
    return id(value)
