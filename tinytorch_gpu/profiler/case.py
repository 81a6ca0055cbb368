"""`Case`: the records of a profile with their bill, as every finding reads them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from tinytorch_gpu.profiler.bill import bill_of
from tinytorch_gpu.trace import (
    CopyRecord,
    HostRecord,
    LaunchRecord,
    SynchronizeRecord,
)
from tinytorch_gpu.units import format_share

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.profiler.bill import Bill
    from tinytorch_gpu.trace import Record

__all__ = [
    "FREE",
    "MALLOC",
    "Case",
    "at_hosts_pace",
    "exposed_ns",
    "grouped",
    "is_awaited",
    "slack_ns",
]

R = TypeVar("R")

MALLOC, FREE = "cudaMalloc", "cudaFree"  # reasons of the driver's calls


@dataclass(frozen=True)
class Case:
    """What a verdict is made of.

    Args:
        records: all records, in order.
        bill: their modelled time by what it was spent on.
        dominant_ns: modelled time that the dominant part explains.
        spec: the modelled GPU.
    """

    records: tuple[Record, ...]
    bill: Bill
    dominant_ns: float
    spec: GpuSpec

    @cached_property
    def elapsed_ns(self) -> tuple[float, ...]:
        """Modelled time of each record."""
        return tuple(bill_of(record).total_ns for record in self.records)

    @property
    def launches(self) -> list[LaunchRecord]:
        """The launches among the records."""
        return list(self.numbered_launches.values())

    @property
    def copies(self) -> list[CopyRecord]:
        """The copies between host and device among the records."""
        return list(self.numbered_copies.values())

    @cached_property
    def numbered_launches(self) -> dict[int, LaunchRecord]:
        """The launches by their position among the records."""
        numbered = enumerate(self.records)
        return {i: r for i, r in numbered if isinstance(r, LaunchRecord)}

    @cached_property
    def numbered_copies(self) -> dict[int, CopyRecord]:
        """The copies between host and device by their position among the records."""
        copies = {i: r for i, r in enumerate(self.records) if isinstance(r, CopyRecord)}
        return {i: r for i, r in copies.items() if r.direction != "d2d"}

    @cached_property
    def numbered_waits(self) -> dict[int, SynchronizeRecord]:
        """The synchronisations by their position among the records."""
        numbered = enumerate(self.records)
        return {i: r for i, r in numbered if isinstance(r, SynchronizeRecord)}

    @cached_property
    def numbered_calls(self) -> dict[int, HostRecord]:
        """The driver's calls for memory by their position among the records."""
        calls = {i: r for i, r in enumerate(self.records) if isinstance(r, HostRecord)}
        return {i: r for i, r in calls.items() if r.reason in (MALLOC, FREE)}

    @cached_property
    def waits_of_frees(self) -> dict[int, SynchronizeRecord]:
        """The waits that calls of cudaFree begin with."""
        before = {i - 1 for i, r in self.numbered_calls.items() if r.reason == FREE}
        return {i: r for i, r in self.numbered_waits.items() if i in before}

    @cached_property
    def numbered_stops(self) -> dict[int, SynchronizeRecord]:
        """The waits that a program asked for: not those of cudaFree and of copies."""
        return {
            i: wait
            for i, wait in self.numbered_waits.items()
            if wait.kind != "copy" and i not in self.waits_of_frees
        }

    @cached_property
    def lost_to_stops(self) -> dict[int, tuple[int, float]]:
        """By launch: the wait before it, and by how much that lengthened the launch.

        Had the host not waited, it would have issued this launch while the device still
        worked: the shorter of issue and kernel would hide behind the longer.
        """
        lost: dict[int, tuple[int, float]] = {}
        is_busy, stop = False, None
        for i, record in enumerate(self.records):
            if i in self.numbered_stops:
                stop = i if is_busy else None
            elif isinstance(record, LaunchRecord):
                longer = max(record.issue_ns, record.duration_ns)
                if stop is not None and record.elapsed_ns > longer:
                    lost[i] = stop, record.elapsed_ns - longer
                is_busy, stop = True, None
            elif bill_of(record).total_ns:
                is_busy, stop = False, None
        return lost

    @cached_property
    def lost_to_copies(self) -> dict[int, tuple[list[int], float]]:
        """By launch: the copies before it that the host waited for, and what they cost.

        As in `lost_to_stops`: without all of these copies the shorter of issue and
        kernel would hide behind the longer.
        """
        lost: dict[int, tuple[list[int], float]] = {}
        is_busy = False
        between: list[int] = []
        for i, record in enumerate(self.records):
            if isinstance(record, LaunchRecord):
                longer = max(record.issue_ns, record.duration_ns)
                if between and record.elapsed_ns > longer:
                    lost[i] = between, record.elapsed_ns - longer
                is_busy, between = True, []
            elif i in self.numbered_copies and not self.numbered_copies[i].is_async:
                between += [i] * is_busy
            elif bill_of(record).total_ns:
                is_busy, between = False, []
        return lost

    def lost_without(self, copies: Collection[int]) -> dict[int, float]:
        """Tell by how much launches are longer only since the host waits for copies.

        Args:
            copies: their positions among the records.

        Returns:
            Nanoseconds by launch.
        """
        every = set(copies)
        between = self.lost_to_copies.items()
        lost = {i: ns for i, (those, ns) in between if every.issuperset(those)}
        if not lost:
            return {}
        # What one launch gains the next may wait for, where the host sets the pace.
        copied = sum(self.numbered_copies[i].duration_ns for i in every)
        gained = self._paced_ns(set()) - self._paced_ns(every) - copied
        left = min(1.0, max(0.0, gained) / sum(lost.values()))
        return {i: left * ns for i, ns in lost.items()}

    def _paced_ns(self, without: set[int]) -> float:
        """The time of the records in one queue, without some of them."""
        host = device = 0.0
        for i, record in enumerate(self.records):
            if i in without:
                continue
            if isinstance(record, LaunchRecord):
                host += record.issue_ns
                device = max(host, device) + record.duration_ns
            elif isinstance(record, CopyRecord):
                device = max(host, device) + record.duration_ns
                host = host if record.is_async else device
            elif isinstance(record, SynchronizeRecord):
                host = device = max(host, device) + record.elapsed_ns
            elif isinstance(record, HostRecord):
                host += record.duration_ns
        return max(host, device)

    @property
    def share(self) -> str:
        """The dominant part of the modelled time, as the sentences tell it."""
        part = format_share(self.dominant_ns, self.bill.total_ns)
        return f"{part} of the time modelled on {self.spec.name}"


