"""`Strand`: lanes that run together, from one barrier to the next, to their end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from tinytorch_gpu.executor.barrier import Arrival
    from tinytorch_gpu.executor.lanes import Batch

__all__ = ["Strand"]


class Strand:
    """One run of a lane program over the lanes of one batch.

    Args:
        batch: the lanes.
        start: the lane program; a generator function if it has barriers.
        arguments: what it gets after the batch and its entry mask.
        is_resumable: the program is a generator function.

    `arrival` tells what it waits at, or is None (not started, or at its end); `running`
    is the generator.
    """

    def __init__(
        self,
        batch: Batch,
        start: Callable[..., Any],
        arguments: tuple[Any, ...],
        *,
        is_resumable: bool,
    ) -> None:
        self.batch = batch
        self.arrival: Arrival | None = None
        self._start = start
        self._arguments = arguments
        self._is_resumable = is_resumable
        self.running: Generator[Arrival, Any, Any] | None = None

    def advance(self, result: Any = None) -> None:
        """Run to the next barrier or to the end.

        Args:
            result: what the barrier gives that the strand waits at.
        """
        if self.running is None:
            started = self._start(self.batch, self.batch.entry, *self._arguments)
            if not self._is_resumable:
                return
            self.running = started
        try:
            self.arrival = self.running.send(result)
        except StopIteration:
            self.arrival = None
