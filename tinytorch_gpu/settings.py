"""Switches of the simulator, in one frozen dataclass; the defaults expose mistakes.

Read with `current()`, change for a while with `with override(field=value):`. Nothing
else in the package keeps a switch of its own.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Settings", "current", "override"]


@dataclass(frozen=True)
class Settings:
    """All switches, with what each costs.

    Args:
        counters: count requests, sectors, bytes and flops of launches. The first
            launch of each kind is about three times slower, its repeats are not.
        replay: reuse the counts of an equal earlier launch whose addresses and
            branches do not depend on data (values are always computed).
        batch_lanes: lanes that are computed at once; a batch of 16,384 lanes stays in
            a CPU's cache. Counts never depend on it, nor do values unless a variable
            mixes float32 and float64 (`docs/status.md`, known limits).
        loop_budget: iterations that one loop of a kernel may run before it is
            reported as endless.

    Example:
        >>> with override(counters=False) as settings:
        ...     settings.counters, current().counters
        (False, False)
        >>> current().counters
        True
    """

    counters: bool = True
    replay: bool = True
    batch_lanes: int = 16_384
    loop_budget: int = 1_000_000


_stack = [Settings()]


def current() -> Settings:
    """Return the settings in force.

    Example:
        >>> current().batch_lanes
        16384
    """
    return _stack[-1]


@contextmanager
def override(**changes: Any) -> Iterator[Settings]:
    """Change settings within a `with` block.

    Args:
        **changes: fields of `Settings` with their new values.

    Yields:
        The settings in force inside the block.

    Raises:
        TypeError: a name is no field of `Settings`.

    Example:
        >>> with override(batch_lanes=64):
        ...     current().batch_lanes
        64
    """
    _stack.append(replace(_stack[-1], **changes))
    try:
        yield _stack[-1]
    finally:
        _stack.pop()
