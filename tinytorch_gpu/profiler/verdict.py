"""`Verdict`: what dominates the modelled time, with its numbers, and what to change.

Comes in: the records of a profile. Goes out: four sums, two sentences, and findings.
Read `judge`; the sentences stand in `advice`, the findings in `copy_findings`,
`launch_findings`, `kernel_findings` and `host_finding`.
"""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.profiler.advice import SENTENCES
from tinytorch_gpu.profiler.bill import Bill, bill_of
from tinytorch_gpu.profiler.case import Case, exposed_ns, is_awaited
from tinytorch_gpu.profiler.copy_findings import COPY_FINDINGS
from tinytorch_gpu.profiler.finding import many, rank
from tinytorch_gpu.profiler.host_finding import host_finding
from tinytorch_gpu.profiler.kernel_findings import kernel_findings
from tinytorch_gpu.profiler.launch_findings import LAUNCH_FINDINGS
from tinytorch_gpu.trace import LaunchRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.profiler.finding import Finding
    from tinytorch_gpu.trace import Record

__all__ = ["Verdict", "judge"]

WIDTH = 100  # columns of the text
SHOWN = 3  # findings in the text; `findings` has all
CAUSES = (*COPY_FINDINGS, *LAUNCH_FINDINGS, kernel_findings, host_finding)


@dataclass(frozen=True)
class Verdict:
    """Which part of the modelled time is the largest, and what to do about it.

    Args:
        device: name of the modelled GPU.
        transfer_ns: copies between host and device.
        launch_ns: launch overhead that no running kernel hides.
        kernel_ns: kernels, and copies within the device.
        synchronize_ns: the host's waits for the device, beyond the work itself.
        dominant: transfers, launch overhead, kernels, synchronization, allocation or
            nothing. Here a kernel that is over before the host can issue the next one
            counts with the launch overhead, since a faster kernel would save nothing;
            what a wait keeps from running meanwhile counts with the wait, and the
            driver's calls for memory count by themselves.
        parts: the time by these names, of which the largest is dominant.
        sentences: what dominates, with the two numbers that decide it; what to change.
        findings: what could be saved at most, the largest first; from 2 % of the time.
    """

    device: str
    transfer_ns: float
    launch_ns: float
    kernel_ns: float
    synchronize_ns: float
    dominant: str
    parts: dict[str, float]
    sentences: tuple[str, str]
    findings: tuple[Finding, ...] = ()

    @property
    def elapsed_ns(self) -> float:
        """Modelled time of all parts together."""
        bill = Bill(
            self.transfer_ns, self.launch_ns, self.kernel_ns, self.synchronize_ns
        )
        return bill.total_ns

    def __str__(self) -> str:
        """Return the two sentences and the first three findings, 100 columns wide."""
        told = [
            f"{number}. " + str(finding).replace("\n", "\n   ")
            for number, finding in enumerate(self.findings[:SHOWN], 1)
        ]
        head = ["", "What could be saved at most (modelled):"] if told else []
        first = [textwrap.fill(sentence, WIDTH) for sentence in self.sentences]
        return "\n".join([*first, *head, *told])

    def _repr_html_(self) -> str:
        """Show the two sentences and the first three findings in a notebook."""
        first, second = map(html.escape, self.sentences)
        shown = self.findings[:SHOWN]
        rows = "".join(f"<li>{finding._repr_html_()}</li>" for finding in shown)
        return f"<p><b>{first}</b><br>{second}</p>" + (f"<ol>{rows}</ol>" * bool(rows))

    def to_dict(self) -> dict[str, Any]:
        """Return all fields by name, in plain types."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {"findings": [finding.to_dict() for finding in self.findings]}


def judge(records: Iterable[Record], *, spec: GpuSpec) -> Verdict:
    """Find what dominates the modelled time of the records.

    Args:
        records: what the timeline told.
        spec: the modelled GPU.

    Returns:
        The verdict.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import CopyRecord
        >>> copy = CopyRecord("h2d", 1000, "lesson", "", False, 0.0, 2000.0, 2000.0)
        >>> judge([copy], spec=find_gpu("toy")).dominant
        'transfers'
    """
    kept = tuple(records)
    bill = sum(map(bill_of, kept), Bill())
    case = Case(kept, bill, 0.0, spec)
    parts = _parts(case)
    largest = max(parts, key=lambda name: parts[name])
    dominant = largest if parts[largest] else "nothing"
    case = replace(case, dominant_ns=parts[largest])
    return Verdict(
        device=spec.name,
        transfer_ns=bill.transfer_ns,
        launch_ns=bill.launch_ns,
        kernel_ns=bill.kernel_ns,
        synchronize_ns=bill.synchronize_ns,
        dominant=dominant,
        parts=parts,
        sentences=_sentences(case, dominant),
        findings=_findings(case),
    )


def _sentences(case: Case, dominant: str) -> tuple[str, str]:
    """Tell what dominates, as far as it is known; then what to change."""
    first, second = SENTENCES[dominant](case)
    launches = [r for r in case.records if isinstance(r, LaunchRecord)]
    uncounted = sum(launch.counts is None for launch in launches)
    if uncounted:
        first += (
            f" But {uncounted} of {many(len(launches), 'launch', 'launches')} had no "
            "counters: of these only the least that a kernel takes is known, so "
            "kernels may take far longer; settings.override(counters=True) counts."
        )
    return first, second


def _findings(case: Case) -> tuple[Finding, ...]:
    """All findings, ranked."""
    candidates = [candidate for cause in CAUSES for candidate in cause(case)]
    return rank(candidates, case.records, case.elapsed_ns, case.bill.total_ns)


def _parts(case: Case) -> dict[str, float]:
    """Split the time by what would have to change to shorten it."""
    lost = {i: ns for i, (_, ns) in case.lost_to_stops.items()}
    memory = case.numbered_calls.keys() | case.waits_of_frees.keys()
    numbered = enumerate(case.records)
    bills = [_cause_of(r, lost.get(i, 0.0)) for i, r in numbered if i not in memory]
    causes = sum(bills, Bill())
    return {
        "transfers": causes.transfer_ns,
        "launch overhead": causes.launch_ns,
        "kernels": causes.kernel_ns,
        "synchronization": causes.synchronize_ns,
        "allocation": sum(case.elapsed_ns[i] for i in memory),
    }


def _cause_of(record: Record, lost_ns: float) -> Bill:
    """Split a record's time by what would have to change to shorten it."""
    bill = bill_of(record)
    if not isinstance(record, LaunchRecord):
        return bill
    kernel = exposed_ns(record) if is_awaited(record) else bill.kernel_ns
    issue = bill.total_ns - kernel
    hidden_kernel = min(kernel, lost_ns) if record.issue_ns >= record.duration_ns else 0
    return Bill(
        kernel_ns=kernel - hidden_kernel,
        launch_ns=issue - (lost_ns - hidden_kernel),
        synchronize_ns=lost_ns,
    )
