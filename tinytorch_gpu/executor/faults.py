"""Faults told in the learner's terms: kernel, line, block, threads, both numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tinytorch_gpu.errors import OutOfBoundsError
from tinytorch_gpu.trace.places import WARP, coordinates

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.trace import Site, SourceLine
    from tinytorch_gpu.trace.recorder import Lanes

__all__ = [
    "Place",
    "block_name",
    "of_first_lane",
    "out_of_bounds",
    "place_facts",
    "place_of",
]


class Place(NamedTuple):
    """Lanes of one block: the block's row in its batch, int (n,) threads, and text."""

    row: int
    threads: Any
    text: str


def place_of(batch: Lanes, lanes: Any) -> Place:
    """Find the first block that has some of the lanes, and its threads among them.

    Args:
        batch: the blocks in flight.
        lanes: bool (blocks, threads), at least one of them true.
    """
    row = int(np.argmax(lanes.any(axis=1)))
    threads = np.flatnonzero(lanes[row])
    text = f"{block_name(batch, row)}, {_thread_range(batch, threads)}"
    return Place(row, threads, text)


def place_facts(
    batch: Lanes, line: SourceLine, row: int, threads: Any
) -> dict[str, Any]:
    """Return the facts of a place that errors and warnings carry.

    Args:
        batch: the blocks in flight.
        line: where it happens.
        row: position of the block in the batch.
        threads: int (n,), thread numbers in the block, ascending.

    Returns:
        `kernel`, `line` (its number), `source_line`, `block`, `threads` (x, y, z each).
    """
    return {
        "kernel": line.kernel,
        "line": line.line,
        "source_line": line,
        "block": coordinates(batch.first + row, batch.grid),
        "threads": tuple(coordinates(int(t), batch.block) for t in threads),
    }


def block_name(batch: Lanes, row: int) -> str:
    """Name a block of the batch by x, y, z.

    Args:
        batch: the blocks in flight.
        row: position of the block in the batch.
    """
    return f"block {coordinates(batch.first + row, batch.grid)}"


def _thread_range(batch: Lanes, linear: Any) -> str:
    """Name threads by x, y, z: the only one, or the first and the last.

    Args:
        batch: the blocks in flight.
        linear: int (n,), thread numbers in the block, ascending.
    """
    first, last = int(linear[0]), int(linear[-1])
    if first == last:
        return f"thread {coordinates(first, batch.block)}"
    return (
        f"threads {coordinates(first, batch.block)} to {coordinates(last, batch.block)}"
    )


def of_first_lane(batch: Batch, array: Any, faulty: Any) -> Any:
    """Return a view as the first lane at fault has it, to tell its lengths.

    Args:
        batch: the lanes.
        array: the `KernelArray`; its lengths may differ between lanes.
        faulty: bool (blocks, threads), the lanes at fault.
    """
    lane = int(np.argmax(faulty))
    lengths = (np.broadcast_to(n, batch.shape).flat[lane] for n in array.lengths)
    return array.view(array.offset, tuple(map(int, lengths)), array.steps)


def out_of_bounds(
    batch: Batch,
    array: Any,
    axis: int,
    index: Any,
    outside: Any,
    site: Site,
    action: str,
) -> OutOfBoundsError:
    """Make the error of all lanes whose index is outside, first and last named.

    Args:
        batch: the lanes.
        array: the `KernelArray`.
        axis: the axis that was overrun.
        index: int64, each lane's index.
        outside: bool (blocks, threads), the lanes at fault.
        site: where it stands.
        action: "load from" or "store to".
    """
    row, threads, text = place_of(batch, outside)
    values = np.broadcast_to(index, batch.shape)[row, threads]
    low, high = int(values.min()), int(values.max())
    length = array.lengths[axis]
    name, line = site.expression, site.line
    side = "before the start" if high < 0 else "past the end"
    total = int(outside.sum())
    kind = f"{array.element_dtype.name} of shape {array.lengths}"
    return OutOfBoundsError(
        f"{action} {side} of `{name}`, {kind}",
        where=f"{line}\n{text}: {_lanes(threads)}" + _others(total - len(threads)),
        why=_why(low, high, axis, length, len(array.lengths), values.size),
        fix=_fix(batch, name, low, axis, array),
        kind="out_of_bounds",
        argument=name,
        space=array.space,
        index=(low, high),
        axis=axis,
        shape=array.lengths,
        lanes_at_fault=total,
        **place_facts(batch, line, row, threads),
    )


def _why(low: int, high: int, axis: int, length: int, ndim: int, lanes: int) -> str:
    index = f"index {low}" if low == high else f"indices {low} to {high}"
    subject = "this lane has" if lanes == 1 else "these lanes have"
    place = f" on axis {axis}" if ndim > 1 else ""
    last = f"the last element is {length - 1}" if length else "the axis is empty"
    return f"{subject} {index}{place}; {last}"


def _fix(batch: Batch, name: str, low: int, axis: int, array: Any) -> str:
    length, is_flat = array.lengths[axis], len(array.lengths) == 1
    limit = f"{name}.size" if is_flat else f"{name}.shape[{axis}]"
    if low < 0:
        return "guard the first elements, for example `if i > 0:`"
    launched = int(np.prod(batch.grid)) * batch.threads
    if is_flat and launched > length:
        blocks = int(np.prod(batch.grid))
        return (
            f"{blocks} block{'s'[: blocks > 1]} × {batch.threads} threads = {launched} "
            f"threads, {length} elements:\nguard it with `if i < {limit}:`"
        )
    return f"guard the index with `< {limit}`"


def _lanes(threads: Any) -> str:
    """Tell how many lanes, and where they sit in their warps."""
    first, last = int(threads[0]), int(threads[-1])
    count = f"{len(threads)} lane" + ("s" if len(threads) > 1 else "")
    if first // WARP != last // WARP:
        return f"{count}, warps {first // WARP} to {last // WARP}"
    lanes = (
        f"lane {first % WARP}" if first == last else f"{first % WARP} to {last % WARP}"
    )
    prefix = "" if first == last else "lanes "
    return f"{count}, warp {first // WARP}, {prefix}{lanes}"


def _others(count: int) -> str:
    return f"; {count} more lanes in other blocks of the batch" if count else ""
