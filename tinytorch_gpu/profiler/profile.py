"""`profile`: listen to a device's timeline within a `with` block.

As torch.profiler does it: `with profile() as prof:`, then ask `prof` for `events()`,
`key_averages()` or, ours, a `verdict()` and the kernels' `lines()`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.profiler.float64_notes import float64_notes
from tinytorch_gpu.profiler.key_averages import KeyAverages, average
from tinytorch_gpu.profiler.line_table import line_table
from tinytorch_gpu.profiler.verdict import Verdict, judge
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.trace import LaunchRecord, OpRecord

if TYPE_CHECKING:
    from types import TracebackType

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

    Example:
        >>> from tinytorch_gpu.runtime.device import current_device
        >>> with profile() as prof:
        ...     copy = current_device().timeline.add_copy(
        ...         direction="h2d", nbytes=4096, reason="lesson"
        ...     )
        >>> prof.key_averages()[0].h2d_bytes
        4096

    Limits: listens to the device that is current when the block begins, as it is then
    modelled; all records are kept until the profile dies, about 300 bytes for each.
    """

    def __init__(
        self, *, record_shapes: bool = False, _device: ProfiledDevice | None = None
    ) -> None:
        self.record_shapes = record_shapes
        self._given_device = _device
        self._timeline: Timeline | None = None
        self._records: list[Record] = []
        self._waits_before = (0.0, 0)
        self._waits_after: tuple[float, int] | None = None

    def __enter__(self) -> profile:  # noqa: PYI034  (Self needs Python 3.11)
        """Start to listen; records of an earlier `with` block are dropped."""
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
        """Start to listen, without a `with` block."""
        self.stop()
        self._timeline = (self._given_device or current_device()).timeline
        self._records = []
        self._waits_before, self._waits_after = self._waits(), None
        self._timeline.listeners.append(self._listen)

    def stop(self) -> None:
        """Stop to listen; does nothing when it does not listen."""
        if self._timeline is None or self._listen not in self._timeline.listeners:
            return
        self._timeline.listeners.remove(self._listen)
        self._waits_after = self._waits()

    def events(self) -> tuple[Record, ...]:
        """Return the records so far, in the order in which they were made."""
        return tuple(self._records)

    def key_averages(self) -> KeyAverages:
        """Add the records up by op.

        Returns:
            Rows by op, the longest modelled time first.

        Raises:
            UnsupportedError: the profile has not begun to listen.
        """
        waited_ns, waits = self._waited()
        return average(
            self._records,
            device=self._listened().spec.name,
            synchronize_ns=waited_ns,
            synchronize_calls=waits,
        )

    def verdict(self) -> Verdict:
        """Say what dominates the modelled time, and what to change.

        Returns:
            The numbers, and two sentences.

        Raises:
            UnsupportedError: the profile has not begun to listen.
        """
        waited_ns, waits = self._waited()
        return judge(
            self._records,
            spec=self._listened().spec,
            synchronize_ns=waited_ns,
            synchronize_calls=waits,
        )

    def notes(self) -> list[str]:
        """Return notes on single lines of kernels that cost more than they need to.

        Returns:
            Now: float64 arithmetic in kernels that touch no float64 array.
        """
        launches = [r for r in self._records if isinstance(r, LaunchRecord)]
        return float64_notes(launches)

    def lines(self, kernel: str = "", width: int = 100) -> str:
        """Return the source of the launched kernels with each line's counts beside it.

        Args:
            kernel: name of the one kernel to show; "" shows all.
            width: columns at most; the numbers and some source need about 80.

        Returns:
            One table for all launches of a kernel that have the same counts.

        Raises:
            UnsupportedError: the profile has not begun to listen.
        """
        spec = self._listened().spec
        now = (self._given_device or current_device()).timeline.spec
        launches = [r for r in self._records if isinstance(r, LaunchRecord)]
        asked = [r for r in launches if kernel in ("", r.kernel.name)]
        device = spec.name if now == spec else ""
        return line_table(*asked, device=device, width=width)

    def __str__(self) -> str:
        """Return the table and the verdict."""
        return f"{self.key_averages()}\n\n{self.verdict()}"

    def _listen(self, record: Record) -> None:
        if isinstance(record, OpRecord) and not self.record_shapes:
            record = replace(record, shapes=())
        self._records.append(record)

    def _listened(self) -> Timeline:
        """The timeline that the profile listens to, or has listened to."""
        if self._timeline is None:
            raise _not_begun()
        return self._timeline

    def _waits(self) -> tuple[float, int]:
        """Cost and number of all synchronisations of the device so far."""
        timeline = self._listened()
        return timeline.synchronize_total_ns, timeline.synchronize_calls

    def _waited(self) -> tuple[float, int]:
        """Cost and number of the synchronisations within the block."""
        after = self._waits_after or self._waits()
        return after[0] - self._waits_before[0], after[1] - self._waits_before[1]


def _not_begun() -> UnsupportedError:
    return UnsupportedError(
        "this profile has not listened yet, so it has nothing to tell",
        where="profile.key_averages(), profile.lines() or profile.verdict()",
        why="a profile sees what runs within its `with` block: 0 blocks so far",
        fix="with profile() as prof: ...   and ask prof afterwards",
    )
