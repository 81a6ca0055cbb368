"""What a profile refuses, in four parts.

Comes in: what `profile(...)` was given, and what it is asked. Goes out: an error, or
nothing. Everything is refused before anything runs or is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.profiler.schedule import ProfilerAction
from tinytorch_gpu.units import is_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = [
    "action_of",
    "check_function",
    "check_has_shapes",
    "check_kernel",
    "check_width",
    "not_begun",
]

SHOWN = 8  # names of kernels that an error tells


def check_function(name: str, value: object, example: str) -> None:
    """Refuse what can be given to `profile(...)` and is no function.

    Args:
        name: the parameter.
        value: what it was given; None is none.
        example: what it takes.

    Raises:
        UnsupportedError: it cannot be called.
    """
    if value is None or callable(value):
        return
    raise UnsupportedError(
        f"{name}={value!r} is no function",
        where=f"profile({name}=...)",
        why="it is called with the step's number"
        if name == "schedule"
        else "it is called with the profile when its records are complete",
        fix=f"profile({name}={example})",
    )


def action_of(plan: Callable[[int], ProfilerAction], step: int) -> ProfilerAction:
    """Ask a schedule what to do in a step.

    Args:
        plan: the schedule.
        step: number of the step, from 0.

    Returns:
        The action.

    Raises:
        UnsupportedError: the schedule returned something else.

    Example:
        >>> action_of(lambda step: ProfilerAction.RECORD, 0).name
        'RECORD'
    """
    action: object = plan(step)
    if isinstance(action, ProfilerAction):
        return action
    names = ", ".join(one.name for one in ProfilerAction)
    raise UnsupportedError(
        f"the schedule returned {action!r:.60} for step {step}",
        where="profile(schedule=...)" if step == 0 else "prof.step()",
        why=f"it is of type {type(action).__name__}, and each step has a "
        f"ProfilerAction:\n{names}",
        fix="profile(schedule=schedule(wait=1, warmup=1, active=3)), or let the\n"
        "function return profiler.ProfilerAction.RECORD",
    )


def check_has_shapes(*, are_recorded: bool) -> None:
    """Refuse to group ops by shapes that were not recorded.

    Args:
        are_recorded: the profile has `record_shapes=True`.

    Raises:
        UnsupportedError: they were not.
    """
    if are_recorded:
        return
    raise UnsupportedError(
        "the ops cannot be grouped by input shape",
        where="prof.key_averages(group_by_input_shape=True)",
        why="shapes are kept only where the profile is told to, and this one has\n"
        "record_shapes=False",
        fix="with profile(record_shapes=True) as prof: ...",
    )


def check_kernel(name: object, seen: Collection[str]) -> None:
    """Refuse a kernel that the profile has not seen.

    Args:
        name: the kernel that is asked for.
        seen: names of those that were launched.

    Raises:
        UnsupportedError: it is none of them.

    Example:
        >>> check_kernel("add", ["add"])
    """
    if isinstance(name, str) and name in seen:
        return
    known = ", ".join(sorted(seen)[:SHOWN]) + (", ..." if len(seen) > SHOWN else "")
    raise UnsupportedError(
        f"no launch of a kernel {name!r:.60} was recorded",
        where="prof.kernels(name)",
        why="kernels seen: " + (known or "none"),
        fix="give one of these names, as a text"
        if known
        else "launch it within `with profile() as prof:`",
    )


def check_width(width: object, where: str) -> None:
    """Refuse what is no number of columns.

    Args:
        width: what was given.
        where: the call.

    Raises:
        UnsupportedError: it is no whole number, or below 1.
    """
    if is_whole(width) and width >= 1:
        return
    raise UnsupportedError(
        f"width={width!r:.60}",
        where=where,
        why="a width is a whole number of columns, 1 or more",
        fix="width=100; the numbers and some source need about 80",
    )


def not_begun() -> UnsupportedError:
    """Return the error of a profile that is asked and never listened.

    Example:
        >>> not_begun().fix
        'with profile() as prof: ...   and ask prof afterwards'
    """
    return UnsupportedError(
        "this profile has not listened yet, so it has nothing to tell",
        where="profile.key_averages(), profile.lines() or profile.verdict()",
        why="a profile sees what runs within its `with` block: 0 blocks so far",
        fix="with profile() as prof: ...   and ask prof afterwards",
    )
