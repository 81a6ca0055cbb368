"""`Hazards`: the races of one launch, one for each pair of lines, and how grave.

Between warps, blocks or streams a race is an error: another order gives another result.
Between lanes of a warp at different instructions it is a warning, since warps often run
in step. Plain stores that collide with the same value are a note.

Source: NVIDIA Compute Sanitizer documentation, "Racecheck Tool": severities ERROR,
WARNING and INFO, and reports by pairs of accesses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tinytorch_gpu.sanitizer.order import WARP
from tinytorch_gpu.sanitizer.past import Past, PastEvents
from tinytorch_gpu.sanitizer.race_text import Pair, Side, race_finding

if TYPE_CHECKING:
    from tinytorch_gpu.sanitizer.event import Event
    from tinytorch_gpu.sanitizer.finding import Finding
    from tinytorch_gpu.sanitizer.lanes import Touched
    from tinytorch_gpu.trace import LaunchStart, Site

__all__ = ["Hazards"]

# How far apart the two threads are, and with it how grave a race between them is.
IN_WARP, IN_BLOCK, IN_GRID, IN_STREAMS = range(4)
SCOPES = ("warp", "block", "grid", "streams")
LETTERS = {"load": "R", "store": "W", "atomic": "W"}
HARMLESS, UNSAFE, WRONG = range(3)


class Meeting(NamedTuple):
    """Threads (n,) that race at elements (n,), the worst of them, and how grave."""

    threads: Any
    elements: Any
    worst: int
    grave: int


class Hazards:
    """The races of a launch.

    Args:
        launch: the launch.
        past: what was at each time.
    """

    def __init__(self, launch: LaunchStart, past: PastEvents) -> None:
        self._launch = launch
        self._past = past
        self._pairs: dict[Any, Pair] = {}

    def findings(self) -> list[Finding]:
        """Return one finding for each pair of lines."""
        return [race_finding(pair, self._launch) for pair in self._pairs.values()]

    @property
    def has_race(self) -> bool:
        """Whether one of them is graver than a note."""
        return any(pair.grave != HARMLESS for pair in self._pairs.values())

    def race(
        self,
        event: Event,
        touched: Touched,
        lanes: Any,
        times: Any,
        earlier: Any,
    ) -> None:
        """Note races of an access with earlier ones.

        Args:
            event: the access now.
            touched: its lanes.
            lanes: int (n,), which of them race.
            times: int (n,), when the other accesses were.
            earlier: int (n,), their threads.
        """
        places, pasts = self._past.places(times)
        for number, past in enumerate(pasts):
            here = np.flatnonzero(places == number)
            self._note(event, touched, lanes[here], earlier[here], past)

    def _note(
        self,
        event: Event,
        touched: Touched,
        lanes: Any,
        earlier: Any,
        past: Past,
    ) -> None:
        hazard = f"{LETTERS[event.kind]}A{LETTERS[past.kind]}"
        now = touched.threads[lanes]
        elements = event.elements(touched.cells[lanes])
        scopes = self._scopes(earlier, now, past)
        differs: Any = np.True_
        if hazard == "WAW" and event.kind == past.kind == "store":
            differs = event.changes(now, touched.cells[lanes])
        grave = np.where(scopes == IN_WARP, UNSAFE, WRONG) * differs
        worst = int(grave.argmax())
        before = event.values(now) if hazard == "RAW" else event.stored(elements)
        value = before[worst] if event.kind != "atomic" else None
        other = Side(past, int(earlier[worst]), value)
        scope = SCOPES[scopes[worst]]
        self._keep(
            event,
            Meeting(now, elements, worst, int(grave[worst])),
            other,
            scope,
            hazard,
        )

    def collide(self, event: Event, touched: Touched, lanes: Any, winners: Any) -> Any:
        """Note plain stores of one instruction to the same elements.

        Args:
            event: the store.
            touched: its lanes.
            lanes: int (n,), lanes whose value is lost.
            winners: int (n,), threads whose value stays.

        Returns:
            Whose value is another, bool (n,).
        """
        now = touched.threads[lanes]
        elements = event.elements(touched.cells[lanes])
        values = event.values(winners)
        differs = ~_are_equal(event.values(now), values)
        worst = int(differs.argmax())
        past = Past(event.site, event.kind, self._past.launch)
        other = Side(past, int(winners[worst]), values[worst])
        scope = SCOPES[self._scopes(winners, now, past)[worst]]
        self._keep(
            event,
            Meeting(now, elements, worst, WRONG * int(differs[worst])),
            other,
            scope,
            "WAW",
        )
        return differs

    def _keep(
        self, event: Event, meeting: Meeting, other: Side, scope: str, hazard: str
    ) -> None:
        """Add to what is known of a pair of lines; the gravest example stays."""
        threads, elements, worst, grave = meeting
        key = _key(event.site, other.past.site, event.array)
        pair = self._pairs.get(key)
        if pair is None or grave > pair.grave:
            thread = int(threads[worst])
            padded = event.batch.shape[1]
            mates = np.unique(threads[threads // padded == thread // padded])
            past = Past(event.site, event.kind, self._past.launch)
            side = Side(past, thread, event.values(threads[worst : worst + 1])[0])
            index = event.index(int(elements[worst]), self._launch)
            count = pair.count if pair else 0
            pair = Pair(
                side,
                other,
                hazard,
                scope,
                grave,
                event.array.space,
                index,
                mates,
                count,
            )
            self._pairs[key] = pair
        pair.count += len(np.unique(threads))  # one may touch several elements

    def _scopes(self, earlier: Any, now: Any, past: Past) -> Any:
        """Tell how far apart threads are, int (n,)."""
        if past.launch is not self._past.launch:
            return np.full(len(now), IN_STREAMS)
        block = -(-int(np.prod(self._launch.block)) // WARP) * WARP
        in_warp, in_block = (
            earlier // WARP == now // WARP,
            earlier // block == now // block,
        )
        return np.where(in_warp, IN_WARP, np.where(in_block, IN_BLOCK, IN_GRID))


def _key(one: Site, other: Site, array: Any) -> Any:
    """Return what the races of two places have in common."""
    return frozenset((s.line, s.expression) for s in (one, other)), array.space


def _are_equal(one: Any, other: Any) -> Any:
    """Tell which values are the same; a NaN equals a NaN."""
    return (one == other) | ((one != one) & (other != other))  # noqa: PLR0124
