"""`Finding`: one fault that the sanitizer names, in four parts and with its facts.

Tools are named as compute-sanitizer names its own: memcheck, initcheck, racecheck and
synccheck; numcheck is ours.

Source: NVIDIA Compute Sanitizer documentation, "Tools".
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import SimGPUError

if TYPE_CHECKING:
    from tinytorch_gpu.trace import SourceLine

__all__ = ["LEVELS", "Access", "Coordinates", "Finding"]

COLUMNS = 100
Coordinates = tuple[int, int, int]
LEVELS = ("error", "warning", "note")
"""How grave a finding is, the gravest first."""


@dataclass(frozen=True, slots=True)
class Access:
    """The other side of a race.

    Args:
        line: where it stands.
        block: x, y, z.
        thread: x, y, z.
        value: what it read or wrote, None if it is not known.
    """

    line: SourceLine
    block: Coordinates
    thread: Coordinates
    value: Any = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a kernel, told as errors are: what, where, why and a fix.

    Args:
        tool: `memcheck`, `initcheck`, `racecheck`, `synccheck` or `numcheck`.
        kind: which fault, for example `out_of_bounds`.
        level: one of `LEVELS`.
        what: what happens, in the learner's names.
        where: kernel, line and its text, block and threads.
        why: the rule that is broken, with its numbers.
        fix: a change that can be typed.
        line: where it happens; None outside kernels.
        array: the array as the source spells it, or "".
        space: `global`, `shared`, `local` or "".
        index: index of the element, or None.
        block: x, y, z of the first block at fault, or None.
        threads: those of that block that are at fault, ascending.
        count: lanes at fault over the whole launch; bytes of a leak.
        hazard: of a race, `RAW`, `WAR` or `WAW`; else "".
        other: of a race, the other access.

    Example:
        >>> print(Finding("memcheck", "leak", "note", "400 B are held", fix="del x"))
        note: 400 B are held [memcheck]
          fix    del x
    """

    tool: str
    kind: str
    level: str
    what: str
    where: str = ""
    why: str = ""
    fix: str = ""
    line: SourceLine | None = None
    array: str = ""
    space: str = ""
    index: tuple[int, ...] | None = None
    block: Coordinates | None = None
    threads: tuple[Coordinates, ...] = ()
    count: int = 0
    hazard: str = ""
    other: Access | None = None

    def __str__(self) -> str:
        """Tell it in four parts, its level and tool in the first line."""
        head = fill(f"{self.level}: {self.what} [{self.tool}]", COLUMNS)
        told = SimGPUError(head, where=self.where, why=self.why, fix=self.fix)
        return str(told)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain Python values, as JSON takes them."""
        fields = asdict(self)
        if self.other is not None and isinstance(self.other.value, np.generic):
            fields["other"]["value"] = self.other.value.item()
        return fields