def grouped(records: dict[int, R], key: Callable[[R], Hashable]) -> list[dict[int, R]]:
    """Part records into groups of one key each, first come, first named.

    Args:
        records: by their position.
        key: what a group has in common.

    Returns:
        The groups, each by position.

    Example:
        >>> grouped({0: "add", 3: "mul", 4: "all"}, lambda name: name[0])
        [{0: 'add', 4: 'all'}, {3: 'mul'}]
    """
    groups: dict[Hashable, dict[int, R]] = defaultdict(dict)
    for position, record in records.items():
        groups[key(record)][position] = record
    return list(groups.values())


def is_awaited(launch: LaunchRecord) -> bool:
    """Tell whether the device waited for a launch that takes longer to issue than run.

    Args:
        launch: the launch.
    """
    return bill_of(launch).launch_ns > 0 and launch.issue_ns >= launch.duration_ns


def at_hosts_pace(launch: LaunchRecord) -> bool:
    """Tell whether a faster kernel would save nothing, but a faster host would.

    The device waited for this launch, and its time is hidden by the issue of the next.

    Args:
        launch: the launch.
    """
    return is_awaited(launch) and not exposed_ns(launch)


def slack_ns(launch: LaunchRecord) -> float:
    """Tell by how much a kernel could take longer behind the issue of the next one.

    Args:
        launch: the launch.

    Returns:
        Nanoseconds, 0 where its time is not hidden.
    """
    slack = launch.issue_ns - launch.duration_ns
    return slack if at_hosts_pace(launch) else 0.0


def exposed_ns(launch: LaunchRecord) -> float:
    """Tell how much of a kernel's time a faster kernel could save at most.

    While the host takes longer to issue than the device to run, the kernel's time hides
    behind the issue of the next one; what sticks out is what can be saved.

    Args:
        launch: the launch.

    Returns:
        Nanoseconds, at most its `elapsed_ns`.

    Example:
        >>> from tinytorch_gpu.trace import KernelSource
        >>> one = {"kernel": KernelSource("k", "k.py", 1), "op": "", "counts": None}
        >>> one |= {"grid": (1, 1, 1), "block": (32, 1, 1), "shared_bytes": 0}
        >>> one |= {"is_replayed": False, "start_ns": 0.0, "bound": "memory"}
        >>> times = {"duration_ns": 3000.0, "issue_ns": 5000.0, "elapsed_ns": 5000.0}
        >>> exposed_ns(LaunchRecord(**one, **times))     # the host's pace: 5 µs each
        0.0
    """
    is_at_hosts_pace = launch.issue_ns >= launch.duration_ns
    hidden = min(launch.issue_ns, launch.elapsed_ns) if is_at_hosts_pace else 0.0
    return min(launch.duration_ns, launch.elapsed_ns - hidden)
