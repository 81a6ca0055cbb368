"""Switches of the simulator, in one frozen dataclass; the defaults expose mistakes.

Read with `current()`, change for a while with `with override(field=value):`. Nothing
else in the package keeps a switch of its own.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SCHEDULES", "Settings", "current", "override"]

SCHEDULES = ("lockstep", "warps", "reversed", "shuffled")


@dataclass(frozen=True)
class Settings:
    """All switches, with what each costs.

    Args:
        counters: count requests, sectors, bytes and flops of launches. The first
            launch of each kind is two to five times slower, its repeats are not.
        replay: reuse the counts of an equal earlier launch whose addresses and
            branches do not depend on data (values are always computed).
        batch_lanes: lanes that are computed at once; a batch of 65,536 lanes stays in
            a CPU's cache. Counts never depend on it; values only where threads race,
            or where atomics add floats in a loop and so in another order.
        loop_budget: iterations that one loop of a kernel may run before it is
            reported as endless.
        schedule: the order in which lanes run. `lockstep`: all lanes of many blocks at
            once, the fastest. `warps`: block after block, warp after warp, each as far
            as its next barrier; `reversed`: the last block and warp first; `shuffled`:
            blocks, and warps after each barrier, in a drawn order. A kernel whose
            results depend on the order lacks a barrier, or has a race.
            Lanes that meet in one atomic operation take turns in a drawn order too.
        schedule_seed: draws the orders of `shuffled`.
        poison: what fresh device, shared and local memory holds. `loud`: NaN, or the
            largest integer; `zero`: zeros, which hide that nobody wrote it.
        print_threads: begin each line that threads print with their block and thread.
        warn_negative_index: warn when an index that is computed comes out negative, and
            so counts from the end of its axis.

    Raises:
        SettingsError: `schedule` names no order.

    Example:
        >>> with override(counters=False) as settings:
        ...     settings.counters, current().counters
        (False, False)
        >>> current().counters
        True
    """

    counters: bool = True
    replay: bool = True
    batch_lanes: int = 65_536
    loop_budget: int = 1_000_000
    schedule: str = "lockstep"
    schedule_seed: int = 0
    poison: str = "loud"
    warn_negative_index: bool = True
    print_threads: bool = False

    def __post_init__(self) -> None:
        """Refuse an order that does not exist.

        Raises:
            SettingsError: `schedule` names no order.
        """
        if self.schedule not in SCHEDULES:
            raise SettingsError(
                f"schedule {self.schedule!r} is no order of warps and blocks",
                where="settings.override(schedule=...)",
                why="the orders are " + ", ".join(SCHEDULES),
                fix='write for example settings.override(schedule="shuffled")',
                schedule=self.schedule,
            )


_stack = [Settings()]


def current() -> Settings:
    """Return the settings in force.

    Example:
        >>> current().batch_lanes
        65536
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
        SettingsError: `schedule` names no order.

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
