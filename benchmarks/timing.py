"""Wall time of launches: a first one whose answer is checked, then the fastest.

The fastest of many is told, since what other work on the machine adds is no part of a
launch, and comes and goes.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_RUNS = 1000


def seconds_of(action: Callable[[], Any]) -> float:
    """Return how long one call takes, seconds."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def fastest_seconds(action: Callable[[], Any], seconds: float) -> float:
    """Return the fastest of as many calls as fit, one at least."""
    times: list[float] = []
    while not times or (sum(times) < seconds and len(times) < MOST_RUNS):
        times.append(seconds_of(action))
    return min(times)


def time_launch(
    launch: Callable[[], Any], check: Callable[[], None], seconds: float
) -> dict[str, float]:
    """Time a launch.

    Args:
        launch: makes it and waits for it.
        check: raises when its answer is wrong; not timed.
        seconds: how long to repeat it.

    Returns:
        `first_s`, the first launch, and `fastest_s`, of those after it.
    """
    first = seconds_of(launch)
    check()
    return {"first_s": first, "fastest_s": fastest_seconds(launch, seconds)}
