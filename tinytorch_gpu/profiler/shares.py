"""Shares in percent that add up to 100.0 as they are printed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["percentages"]

_STEPS = 1000  # tenths of a percent


def percentages(parts: Sequence[float]) -> list[float]:
    """Return each part's share of all in percent, with one decimal.

    Each is rounded down, then those that lost most get a tenth more until all add up to
    100.0 (largest remainder).

    Args:
        parts: 0 or more each.

    Returns:
        As many multiples of 0.1; all 0.0 if all parts are.

    Example:
        >>> percentages([1, 1, 1])
        [33.4, 33.3, 33.3]
    """
    whole = sum(parts)
    if not whole:
        return [0.0] * len(parts)
    exact = [_STEPS * part / whole for part in parts]
    steps = [math.floor(share) for share in exact]
    by_loss = sorted(range(len(parts)), key=lambda index: steps[index] - exact[index])
    for index in by_loss[: _STEPS - sum(steps)]:
        steps[index] += 1
    return [step / 10 for step in steps]
