"""Names that mean something only inside a kernel: geometry, barriers, grid groups.

Each is an object with numba's name. The rewriter recognises it by identity and writes a
call of its `lower` function into the lane program; called on the host it raises.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import KernelSyntaxError, KernelTypeError
from tinytorch_gpu.executor import control
from tinytorch_gpu.trace.places import WARP

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = [
    "GridGroup",
    "Intrinsic",
    "Special",
    "blockDim",
    "blockIdx",
    "cg",
    "grid",
    "gridDim",
    "gridsize",
    "laneid",
    "range_length",
    "syncthreads",
    "syncthreads_and",
    "syncthreads_count",
    "syncthreads_or",
    "threadIdx",
    "warpsize",
    "with_name",
]

AXES = "xyz"


class Intrinsic:
    """A function that exists only inside kernels.

    Args:
        name: numba's name without `cuda.`, for example `atomic.add`.
        lower: what the lane program calls.
        doc: one sentence for `help()`.
        signature: its parameters as Python text, with numba's names and defaults.
        needs: what `lower` gets before the arguments: nothing (""), the `batch`, or
            batch, mask and site (`mask`).
        infer: gives a result of the right types for dummy arguments; `lower` if None.
        kind: how a recorder counts it, as in `CountingRecorder.operation`, or None.
        role: `value`, or what the rewriter treats apart: `barrier`, `shared_array`,
            `local_array`, `const_array`, `axes` (its argument is a literal number).
        touches_memory: its first argument is an array, its second steers the address.
    """

    def __init__(
        self,
        name: str,
        lower: Callable[..., Any],
        doc: str,
        *,
        signature: str = "",
        needs: str = "batch",
        infer: Callable[..., Any] | None = None,
        kind: str | None = None,
        role: str = "value",
        touches_memory: bool = False,
    ) -> None:
        self.name = name
        self.lower = lower
        self.needs = needs
        self.infer = infer
        self.kind = kind
        self.role = role
        self.touches_memory = touches_memory
        self.parameters = ast.parse(f"def f({signature}): pass").body[0].args  # type: ignore[attr-defined]
        self.__doc__ = doc

    def __call__(self, *_args: Any, **_options: Any) -> Any:
        """Refuse: there is no thread on the host.

        To type checkers the result is Any, since within a kernel it is a value.

        Raises:
            KernelSyntaxError: always.
        """
        raise KernelSyntaxError(
            f"cuda.{self.name} called outside a kernel",
            where="host code",
            why="it belongs to a thread, and the host has none",
            fix="call it inside a function decorated with @cuda.jit, and launch that",
        )

    def __repr__(self) -> str:
        """Name it as numba does."""
        return f"<cuda.{self.name}>"


def with_name(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a `lower` that passes a name between batch, mask, site and arguments.

    Args:
        function: takes batch, mask, site, the name, and the arguments.
        name: which of its operations is meant.
    """

    def lower(batch: Batch, mask: Mask, site: Site, *args: Any) -> Any:
        return function(batch, mask, site, name, *args)

    return lower


class Special:
    """An int32 that exists only inside kernels, such as `threadIdx.x`."""

    dummy = np.int32(1)

    def __init__(self, name: str, lower: Callable[[Batch], Any]) -> None:
        self.name = name
        self.lower = lower

    def __repr__(self) -> str:
        """Name it as numba does."""
        return f"<cuda.{self.name}>"


class _Triple:
    """`threadIdx` and the like: three special values x, y, z."""

    def __init__(self, name: str, lower: Callable[[Batch, int], Any]) -> None:
        self.x, self.y, self.z = (
            Special(f"{name}.{AXES[axis]}", _along(lower, axis)) for axis in range(3)
        )


def _along(lower: Callable[[Batch, int], Any], axis: int) -> Callable[[Batch], Any]:
    return lambda batch: lower(batch, axis)


threadIdx = _Triple("threadIdx", lambda batch, axis: batch.thread_index(axis))  # noqa: N816
blockIdx = _Triple("blockIdx", lambda batch, axis: batch.block_index(axis))  # noqa: N816
blockDim = _Triple("blockDim", lambda batch, axis: batch.block_dim(axis))  # noqa: N816
gridDim = _Triple("gridDim", lambda batch, axis: batch.grid_dim(axis))  # noqa: N816


