"""`SanitizerReport`: what the sanitizer found in the launches that it watched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import SanitizerError
from tinytorch_gpu.sanitizer.finding import LEVELS

if TYPE_CHECKING:
    from tinytorch_gpu.sanitizer.finding import Finding

__all__ = ["SanitizerReport"]

SHOWN = 3  # errors that `raise_for_errors` tells in its message


class SanitizerReport:
    """Findings of some launches, the gravest first.

    `launches` counts what was watched, `kernels` holds the names; whoever watches adds
    to both.

    Example:
        >>> report = SanitizerReport()
        >>> report.launches, report.kernels = 2, {"add"}
        >>> print(report)
        No errors, no warnings, no notes in 2 launches of 1 kernel
        >>> report.is_clean
        True
    """

    def __init__(self) -> None:
        self.launches = 0
        self.kernels: set[str] = set()
        self._found: dict[Any, Finding] = {}
        self._seen: dict[Any, list[int]] = {}  # numbers of the launches that have it

    def add(self, finding: Finding) -> None:
        """Take in a finding of the launch that `launches` counted last.

        Of one fault in several launches the first finding stays.
        """
        fault = _fault(finding)
        self._found.setdefault(fault, finding)
        seen = self._seen.setdefault(fault, [])
        if self.launches not in seen[-1:]:
            seen.append(self.launches)

    def times(self, finding: Finding) -> int:
        """Return how many launches have the fault."""
        return len(self._seen.get(_fault(finding), ()))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings: errors first, then by kernel and line."""
        return tuple(sorted(self._found.values(), key=_order))

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that make results wrong, or stop a launch."""
        return self._of_level("error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are most likely mistakes."""
        return self._of_level("warning")

    @property
    def notes(self) -> tuple[Finding, ...]:
        """The findings that cost time or memory, or are good to know."""
        return self._of_level("note")

    @property
    def is_clean(self) -> bool:
        """Whether nothing is worse than a note."""
        return not self.errors and not self.warnings

    def raise_for_errors(self) -> None:
        """Raise if there are errors; warnings and notes pass.

        Raises:
            SanitizerError: there are; its `findings` holds them.
        """
        found = self.errors
        if not found:
            return
        told = [
            f"{f.what} [{f.tool}]\n  {f.where.partition(chr(10))[0]}" for f in found
        ]
        more = [f"and {len(found) - SHOWN} more"] * (len(found) > SHOWN)
        raise SanitizerError(
            f"the sanitizer found {_counted(len(found), 'error')}",
            where="\n".join(told[:SHOWN] + more),
            why=f"of {self._watched()}",
            fix="print the report: each finding ends with its fix",
            findings=found,
        )

    def __str__(self) -> str:
        """Tell the counts in one line, then each finding."""
        return "\n\n".join([self._head(), *map(self._told, self.findings)])

    def __repr__(self) -> str:
        """Tell the counts."""
        return f"<SanitizerReport: {self._head()}>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values, as JSON takes them."""
        findings = [
            {**finding.to_dict(), "launches": self.times(finding)}
            for finding in self.findings
        ]
        return {
            "launches": self.launches,
            "kernels": sorted(self.kernels),
            "is_clean": self.is_clean,
            "findings": findings,
        }

    def _of_level(self, level: str) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level == level)

    def _head(self) -> str:
        counts = [_counted(len(self._of_level(level)), level) for level in LEVELS]
        told = f"{', '.join(counts)} in {self._watched()}"
        return told[0].upper() + told[1:]

    def _watched(self) -> str:
        kernels = _counted(len(self.kernels), "kernel")
        return f"{_counted(self.launches, 'launch', 'es')} of {kernels}"

    def _told(self, finding: Finding) -> str:
        times = self.times(finding)
        return f"{finding}" + f"\n         the same in {times} launches" * (times > 1)


def _order(finding: Finding) -> tuple[Any, ...]:
    line = finding.line
    place = ("", 0) if line is None else (line.kernel, line.line)
    return LEVELS.index(finding.level), *place


def _fault(finding: Finding) -> Any:
    """Return what two findings of one fault have in common."""
    if finding.line is None:
        return finding.kind, finding.what, finding.where
    other = finding.other.line if finding.other else None
    place = (finding.line, finding.array, finding.hazard, other)
    return finding.tool, finding.kind, finding.level, place


def _counted(number: int, name: str, plural: str = "s") -> str:
    """Tell how many, for example `no errors`, `1 launch`, `2 launches`."""
    return f"{number or 'no'} {name}{plural * (number != 1)}"
