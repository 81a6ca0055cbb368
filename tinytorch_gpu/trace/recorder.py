"""Recorders: what the executor tells while it runs.

The executor reports each access, operation, branch and barrier of a batch once. A
`Recorder` listens and makes of it what it is for: counts (`counting.py`), a trace, or
findings. `Recorders` lets several listen to one launch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.trace.stamp import Stamp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinytorch_gpu.trace.counts import LaunchCounts
    from tinytorch_gpu.trace.source import KernelSource, Site

__all__ = [
    "ActiveMask",
    "Lanes",
    "LaunchStart",
    "RecordedArray",
    "Recorder",
    "Recorders",
]

BoolArray = npt.NDArray[np.bool_]


class ActiveMask(Protocol):
    """Which lanes of a batch take part; `lanes` is None when all do."""

    lanes: BoolArray | None
    count: int
    shape: tuple[int, int]

    @property
    def warps(self) -> int:
        """Warps with at least one active lane."""
        ...

    def full(self) -> BoolArray:
        """Return the lanes as bool (blocks, threads)."""
        ...


class Lanes(Protocol):
    """The batch of blocks that runs: which blocks of the launch, how many threads."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    first: int
    shape: tuple[int, int]
    shared: Any  # one object for all parts of a batch; can be weakly referred to
    call_path: tuple[Any, ...]

    @property
    def live(self) -> ActiveMask:
        """The lanes that have not returned."""
        ...


class RecordedArray(Protocol):
    """What a recorder asks of an array that a kernel touches."""

    @property
    def space(self) -> str:
        """`global`, `shared`, `local` or `constant`."""
        ...

    @property
    def address(self) -> int:
        """Byte address of the storage's element 0."""
        ...

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        ...

    @property
    def element_dtype(self) -> np.dtype[Any]:
        """Element type."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes that the indices of all lanes can reach."""
        ...

    @property
    def storage(self) -> npt.NDArray[Any]:
        """All elements of the memory that the array lies in."""
        ...

    def cells(self, flat: Any) -> Any:
        """Return where in the storage the elements at flat indices lie."""
        ...


@dataclass(frozen=True, slots=True)
class LaunchStart:
    """A launch that begins.

    Args:
        kernel: name, file and line of the kernel.
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        arguments: what each parameter got: arrays as kernels see them, or scalars.
        stamp: which launches are over when it begins.
    """

    kernel: KernelSource
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: dict[str, Any]
    stamp: Stamp = field(default_factory=Stamp)


class Recorder:
    """Listens to launches. All methods do nothing; a recorder overrides what it needs.

    `mask` holds the lanes that take part, `site` tells where it stands. Arrays that are
    handed over are not changed afterwards, but for an array's storage.
    """

    wants_operations = True
    """Listen to arithmetic too; a recorder without it sees memory and control flow."""

    def begin(self, launch: LaunchStart) -> None:
        """Start to listen to a launch; forget what a failed run of it told."""

    def end(self, counts: LaunchCounts | None, error: BaseException | None) -> None:
        """Hear that the launch is over.

        Args:
            counts: what was counted; None when counters are off, or after an error.
            error: what stopped the launch, or None.
        """

    def operation(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        kind: str,
        value: Any,
        name: str = "",
        operand: Any = None,
        needed: ActiveMask | None = None,
    ) -> Any:
        """Hear of one arithmetic operation, and return its value.

        Args:
            batch: the lanes.
            site: where it stands.
            mask: the lanes that take part.
            kind: `arithmetic`, `special`, `convert`, `compare`, or of `//` and `%`
                `division`, `division_by_constant` and `division_by_power` (of two).
            value: the result, (blocks, threads) or broadcastable to it.
            name: `floordiv`, `mod`, `lshift`, `rshift`, `convert`, or "" for the rest.
            operand: of these: the divisor, the shift count, what is converted.
            needed: the lanes that use the value, if not all that compute it do: in
                `a // b if b else 0` those where `b` is not 0.
        """
        del batch, site, mask, kind, name, operand, needed
        return value

    def access(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        kind: str,
        array: RecordedArray,
        flat: Any,
        shift: Any = 0,
        value: Any = None,
        given: Any = None,
    ) -> None:
        """Hear of one load, store or atomic; a store's before it changes memory.

        Args:
            batch: the lanes.
            site: where it stands; its expression spells the array.
            mask: the lanes that take part.
            kind: `load`, `store` or `atomic`.
            array: the array touched.
            flat: element index from the array's address, one scalar for all lanes or
                int64 broadcastable to (blocks, threads). In a loop over `a[row, k]` it
                stays the same array while `shift` changes.
            shift: added to each index, an integer.
            value: what is loaded or stored; of an atomic what was there before. None
                where it is not known yet.
            given: of a store the value before it took the array's element type.
        """

    def branch(
        self, batch: Lanes, site: Site, mask: ActiveMask, taken: ActiveMask
    ) -> None:
        """Hear of a branch: `taken` holds the lanes of `mask` whose test is true."""

    def arrive(self, batch: Lanes, site: Site, mask: ActiveMask, kind: str) -> None:
        """Hear that lanes have come to a barrier.

        Args:
            batch: the lanes.
            site: where the barrier stands.
            mask: the lanes that came.
            kind: `block`, `count`, `and`, `or` or `grid`.
        """

    def release(self, batch: Lanes, mask: ActiveMask, kind: str) -> None:
        """Hear that a barrier opens for lanes; told of all of them before any goes on.

        Args:
            batch: the lanes.
            mask: those that go on.
            kind: as for `arrive`.
        """

    def converge(
        self, batch: Lanes, site: Site, mask: ActiveMask, name: str, members: Any
    ) -> None:
        """Hear of a warp operation.

        Args:
            batch: the lanes.
            site: where it stands.
            mask: the lanes that take part.
            name: numba's name: `syncwarp`, `shfl_sync`, `ballot_sync` and so on.
            members: uint32 bits of the lanes that take part with each lane, a scalar
                or broadcastable to (warps, 32).
        """

    def fence(self, batch: Lanes, site: Site, mask: ActiveMask, name: str) -> None:
        """Hear of a memory fence.

        Args:
            batch: the lanes.
            site: where it stands.
            mask: the lanes that take part.
            name: `threadfence`, `threadfence_block` or `threadfence_system`.
        """


EVENTS = ("begin", "end", "access", "branch", "arrive", "release", "converge", "fence")


class Recorders(Recorder):
    """Several recorders that listen to the same launch.

    Args:
        recorders: in the order in which each of them is told.

    Example:
        >>> both = Recorders([Recorder(), Recorder()])
        >>> both.wants_operations
        True
    """

    def __init__(self, recorders: Iterable[Recorder]) -> None:
        self._recorders = tuple(recorders)
        self.wants_operations = any(r.wants_operations for r in self._recorders)
        for event in EVENTS:
            setattr(self, event, self._to_all(event))

    def operation(self, *told: Any) -> Any:
        """Tell the recorders that want it of an operation, and return its value."""
        for recorder in self._recorders:
            if recorder.wants_operations:
                recorder.operation(*told)
        return told[4]

    def _to_all(self, event: str) -> Any:
        """Return a function that tells those recorders that listen to an event."""
        nothing = getattr(Recorder, event)
        told = [getattr(recorder, event) for recorder in self._recorders]
        listening = [t for t in told if getattr(t, "__func__", t) is not nothing]
        if len(listening) == 1:
            return listening[0]

        def tell(*told: Any) -> None:
            for listen in listening:
                listen(*told)

        return tell
