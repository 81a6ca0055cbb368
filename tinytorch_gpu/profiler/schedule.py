"""`schedule`: which steps of a long training a profile records."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from tinytorch_gpu.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ProfilerAction", "schedule"]


class ProfilerAction(Enum):
    """What a profile does in one step; torch.profiler's names."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3

    @property
    def is_recording(self) -> bool:
        """Tell whether the step's records are kept."""
        return self in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0
) -> Callable[[int], ProfilerAction]:
    """Return what to do in each step: skip, then wait, warm up and record in turns.

    Args:
        wait: steps at the start of each cycle that are not recorded.
        warmup: steps after them that are not recorded either. On hardware they take
            what a profiler and the first launches cost; the modelled clock has no such
            cost.
        active: steps that are recorded, at least 1.
        repeat: cycles; 0 goes on as long as the program runs.
        skip_first: steps before the first cycle.

    Returns:
        A function from the step's number, from 0, to the action.

    Raises:
        UnsupportedError: a number is negative or no whole one, or `active` is 0.

    Example:
        >>> plan = schedule(wait=1, warmup=1, active=2, repeat=1)
        >>> [plan(step).name for step in range(5)]
        ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    numbers = (wait, warmup, active, repeat, skip_first)
    if not all(map(_is_count, numbers)) or active < 1:
        raise _no_schedule(wait, warmup, active, repeat, skip_first)
    cycle = wait + warmup + active

    def action_of(step: int) -> ProfilerAction:
        done, at = divmod(step - skip_first, cycle)
        is_over = repeat and done >= repeat
        if step < skip_first or is_over or at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        is_last = at == cycle - 1
        return ProfilerAction.RECORD_AND_SAVE if is_last else ProfilerAction.RECORD

    return action_of


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _no_schedule(
    wait: int, warmup: int, active: int, repeat: int, skip_first: int
) -> UnsupportedError:
    return UnsupportedError(
        "a schedule cannot have these numbers of steps",
        where=f"schedule(wait={wait!r}, warmup={warmup!r}, active={active!r}, "
        f"repeat={repeat!r}, skip_first={skip_first!r})",
        why="steps are whole numbers, 0 or more, and at least 1 is active",
        fix="schedule(wait=1, warmup=1, active=3)",
    )
