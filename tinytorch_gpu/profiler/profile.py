"""`profile`: listen to a device's timeline within a `with` block.

As torch.profiler does it: `with profile() as prof:`, then ask `prof` for `events()`,
`key_averages()`, `export_chrome_trace()` or, ours, a `verdict()`, the `kernels()` and
their `lines()`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from tinytorch_gpu.memory.hooks import hooks
from tinytorch_gpu.memory.origin import user_line
from tinytorch_gpu.profiler.chrome_trace import write_chrome_trace
from tinytorch_gpu.profiler.float64_notes import float64_notes
from tinytorch_gpu.profiler.kernel_report import KernelReport, report_of
from tinytorch_gpu.profiler.key_averages import KeyAverages, average
from tinytorch_gpu.profiler.line_table import line_table
from tinytorch_gpu.profiler.profile_checks import (
    action_of,
    check_function,
    check_has_shapes,
    check_kernel,
    check_width,
    not_begun,
)
from tinytorch_gpu.profiler.schedule import ProfilerAction
from tinytorch_gpu.profiler.verdict import Verdict, judge
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.trace import LaunchRecord, OpRecord, RangeRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.runtime.timeline import Timeline
    from tinytorch_gpu.trace import Record

__all__ = ["profile"]


class ProfiledDevice(Protocol):
    """What a profile asks of a device."""

    @property
    def timeline(self) -> Timeline:
        """Where the device's records come from."""
        ...


