"""Wall time of launches: a first one whose answer is checked, then the median."""

from __future__ import annotations

import statistics
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


def median_seconds(action: Callable[[], Any], seconds: float) -> float:
    """Return the median of as many calls as fit, one at least."""
    times: list[float] = []
    while not times or (sum(times) < seconds and len(times) < MOST_RUNS):
        times.append(seconds_of(action))
    return statistics.median(times)


def time_launch(
    launch: Callable[[], Any], check: Callable[[], None], seconds: float
) -> dict[str, float]:
    """Time a launch.

    Args:
        launch: makes it and waits for it.
        check: raises when its answer is wrong; not timed.
        seconds: how long to repeat it.

    Returns:
        `first_s`, the first launch, and `median_s`, of those after it.
    """
    first = seconds_of(launch)
    check()
    return {"first_s": first, "median_s": median_seconds(launch, seconds)}