def _lane_ids(batch: Batch) -> Any:
    return (np.arange(batch.shape[1], dtype=np.int32) % WARP)[None]


laneid = Special("laneid", _lane_ids)
warpsize = Special("warpsize", lambda _batch: np.int32(WARP))


def _grid_index(batch: Batch, axis: int) -> Any:
    """Return threadIdx + blockIdx × blockDim along an axis, int64."""
    start = np.multiply(batch.block_index(axis), batch.block[axis], dtype=np.int64)
    return start + batch.thread_index(axis).astype(np.int64)


def _grid_size(batch: Batch, axis: int) -> Any:
    return np.int64(batch.grid[axis] * batch.block[axis])


def _by_axes(per_axis: Callable[[Batch, int], Any], name: str) -> Callable[..., Any]:
    """Make `grid(n)`: one value for n = 1, else a tuple in the order x, y, z."""

    def lower(batch: Batch, *given: Any) -> Any:
        is_number = len(given) == 1 and np.ndim(given[0]) == 0
        count = int(given[0]) if is_number else 0
        if count not in (1, 2, 3):
            raise KernelTypeError(
                f"cuda.{name}({count if is_number else '...'})",
                why=f"{name} takes 1, 2 or 3, the number of axes",
                fix=f"write cuda.{name}(1) for a one-dimensional grid",
            )
        values = tuple(per_axis(batch, axis) for axis in range(count))
        return values[0] if count == 1 else values

    return lower


grid = Intrinsic(
    "grid",
    _by_axes(_grid_index, "grid"),
    "grid(n): the thread's index in the whole grid, int64; n > 1 gives (x, y[, z]).",
    signature="ndim",
    role="axes",
)
gridsize = Intrinsic(
    "gridsize",
    _by_axes(_grid_size, "gridsize"),
    "gridsize(n): threads of the whole grid along each of n axes, int64.",
    signature="ndim",
    role="axes",
)


def _barrier(kind: str, doc: str, signature: str = "") -> Intrinsic:
    """Make a barrier of the block; the engine computes what it gives."""
    name = "syncthreads" + (f"_{kind}" if signature else "")
    return Intrinsic(
        name, lambda *_: None, doc, signature=signature, role="barrier", infer=_arrived
    )


def _arrived(*predicates: Any) -> Any:
    """Type of a barrier's result: int32, or None for the plain one.

    Raises:
        KernelTypeError: a predicate is no integer; the compiler takes no bool.
    """
    for predicate in predicates:
        if not isinstance(predicate, np.integer):
            raise KernelTypeError(
                f"a barrier's predicate of type {np.result_type(predicate)}",
                why="syncthreads_count, _and and _or take an integer; 0 is false",
                fix="write int(x > 0), or 1 if x > 0 else 0",
            )
    return np.int32(1) if predicates else None


syncthreads = _barrier(
    "block", "syncthreads(): wait until every live thread of the block has come."
)
syncthreads_count = _barrier(
    "count",
    "syncthreads_count(predicate): a barrier; how many threads' predicate is true.",
    "predicate",
)
syncthreads_and = _barrier(
    "and",
    "syncthreads_and(predicate): a barrier; 1 if every thread's predicate is true.",
    "predicate",
)
syncthreads_or = _barrier(
    "or",
    "syncthreads_or(predicate): a barrier; 1 if some thread's predicate is true.",
    "predicate",
)


# What a loop over `zip` or `enumerate` of a `range` is rewritten with.
range_length = Intrinsic(
    "range_length",
    control.range_length,
    "range_length(bounds): how many values range(*bounds) has, int64.",
    signature="bounds",
    needs="mask",
    infer=lambda _bounds: np.int64(1),
    kind="arithmetic",
)


@dataclass(frozen=True)
class GridGroup:
    """What `cg.this_grid()` gives: the group of all threads, to be synchronised."""

    is_kernel_token = True


class _CooperativeGroups:
    """`cuda.cg`: groups of threads that synchronise."""

    this_grid = Intrinsic(
        "cg.this_grid",
        lambda _batch: GridGroup(),
        "cg.this_grid(): the group of all threads of the launch; its sync() is a "
        "barrier over the whole grid.",
    )


cg = _CooperativeGroups()