class profile:  # noqa: N801  (torch.profiler's name)
    """Collect the records of the current device while the `with` block runs.

    Args:
        record_shapes: keep the operands' shapes in the records of ops.
        with_stack: keep the file and line of the user's code in all records.
        schedule: what to do in each step, from `schedule(...)`; None records all.
        on_trace_ready: called with the profile when the recorded steps of a cycle are
            over, or the block is.

    Example:
        >>> from tinytorch_gpu.runtime.device import current_device
        >>> with profile() as prof:
        ...     copy = current_device().timeline.add_copy(
        ...         direction="h2d", nbytes=4096, reason="lesson"
        ...     )
        >>> prof.key_averages()[0].h2d_bytes
        4096

    Raises:
        UnsupportedError: `schedule` or `on_trace_ready` is no function, or `schedule`
            returns something else than a `ProfilerAction`.

    Limits: listens to the device that is current when the block begins, as it is then
    modelled; all records are kept until the profile dies, about 300 bytes for each.
    """

    def __init__(
        self,
        *,
        record_shapes: bool = False,
        with_stack: bool = False,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], object] | None = None,
        _device: ProfiledDevice | None = None,
    ) -> None:
        check_function("schedule", schedule, "schedule(wait=1, warmup=1, active=3)")
        check_function("on_trace_ready", on_trace_ready, "lambda prof: print(prof)")
        self.record_shapes = record_shapes
        self.with_stack = with_stack
        self.step_num = 0
        self._plan = schedule or (lambda _step: ProfilerAction.RECORD)
        self._on_trace_ready = on_trace_ready
        self._given_device = _device
        self._action = action_of(self._plan, 0)
        self._timeline: Timeline | None = None
        self._entries = 0
        self._records: list[Record] = []

    def __enter__(self) -> profile:  # noqa: PYI034  (Self needs Python 3.11)
        """Start to listen; records of an earlier `with` block stay."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop to listen; an error of the block goes on, the records stay."""
        self.stop()

    def start(self) -> None:
        """Start to listen, without a `with` block; each start needs a stop."""
        self._entries += 1
        if self._entries == 1:
            hooks.look()
            self._timeline = (self._given_device or current_device()).timeline
            self._timeline.listeners.append(self._listen)

    def stop(self) -> None:
        """Stop to listen; does nothing when it does not listen."""
        if not self._entries:
            return
        self._entries -= 1
        if not self._entries:
            self._listened().listeners.remove(self._listen)
            if self._action.is_recording:
                self._hand_over()

    def step(self) -> None:
        """Say that a step of the program is over: the schedule's next one begins.

        Raises:
            UnsupportedError: the schedule returns something else than a
                `ProfilerAction`; the step that was goes on.

        Example:
            >>> from tinytorch_gpu.profiler.schedule import schedule
            >>> plan = schedule(wait=1, warmup=1, active=1, repeat=1)
            >>> tell = lambda prof: print(f"ready after step {prof.step_num}")
            >>> with profile(schedule=plan, on_trace_ready=tell) as prof:
            ...     for _ in range(4):
            ...         prof.step()
            ready after step 3
        """
        was = self._action
        self._action = action_of(self._plan, self.step_num + 1)
        self.step_num += 1
        if was is ProfilerAction.RECORD_AND_SAVE:
            self._hand_over()
        is_new_cycle = was is not ProfilerAction.RECORD
        if self._action.is_recording and is_new_cycle:
            self._records = []

    @property
    def gpu(self) -> GpuSpec:
        """The modelled GPU; UnsupportedError if the profile has not begun."""
        return self._listened().spec

    def events(self) -> tuple[Record, ...]:
        """Return the records so far, in the order in which they were made.

        Returns:
            Launches, copies, waits, other host work, ops and ranges, each of its own
            type; ops and ranges are told when they end.
        """
        return tuple(self._records)

    def key_averages(self, *, group_by_input_shape: bool = False) -> KeyAverages:
        """Add the records up by op.

        Args:
            group_by_input_shape: a row for each list of operand shapes of an op; needs
                `record_shapes=True`.

        Returns:
            Rows by op, the longest modelled time first.

        Raises:
            UnsupportedError: the profile has not begun to listen, or has no shapes to
                group by.
        """
        device = self._listened().spec.name
        if group_by_input_shape:
            check_has_shapes(are_recorded=self.record_shapes)
        return average(
            self._records,
            device=device,
            group_by_input_shape=group_by_input_shape,
        )

    def kernels(self, name: str | None = None) -> list[KernelReport]:
        """Return what each launch did, the longest modelled time first.

        Args:
            name: name of the one kernel to tell of; None tells of all.

        Returns:
            A report for each kernel and configuration; equal launches share one.

        Raises:
            UnsupportedError: the profile has not begun to listen, or has seen no launch
                of that kernel.
        """
        spec = self._listened().spec
        if name is not None:
            check_kernel(name, {launch.kernel.name for launch in self._launches()})
        groups: dict[object, list[LaunchRecord]] = {}
        for launch in self._launches(name):
            same = launch.kernel, launch.grid, launch.block, launch.counts
            key = *same, launch.terms  # which depend on what arguments share
            groups.setdefault(key, []).append(launch)
        reports = [report_of(same, spec) for same in groups.values()]
        return sorted(reports, key=lambda report: -report.total_ns)

    def export_chrome_trace(self, path: str | Path) -> None:
        """Write a timeline that Perfetto (ui.perfetto.dev) and chrome://tracing open.

        Args:
            path: the JSON file to write.

        Raises:
            UnsupportedError: the profile has not begun to listen.
            TraceFileError: the file cannot be written, or its name is none.
        """
        write_chrome_trace(path, self._records, self._listened().spec.name)

    def verdict(self) -> Verdict:
        """Say what dominates the modelled time, and what to change.

        Returns:
            The numbers, and two sentences.

        Raises:
            UnsupportedError: the profile has not begun to listen.
        """
        return judge(self._records, spec=self._listened().spec)

    def notes(self) -> list[str]:
        """Return notes on single lines of kernels that cost more than they need to.

        Returns:
            Now: float64 arithmetic in kernels that touch no float64 array.
        """
        return float64_notes(self._launches())

    def lines(self, kernel: str = "", width: int = 100) -> str:
        """Return the source of the launched kernels with each line's counts beside it.

        Args:
            kernel: name of the one kernel to show; "" shows all.
            width: columns at most; the numbers and some source need about 80.

        Returns:
            One table for all launches of a kernel that have the same counts.

        Raises:
            UnsupportedError: the profile has not begun to listen, or the width is no
                whole number, or below 1.
        """
        check_width(width, "prof.lines(kernel, width)")
        spec = self._listened().spec
        now = (self._given_device or current_device()).timeline.spec
        device = spec.name if now == spec else ""
        return line_table(*self._launches(kernel), device=device, width=width)

    def __str__(self) -> str:
        """Return the table and the verdict."""
        return f"{self.key_averages()}\n\n{self.verdict()}"

    def _launches(self, kernel: str | None = None) -> list[LaunchRecord]:
        launches = [r for r in self._records if isinstance(r, LaunchRecord)]
        return [r for r in launches if not kernel or r.kernel.name == kernel]

    def _listen(self, record: Record) -> None:
        if not self._action.is_recording:
            return
        if isinstance(record, OpRecord) and not self.record_shapes:
            record = replace(record, shapes=())
        if self.with_stack and not isinstance(record, RangeRecord):
            record = replace(record, origin=record.origin or user_line())
        self._records.append(record)

    def _hand_over(self) -> None:
        if self._on_trace_ready is not None:
            self._on_trace_ready(self)

    def _listened(self) -> Timeline:
        """The timeline that the profile listens to, or has listened to."""
        if self._timeline is None:
            raise not_begun()
        return self._timeline
