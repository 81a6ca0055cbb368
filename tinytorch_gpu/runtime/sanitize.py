"""`sanitize`: watch the launches of a `with` block, and report what is wrong."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import DeadlockError, SettingsError, SimGPUError
from tinytorch_gpu.executor.notices import hearing
from tinytorch_gpu.memory import hooks
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.repeat import Repeat, Repeating
from tinytorch_gpu.runtime.watching import watching
from tinytorch_gpu.sanitizer import (
    MemoryChecker,
    NumberChecks,
    SanitizerReport,
    finding_of,
    float64_findings,
    live_allocations,
    order_finding,
)
from tinytorch_gpu.sanitizer.touching import Memories
from tinytorch_gpu.trace import Recorders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinytorch_gpu.errors import KernelWarning
    from tinytorch_gpu.sanitizer import Finding
    from tinytorch_gpu.trace import LaunchCounts, LaunchStart

__all__ = ["sanitize"]


@contextmanager
def sanitize(
    *,
    show: bool = True,
    leak_check: bool = False,
    schedule: str = "lockstep",
    seeds: int = 0,
) -> Iterator[SanitizerReport]:
    """Watch all launches of a `with` block, and report what is wrong with them.

    Looks for what NVIDIA's compute-sanitizer looks for, and for races in global memory,
    between blocks and between streams. What stops a launch still raises.

    Args:
        show: print the report at the end, if there is a finding above a note.
        leak_check: report what was allocated in the block and is held at its end.
        schedule: "shuffled" runs each launch again in drawn orders of warps and blocks,
            and reports when its result differs.
        seeds: how many orders; 8 if only `schedule` is given.

    Yields:
        The report.

    Raises:
        SettingsError: `schedule` names no order, or `seeds` is negative.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu import cuda, sanitize
        >>> @cuda.jit
        ... def total(x, out):
        ...     out[0] += x[cuda.threadIdx.x]
        >>> out = cuda.to_device(np.zeros(1, np.float32))
        >>> with sanitize(show=False) as report:
        ...     total[1, 64](cuda.to_device(np.ones(64, np.float32)), out)
        >>> [(f.kind, f.hazard, f.array) for f in report.errors]
        [('race', 'WAR', 'out')]

    Limits: memory that was there before the block counts as written.
    Source: NVIDIA Compute Sanitizer documentation.
    """
    watch = _Watch(SanitizerReport(), Memories(), _orders(schedule, seeds))
    report = watch.report
    with watching(watch), hearing(watch.hear), _memory_watched(watch) as leaks:
        try:
            yield report
        finally:
            for leak in leaks() if leak_check else ():
                report.add(leak)
            if show and (not report.is_clean or (leak_check and report.notes)):
                print(report)  # noqa: T201  (what the learner asked for)


@contextmanager
def _memory_watched(watch: _Watch) -> Iterator[Callable[[], list[Finding]]]:
    """Let a watch hear of allocations and copies; yield what tells the leaks so far."""
    allocator = current_device().allocator
    since, was_traced = allocator.next_serial, allocator.is_traced
    allocator.is_traced, hooks.watches = True, (*hooks.watches, watch)
    try:
        yield lambda: live_allocations(allocator, since)
    finally:
        allocator.is_traced = was_traced
        hooks.watches = tuple(w for w in hooks.watches if w is not watch)


def _orders(schedule: str, seeds: int) -> int:
    """Return in how many drawn orders each launch is run again."""
    if schedule not in ("lockstep", "shuffled") or not _is_count(seeds):
        raise SettingsError(
            f"sanitize(schedule={schedule!r}, seeds={seeds!r})",
            where="sanitize(...)",
            why="the schedule is lockstep or shuffled; seeds is a number, 0 or more",
            fix='write sanitize(schedule="shuffled", seeds=8)',
        )
    return seeds or 8 * (schedule == "shuffled")


def _is_count(seeds: object) -> bool:
    return isinstance(seeds, int) and seeds >= 0


class _Watch(Repeating):
    """Listens to launches with all checks, and writes the report.

    Args:
        report: gets the findings.
        memories: who wrote which memory.
        orders: in how many drawn orders each launch is run again.
    """

    def __init__(
        self, report: SanitizerReport, memories: Memories, orders: int
    ) -> None:
        self.report = report
        self._orders = orders
        self._order_finding: Finding | None = None
        self._memories = memories
        self._memory, self._numbers = MemoryChecker(memories), NumberChecks()
        self._all = Recorders([self._memory, self._numbers])
        for event in ("access", "arrive", "release", "converge", "fence"):
            setattr(self, event, getattr(self._all, event))
        self.operation = self._numbers.operation  # type: ignore[method-assign]

    def begin(self, launch: LaunchStart) -> None:
        """Begin a launch, or begin it again in another order."""
        self._launch = launch
        self._all.begin(launch)
        self._heard: list[KernelWarning] = []

    def allocated(self, array: Any) -> None:
        """Hear of new device memory."""
        self._memories.allocated(array)

    def written(self, array: Any, elements: Any) -> None:
        """Hear of a copy from the host."""
        self._memories.written(array, elements)

    def misused(self, error: Exception) -> None:
        """Report a use of memory that was freed."""
        if isinstance(error, SimGPUError):
            self._add(finding_of(error))

    def hear(self, warning: KernelWarning) -> bool:
        """Take a kernel's warning for the report, if it is a fault that has a name."""
        if finding_of(warning) is None:
            return False
        self._heard.append(warning)
        return True

    def repeat(self, launch: Repeat) -> None:
        """Run the launch in other orders, and with other contents of fresh memory."""
        if self._memory.has_unwritten:
            found = launch.differences(self._memories.fill_fresh, poison="zero")
            self._memory.trace_unwritten(found)
        for seed in range(self._orders):
            found = launch.differences(schedule="shuffled", schedule_seed=seed)
            # There a warp that waits is never put aside: a deadlock tells nothing.
            if found and not isinstance(found, DeadlockError):
                has_race = self._memory.has_race
                source = self._launch.kernel
                self._order_finding = order_finding(source, found, seed, has_race)
                return

    def end(self, counts: LaunchCounts | None, error: BaseException | None) -> None:
        """Report what the launch's checks found."""
        self._all.end(counts, error)
        report = self.report
        report.launches += 1
        report.kernels.add(self._launch.kernel.name)
        found: list[Any] = [*self._memory.findings(), *self._numbers.findings()]
        found += [finding_of(warning) for warning in self._heard]
        if isinstance(error, SimGPUError):
            found.append(finding_of(error))
        found += float64_findings(counts) if counts is not None else []
        found.append(self._order_finding)
        self._order_finding = None
        for finding in found:
            self._add(finding)
        self._memory.forget()
        self._launch = replace(self._launch, arguments={})

    def _add(self, finding: Finding | None) -> None:
        if finding is not None:
            self.report.add(finding)
