"""`CheckReport`: what `library.check` found wrong with an op's kernel."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinytorch_gpu.sanitizer import Finding

__all__ = ["CheckReport"]

COLUMNS = 100


@dataclass(frozen=True)
class CheckReport:
    """What a check of one op found.

    Args:
        op: qualified name.
        implementation: the registered function with its file and line.
        cases: how many inputs were tried.
        failed: on how many of them something was wrong.
        findings: one of each kind, on the smallest input that shows it.
        tolerances: of each dtype, relative and absolute, as compared.

    Example:
        >>> print(CheckReport("tinytorch::add", "add (add.py:3)", 40, 0, (), ()))
        tinytorch::add, add (add.py:3): right on all 40 inputs
    """

    op: str
    implementation: str
    cases: int
    failed: int
    findings: tuple[Finding, ...]
    tolerances: tuple[tuple[str, float, float], ...]

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.is_clean:
            return f"right on all {self.cases} inputs"
        return f"wrong on {self.failed} of {self.cases} inputs"

    def __str__(self) -> str:
        """Tell the verdict, then each finding in its four parts."""
        head = fill(f"{self.op}, {self.implementation}: {self.verdict}", COLUMNS)
        return "\n\n".join([head, *map(str, self.findings)])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values, as JSON takes them."""
        return {
            "op": self.op,
            "implementation": self.implementation,
            "cases": self.cases,
            "failed": self.failed,
            "is_clean": self.is_clean,
            "findings": [finding.to_dict() for finding in self.findings],
            "tolerances": [list(row) for row in self.tolerances],
        }
