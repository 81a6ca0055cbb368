"""`Repeat`: run a launch once more under other settings, and see what comes out else.

A result that depends on the order of warps, or on what fresh memory holds, shows when
the launch is run again from the same memory. Afterwards memory is as the first run left
it, and nothing is printed or recorded.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import settings
from tinytorch_gpu.errors import SimGPUError
from tinytorch_gpu.executor.engine import run
from tinytorch_gpu.executor.notices import hearing
from tinytorch_gpu.trace import Recorder
from tinytorch_gpu.trace.arguments import named_arrays

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from tinytorch_gpu.executor.engine import LaneProgram
    from tinytorch_gpu.executor.global_memory import GlobalArray
    from tinytorch_gpu.memory import DeviceBuffer

    Bytes = dict[DeviceBuffer, npt.NDArray[Any]]

__all__ = ["Difference", "Repeat", "Repeating"]

BYTES = np.dtype(np.uint8)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first element that came out otherwise.

    Args:
        array: the parameter.
        index: the element's index.
        first: what the launch gave.
        again: what the repetition gave.
        count: elements of this parameter that differ.
    """

    array: str
    index: tuple[int, ...]
    first: Any
    again: Any
    count: int


class Repeating(Recorder):
    """A recorder that may repeat each launch it hears, before its end."""

    def repeat(self, launch: Repeat) -> None:
        """Repeat a launch as often as needed."""


class Repeat:
    """A launch that has run.

    Args:
        program: the kernel's program.
        shape: grid, block, and bytes of dynamic shared memory.
        values: the arguments as the kernel got them.
        before: bytes of each allocation that the launch wrote, before it did.
    """

    def __init__(
        self,
        program: LaneProgram,
        shape: tuple[Any, ...],
        values: tuple[Any, ...],
        before: Bytes,
    ) -> None:
        self._program = program
        self._shape = shape
        self._values = values
        self._before = before

    def differences(
        self, prepare: Callable[[], None] | None = None, **changes: Any
    ) -> list[Difference] | SimGPUError:
        """Run again under other settings, and compare.

        Args:
            prepare: changes memory before the run; what it changes is put back.
            **changes: fields of `Settings`.

        Returns:
            For each parameter whose elements differ the first such element; or the
            error that stopped the repetition.
        """
        kept = {array.buffer: _bytes_of(array.buffer) for _, array in self._named()}
        for buffer, before in self._before.items():
            buffer.elements(BYTES)[:] = before
        try:
            if prepare is not None:
                prepare()
            start = {buffer: _bytes_of(buffer) for buffer in kept}
            self._run(changes)
            return [d for d in self._compared(kept, start) if d]
        except SimGPUError as error:
            return error
        finally:
            for buffer, after in kept.items():
                buffer.elements(BYTES)[:] = after

    def _run(self, changes: dict[str, Any]) -> None:
        grid, block, dynamic = self._shape
        quiet = contextlib.redirect_stdout(io.StringIO())
        with quiet, hearing(lambda _warning: True), settings.override(**changes):
            run(self._program, grid, block, self._values, None, dynamic)

    def _named(self) -> list[tuple[str, GlobalArray]]:
        """Return the arrays among the arguments, those of tuples too."""
        pairs = zip(self._program.parameters, self._values, strict=True)
        found = named_arrays(dict(pairs))
        return [(name, array) for name, array in found if array.space == "global"]

    def _compared(self, kept: Bytes, start: Bytes) -> Iterator[Difference | None]:
        """Compare each array with what it was after the first run.

        Args:
            kept: bytes after the first run.
            start: bytes that the repetition began with.
        """
        for name, array in self._named():
            buffer = array.buffer
            before = self._before.get(buffer, kept[buffer])
            now, then, new, old = (
                _elements(array, stored)
                for stored in (array.storage, kept[buffer], start[buffer], before)
            )
            # What neither run has written differs by what it was prepared to hold.
            is_written = _differ(now, new) | _differ(then, old)
            yield _difference(name, now, then, _differ(now, then) & is_written)


def _bytes_of(buffer: DeviceBuffer) -> npt.NDArray[Any]:
    return buffer.elements(BYTES).copy()


def _differ(one: Any, other: Any) -> Any:
    """Tell which elements differ, bool; NaN equals NaN."""
    return (one != other) & ~((one != one) & (other != other))  # noqa: PLR0124


def _difference(name: str, now: Any, then: Any, differs: Any) -> Difference | None:
    if not differs.any():
        return None
    index = tuple(int(i) for i in np.argwhere(differs)[0])
    count = int(np.count_nonzero(differs))
    return Difference(name, index, then[index], now[index], count)


def _elements(array: GlobalArray, stored: Any) -> Any:
    """View stored bytes or elements as the array lies in them."""
    whole = (
        len(stored) - len(stored) % array.itemsize if stored.dtype == BYTES else None
    )
    elements = stored[:whole].view(array.element_dtype)
    strides = [step * array.itemsize for step in array.steps]
    return np.ndarray(
        array.lengths,
        array.element_dtype,
        elements,
        offset=int(array.offset) * array.itemsize,
        strides=strides,
    )
