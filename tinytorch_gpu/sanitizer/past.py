"""`PastEvents`: what was at each time, so that a race can name both of its sides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from tinytorch_gpu.trace import LaunchStart, Site

__all__ = ["Past", "PastEvents"]


class Past(NamedTuple):
    """An access in the source of a launch: `load`, `store` or `atomic`."""

    site: Site
    kind: str
    launch: LaunchStart


class PastEvents:
    """All accesses by time; those of one place in one launch are one `Past`.

    Example:
        >>> from tinytorch_gpu.trace import KernelSource, LaunchStart, Site, SourceLine
        >>> events = PastEvents()
        >>> source, one = KernelSource("k", "k.py", 1), (1, 1, 1)
        >>> events.begin(LaunchStart(source, one, one, {}))
        >>> events.enter(0, Site(SourceLine("k", "k.py", 3, "x[i]"), "x"), "atomic")
        >>> events.are(np.array([0, -1]), "atomic").tolist()
        [True, False]
    """

    def __init__(self) -> None:
        self._numbers = np.zeros(1024, np.int32)  # by time: which of the places
        self._places: list[Past] = []
        self._known: dict[tuple[Site, str], int] = {}
        self._of_kind: dict[str, list[int]] = {"load": [], "store": [], "atomic": []}

    def begin(self, launch: LaunchStart) -> None:
        """Begin a launch."""
        self.launch = replace(launch, arguments={})  # its arrays may die
        self._known.clear()

    def enter(self, time: int, site: Site, kind: str) -> None:
        """Enter an access.

        Args:
            time: when; one more than the last one's.
            site: where it stands.
            kind: `load`, `store` or `atomic`.
        """
        number = self._known.get((site, kind))
        if number is None:
            number = self._known[site, kind] = len(self._places)
            self._places.append(Past(site, kind, self.launch))
            self._of_kind[kind].append(number)
        if time >= len(self._numbers):
            self._numbers = np.concatenate([self._numbers, self._numbers])
        self._numbers[time] = number

    def are(self, times: Any, kind: str) -> Any:
        """Tell which of some times were of a kind, bool (n,); negative ones were not.

        Args:
            times: int (n,).
            kind: `load`, `store` or `atomic`.
        """
        numbers = self._numbers[np.maximum(times, 0)]
        return np.isin(numbers, self._of_kind[kind]) & (times >= 0)

    def places(self, times: Any) -> tuple[Any, list[Past]]:
        """Return the places of some times.

        Args:
            times: int (n,), none negative.

        Returns:
            For each the position in the list, int (n,); and the list.
        """
        found, inverse = np.unique(self._numbers[times], return_inverse=True)
        return inverse, [self._places[number] for number in found]
