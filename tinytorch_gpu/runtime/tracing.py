"""`tracing`: keep everything that the launches of a `with` block do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from operator import index
from typing import TYPE_CHECKING, SupportsIndex, overload

from tinytorch_gpu.errors import SettingsError
from tinytorch_gpu.runtime.watching import watching
from tinytorch_gpu.trace import FullRecorder, LaunchTrace, Selection
from tinytorch_gpu.units import parse_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.trace.selection import Dim3

__all__ = ["Traces", "tracing"]


class Traces(Sequence[LaunchTrace]):
    """The traces of the launches so far, in order.

    Args:
        traces: the recorder's list; it grows as launches end.
    """

    def __init__(self, traces: list[LaunchTrace]) -> None:
        self._traces = traces

    @overload
    def __getitem__(self, index: int) -> LaunchTrace: ...

    @overload
    def __getitem__(self, index: slice) -> list[LaunchTrace]: ...

    def __getitem__(self, index: int | slice) -> LaunchTrace | list[LaunchTrace]:
        """Return a launch's trace by position."""
        return self._traces[index]

    def __len__(self) -> int:
        """Count the launches."""
        return len(self._traces)

    def of(self, kernel: str) -> list[LaunchTrace]:
        """Return the traces of all launches of a kernel.

        Args:
            kernel: its name.

        Example:
            >>> Traces([]).of("add")
            []
        """
        return [trace for trace in self._traces if trace.kernel.name == kernel]

    def __repr__(self) -> str:
        """Show each launch's trace."""
        return f"<Traces: {self._traces}>"


@contextmanager
def tracing(
    budget: str | int = "256 MiB",
    *,
    blocks: Sequence[int | Dim3] | None = None,
    warps: Sequence[int] | None = None,
    sample: int | None = None,
    seed: int = 0,
    operations: bool = False,
) -> Iterator[Traces]:
    """Keep every access, branch, barrier and warp operation of a `with` block.

    Where that is too much, name blocks or warps, or draw some blocks: these are then
    kept in full, and the counts cover the whole launch all the same.

    Args:
        budget: most bytes kept of one launch, a number or text like `"256 MiB"`; past
            it nothing more is kept, and the trace's note says so.
        blocks: linear numbers or (x, y, z); a launch without one of them leaves it out.
        warps: numbers of warps within a block.
        sample: draw this many blocks of each launch.
        seed: what is drawn.
        operations: keep arithmetic too.

    Yields:
        The traces: `traces[0]` of the first launch, `traces.of("add")` of a kernel.

    Raises:
        SettingsError: an argument has a value that it does not take.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu import cuda
        >>> @cuda.jit
        ... def double(x):
        ...     i = cuda.grid(1)
        ...     if i < x.size:
        ...         x[i] *= 2
        >>> with tracing(blocks=[1]) as traces:
        ...     double[2, 32](np.arange(40.0))
        >>> traces[0].note
        'kept 1 of 2 blocks'
        >>> [(r.kind, r.value.item()) for r in traces[0].touching("x", 39)]
        [('load', 39.0), ('store', 78.0)]
    """
    recorder = FullRecorder(
        _bytes(budget), _selection(blocks, warps, sample, seed), operations=operations
    )
    with watching(recorder):
        yield Traces(recorder.traces)


def _bytes(budget: str | int) -> int:
    try:
        size = parse_bytes(budget) if isinstance(budget, str) else index(budget)
    except (TypeError, ValueError) as error:
        raise _wrong("budget", budget, str(error)) from None
    if size < 0:
        raise _wrong("budget", budget, "it is a number of bytes, 0 or more")
    return size


def _selection(
    blocks: Sequence[int | Dim3] | None,
    warps: Sequence[int] | None,
    sample: int | None,
    seed: int,
) -> Selection:
    if blocks is not None and sample is not None:
        raise _wrong("sample", sample, "blocks= names the blocks already")
    if sample is not None and not (_is_number(sample) and sample):
        raise _wrong("sample", sample, "it is a number of blocks, 1 or more")
    if not _is_list(warps) or not all(map(_is_number, warps or ())):
        raise _wrong("warps", warps, "it is a list of warps, numbered from 0")
    if not _is_list(blocks) or not all(map(_is_block, blocks or ())):
        why = "it is a list of blocks, each a number from 0, or (x, y, z)"
        raise _wrong("blocks", blocks, why)
    return Selection(
        None if blocks is None else tuple(blocks),
        None if warps is None else tuple(sorted(set(warps))),
        sample,
        seed,
    )


def _is_list(given: object) -> bool:
    return given is None or (isinstance(given, Iterable) and not isinstance(given, str))


def _is_number(given: object) -> bool:
    return isinstance(given, SupportsIndex) and index(given) >= 0


def _is_block(block: object) -> bool:
    parts = block if isinstance(block, Sequence) else (block,)
    return len(parts) in (1, 3) and all(map(_is_number, parts))


def _wrong(name: str, value: object, why: str) -> SettingsError:
    return SettingsError(
        f"tracing({name}={value!r:.60})",
        where="with simgpu.tracing(...)",
        why=why,
        fix='for example tracing("64 MiB", blocks=[0, (1, 2, 0)], warps=[0])',
    )
