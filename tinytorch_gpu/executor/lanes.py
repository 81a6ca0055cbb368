"""`Batch`: the lanes of some blocks, run in lockstep, and what control flow asks of it.

A lane program gets a batch and calls it for geometry (`thread_index`), for masked
assignment (`merge`), branches (`branch`), lazily evaluated expressions
(`both`, `either`, `choose`) and function frames (`frame`).

Per-thread values have shape (blocks, threads), broadcastable: `threadIdx` is
(1, threads), `blockIdx` is (blocks, 1), and what is the same for all lanes is a scalar.
Threads are padded to whole warps; the padding is never active.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import UninitializedReadError
from tinytorch_gpu.executor.arithmetic import select, truth
from tinytorch_gpu.executor.geometry import Dim3, block_geometry, block_indices
from tinytorch_gpu.executor.mask import Mask

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.executor.journal import Journal
    from tinytorch_gpu.trace import Recorder, Site

__all__ = ["UNDEFINED", "Batch", "Dim3", "Frame", "require_defined", "together"]


class _Undefined:
    """The value of a variable that no lane has assigned; reading it is an error."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # Python asks for these on its own account
        raise UninitializedReadError(
            "a kernel reads a variable before any lane has assigned it",
            why="the variable is assigned only on a path that no lane took",
            fix="give it a value before the `if` or the loop",
            kind="undefined_variable",
        )


UNDEFINED: Any = _Undefined()


def require_defined(value: Any) -> None:
    """Refuse a variable that no lane has assigned.

    Raises:
        UninitializedReadError: it is one.
    """
    if value is UNDEFINED:
        _ = value.value  # raises


class SharedArrays(dict[Any, Any]):
    """The shared arrays of a batch by call site, and the bytes that a block uses.

    All parts of a batch have the same one, so that recorders know a batch by it.
    """

    nbytes = 0
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Tell whether it is the same object."""
        return self is other


class Batch:
    """Some blocks of a launch, all lanes at once.

    Args:
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        first: linear index of the first block of the batch.
        count: blocks in the batch.
        recorder: hears what happens, or None.
        journal: keeps what a fault has to put back.
        dynamic_shared_bytes: dynamic shared memory of each block, set by the launch.
        random: draws the order of lanes in an atomic operation; None is lane order.

    `live` holds the lanes that have not returned. `changes` counts what may have
    changed memory; a loop that waits for something looks at it.

    Example:
        >>> batch = Batch((2, 1, 1), (48, 1, 1), first=0, count=2)
        >>> batch.shape, batch.entry.count    # 48 threads fill two warps of 32
        ((2, 64), 96)
    """

    def __init__(
        self,
        grid: Dim3,
        block: Dim3,
        *,
        first: int,
        count: int,
        recorder: Recorder | None = None,
        journal: Journal | None = None,
        dynamic_shared_bytes: int = 0,
        random: np.random.Generator | None = None,
    ) -> None:
        self.grid = grid
        self.block = block
        self.threads, padded, entry, self._thread = block_geometry(block)
        self.shape = (count, padded)
        self.first = first
        self.recorder = recorder
        self.journal = journal
        self.dynamic_shared_bytes = dynamic_shared_bytes
        self.random = random
        self.entry = self.live = Mask(entry, self.shape)
        self.shared = SharedArrays()
        self.local: dict[Any, Any] = {}
        self.places: dict[Any, Any] = {}
        self.consecutive: tuple[Any, int | None] = (None, None)
        self.call_path: tuple[Any, ...] = ()
        self.changes = 0

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that the arrays made so far take of each block."""
        return self.shared.nbytes

    @shared_bytes.setter
    def shared_bytes(self, nbytes: int) -> None:
        self.shared.nbytes = nbytes

    def part(self, lanes: Any) -> Batch:
        """Return a batch of some of the lanes only, in the same shared memory.

        Args:
            lanes: bool (1, threads), the lanes that run.
        """
        other = copy(self)
        other.entry = other.live = self.entry.split(lanes)[0]
        return other

    def thread_index(self, axis: int) -> Any:
        """Return threadIdx along an axis: int32 (1, threads), or a scalar 0."""
        return np.int32(0) if self.block[axis] == 1 else self._thread[axis]

    def block_index(self, axis: int) -> Any:
        """Return blockIdx along an axis: int32 (blocks, 1), or a scalar."""
        if self.grid[axis] == 1:
            return np.int32(0)
        index = block_indices(self.grid, self.first, self.shape[0])[axis]
        return index[0, 0] if len(index) == 1 else index

    def block_dim(self, axis: int) -> Any:
        """Return blockDim along an axis, int32."""
        return np.int32(self.block[axis])

    def grid_dim(self, axis: int) -> Any:
        """Return gridDim along an axis, int32."""
        return np.int32(self.grid[axis])

    def frame(self, mask: Mask, *, is_kernel: bool) -> Frame:
        """Open the frame of a kernel or device function."""
        return Frame(self, mask, is_kernel=is_kernel)

    # Assignment and branches under a mask.

    def merge(self, mask: Mask, scope: Mask, new: Any, old: Any) -> Any:
        """Return the variable's value after the lanes of `mask` assign `new`.

        Args:
            mask: the lanes that assign.
            scope: the lanes that can ever read the variable; all of them assigning
                needs no merge.
            new: the value assigned.
            old: the value so far, of the same type.
        """
        if mask.count == scope.count or old is UNDEFINED or new is old:
            return new
        if isinstance(new, tuple):
            pairs = zip(new, old, strict=True)
            return tuple(self.merge(mask, scope, n, o) for n, o in pairs)
        return together(mask.full() if mask.lanes is None else mask.lanes, new, old)

    def entered(self, site: Site) -> None:
        """Enter a device function: each call has shared and local arrays of its own."""
        self.call_path = (*self.call_path, site)

    def left(self, _entered: None, value: Any) -> Any:
        """Leave the device function that was entered last, with its value."""
        self.call_path = self.call_path[:-1]
        return value

    def branch(self, mask: Mask, condition: Any, site: Site) -> tuple[Mask, Mask]:
        """Return the lanes that take the branch, and those that do not."""
        taken, rest = mask.split(truth(condition))
        if self.recorder is not None:
            self.recorder.branch(self, site, mask, taken)
        return taken, rest

    # Expressions that evaluate a side only for the lanes that need it.

    def both(self, mask: Mask, left: Any, right: Callable[[Mask], Any]) -> Any:
        """Return `left and right`; the right side runs for lanes where left is true."""
        needed, _ = mask.split(truth(left))
        if not needed.count:
            return left
        value = right(needed)
        return value if needed.count == mask.count else select(left, value, left)

    def either(self, mask: Mask, left: Any, right: Callable[[Mask], Any]) -> Any:
        """Return `left or right`; the right side runs for lanes where left is false."""
        _, needed = mask.split(truth(left))
        if not needed.count:
            return left
        value = right(needed)
        return value if needed.count == mask.count else select(left, left, value)

    def choose(
        self,
        mask: Mask,
        condition: Any,
        yes: Callable[[Mask], Any],
        no: Callable[[Mask], Any],
        site: Site,
    ) -> Any:
        """Return `yes if condition else no`; each side runs for its own lanes."""
        taken, rest = self.branch(mask, condition, site)
        if not rest.count:
            return yes(taken)
        if not taken.count:
            return no(rest)
        return together(condition, yes(taken), no(rest))


