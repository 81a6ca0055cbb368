"""`Uninitialized`: reads of elements that nothing has written, one finding a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import SimGPUError
from tinytorch_gpu.sanitizer.event import place
from tinytorch_gpu.sanitizer.finding import Finding
from tinytorch_gpu.trace.places import spelled

if TYPE_CHECKING:
    from tinytorch_gpu.sanitizer.event import Event
    from tinytorch_gpu.trace import LaunchStart

__all__ = ["Uninitialized"]

HOLDS = {
    "global": "cuda.device_array gives memory with what the last owner left there",
    "shared": "shared memory holds what the last block left there",
    "local": "a thread's local array holds leftovers until the thread writes it",
}
FIXES = {
    "global": "write all elements first, or start from cuda.to_device(np.zeros(...))",
    "shared": "let every thread fill its element (zero outside the data), then\n"
    "cuda.syncthreads()",
    "local": "fill the array in a loop first",
}


class Uninitialized:
    """The uninitialised reads of a launch.

    Args:
        launch: the launch.
    """

    def __init__(self, launch: LaunchStart) -> None:
        self._launch = launch
        self._first: dict[Any, tuple[Event, int, Any]] = {}
        self._counts: dict[Any, int] = {}
        self._reached = ""

    @property
    def is_any(self) -> bool:
        """Whether there was one."""
        return bool(self._first)

    def reach(self, found: Any) -> None:
        """Take in where what was read ended up.

        Args:
            found: what differs when the launch runs with zeros in fresh memory: (array,
                index, first, again, count) by array; or the error that stopped it then.
        """
        if isinstance(found, SimGPUError):
            self._reached = "with zeros in its place the launch stops"
        elif found:
            first = found[0]
            element = spelled(first.array, first.index)
            self._reached = (
                f"it reaches `{element}`, which is {first.first}, and {first.again} "
                "with zeros in its place"
            )
        else:
            self._reached = "no result differs with zeros in its place"

    def add(self, event: Event, elements: Any, threads: Any) -> None:
        """Note that lanes read what nothing has written.

        Args:
            event: the read.
            elements: int (n,), positions in the storage.
            threads: int (n,), the threads' numbers.
        """
        key = event.site.line, event.site.expression, event.array.space
        if key not in self._first:
            padded = event.batch.shape[1]
            mates = threads[threads // padded == threads[0] // padded]
            self._first[key] = event, int(elements[0]), np.unique(mates)
        self._counts[key] = self._counts.get(key, 0) + len(threads)

    def findings(self) -> list[Finding]:
        """Return one finding for each line and array."""
        return [self._finding(key) for key in self._first]

    def _finding(self, key: Any) -> Finding:
        event, cell, mates = self._first[key]
        line, name, space = key
        index = event.index(cell, self._launch)
        block, thread = place(int(mates[0]), self._launch)
        count, element = self._counts[key], spelled(name, index)
        return Finding(
            tool="initcheck",
            kind="uninitialized_read",
            level="error",
            what=f"`{element}` in {space} memory is read before anything wrote it",
            where=f"{line}\nblock {block}, thread {thread}; {count} lane"
            f"{'s'[: count > 1]} in all" + f"\n{self._reached}" * bool(self._reached),
            why=HOLDS[space],
            fix=FIXES[space],
            line=line,
            array=name,
            space=space,
            index=index,
            block=block,
            threads=tuple(place(int(mate), self._launch)[1] for mate in mates),
            count=count,
        )
