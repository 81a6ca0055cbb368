"""`Finding`: one thing to change, with the modelled time that it could save at most.

Comes in: candidates, each with what it would save of which record. Goes out: findings,
the largest first. Read `rank`: no nanosecond of a record is promised twice.
"""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.units import format_count, format_ns, format_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tinytorch_gpu.trace import Record

__all__ = ["Candidate", "Finding", "many", "rank"]

# What is told, and when, is a choice of presentation: this share, `cause.WELL`,
# `launch_findings.LEAST_RUN`, `same_data.READ_BYTES`, `host_finding.STEADY` and those
# of `line_flags` and `work_causes`. No count and no modelled time depends on them.
LEAST_SHARE = 0.02  # what saves less of the whole is left out
COLUMNS = 96


@dataclass(frozen=True)
class Finding:
    """One change, and what it could save.

    Args:
        kind: what it is about, for example "pin" or "bank conflicts".
        saves_ns: modelled time that the change saves at most.
        share: the same as part of the whole time, 0 to 1.
        sentence: what was found, with the two numbers that decide it.
        fix: the change as code.
        records: the launches, copies and waits that it is about.
    """

    kind: str
    saves_ns: float
    share: float
    sentence: str
    fix: str
    records: tuple[Record, ...] = field(repr=False)

    @property
    def saving(self) -> str:
        """What it saves, in words."""
        return f"up to {format_ns(self.saves_ns)} ({format_share(self.share, 1)})"

    def __str__(self) -> str:
        """Return the saving, the sentence and the change, at most 96 columns wide."""
        text = f"{self.saving}: {self.sentence}"
        told = textwrap.wrap(text, COLUMNS - 3, break_long_words=False)
        return "\n".join([*told, *(f"    {line}" for line in self.fix.splitlines())])

    def _repr_html_(self) -> str:
        """Show saving, sentence and change in a notebook."""
        said = html.escape(f"{self.saving}: {self.sentence}")
        return f"{said}<pre>{html.escape(self.fix)}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name in plain types; of the records only the number."""
        names = ("kind", "saves_ns", "share", "sentence", "fix")
        plain: dict[str, Any] = {name: getattr(self, name) for name in names}
        return plain | {"records": len(self.records)}


@dataclass(frozen=True)
class Candidate:
    """A finding before it is known how much of its saving others promise already.

    Args:
        kind: as in `Finding`.
        savings: nanoseconds by the record's position among all records.
        sentence: as in `Finding`.
        fix: as in `Finding`.
        is_alternative: it stands instead of all others (not to use the GPU at all), so
            it takes nothing away from them.
    """

    kind: str
    savings: Mapping[int, float]
    sentence: str
    fix: str
    is_alternative: bool = False

    @property
    def saves_ns(self) -> float:
        """What it would save alone."""
        return sum(self.savings.values())


def rank(
    candidates: Iterable[Candidate],
    records: Sequence[Record],
    elapsed_ns: Sequence[float],
    total_ns: float,
) -> tuple[Finding, ...]:
    """Order findings by what they save when those before them are done already.

    Args:
        candidates: in any order.
        records: all records of the profile.
        elapsed_ns: (records,), modelled time of each; no more of it can be saved.
        total_ns: modelled time of the whole.

    Returns:
        Findings that save at least 2 % of the whole, the largest first; together (but
        for alternatives to all others) they save at most the whole.

    Example:
        >>> half = Candidate("pin", {0: 60.0}, "Pin it.", "x.pin_memory()")
        >>> most = Candidate("keep", {0: 90.0}, "Keep it.", 'x.to("simgpu")')
        >>> [f.saves_ns for f in rank([half, most], [None], [100.0], 100.0)]
        [90.0, 10.0]
    """
    left = list(elapsed_ns)
    found = []
    for one in sorted(candidates, key=lambda c: -c.saves_ns):
        budget = elapsed_ns if one.is_alternative else left
        saves = {i: min(ns, budget[i]) for i, ns in one.savings.items() if budget[i]}
        saved = sum(saves.values())
        if not saved or saved < LEAST_SHARE * total_ns:
            continue
        if not one.is_alternative:
            left = [ns - saves.get(i, 0.0) for i, ns in enumerate(left)]
        about = tuple(records[i] for i in sorted(one.savings))
        share = saved / total_ns
        found.append(Finding(one.kind, saved, share, one.sentence, one.fix, about))
    return tuple(sorted(found, key=lambda finding: -finding.saves_ns))


def many(number: int, one: str, more: str) -> str:
    """Write a number with its noun.

    Example:
        >>> many(1, "copy", "copies"), many(1200, "copy", "copies")
        ('1 copy', '1,200 copies')
    """
    return f"{format_count(number)} {one if number == 1 else more}"