def together(lanes: Any, yes: Any, no: Any) -> Any:
    """Put the values of two groups of lanes together: numbers, tuples or arrays.

    Args:
        lanes: lane value; who has `yes` is not zero.
        yes: a lane value, a tuple of them, an array, or what is the same for all.
        no: a value of the same kind.

    Example:
        >>> one, three = np.int64(1), np.int64(3)
        >>> together(np.array([[True, False]]), (one, None), (three, None))
        (array([[1, 3]]), None)
    """
    if isinstance(yes, tuple):
        return tuple(together(lanes, a, b) for a, b in zip(yes, no, strict=True))
    if isinstance(yes, (np.ndarray, np.generic)):
        return select(lanes, yes, no)
    # None and groups of threads are the same for all lanes; arrays may differ.
    return yes.joined(truth(lanes), no) if hasattr(yes, "joined") else yes


class Frame:
    """One call of a kernel or device function: which lanes have returned, with what."""

    def __init__(self, batch: Batch, mask: Mask, *, is_kernel: bool) -> None:
        self._batch = batch
        self._is_kernel = is_kernel
        self._returned = mask.none()
        self._entry = mask
        self.value: Any = UNDEFINED

    def leave(self, mask: Mask, value: Any = None) -> None:
        """Let the lanes return a value; from a kernel they exit."""
        if value is not None:
            self.value = self._batch.merge(mask, self._entry, value, self.value)
        self._returned = self._returned.plus(mask)
        if self._is_kernel:
            self._batch.live = self._batch.live.minus(mask)

    def staying(self, mask: Mask) -> Mask:
        """Return the lanes of `mask` that have not returned."""
        return mask.minus(self._returned)
