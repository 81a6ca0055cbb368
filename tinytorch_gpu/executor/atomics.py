"""Atomics: read, change and write an element in one step, for many lanes at once.

Lanes that meet at one element take their turns in lane order, block by block, and each
gets the value that it found. Hardware promises only that there is some order, and with
`schedule="shuffled"` it is a drawn one.

How a whole batch is done at once: lanes are sorted by element, and an operation that
is associative is a running total within each run of equal elements. Float addition is
not associative, so it runs lane after lane and rounds at each step; `inc`, `dec` and
`cas` fall back to one lane at a time where lanes meet.

Source: numba-cuda 0.30.4's PTX (cc 8.0) for max and min of NaN; CUDA C++ Programming
Guide, "Atomic Functions", for inc, dec and cas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.arithmetic import cast
from tinytorch_gpu.executor.kernel_array import ChosenArray, KernelArray
from tinytorch_gpu.executor.places import flat_index
from tinytorch_gpu.executor.runs import Runs, running, running_float_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["ATOMICS", "atomic"]

Step = Any  # Callable[..., Any]: the new value from the old one and the operands


def atomic(
    batch: Batch,
    mask: Mask,
    site: Site,
    operation: str,
    array: Any,
    index: Any,
    *operands: Any,
) -> Any:
    """Change `array[index]` for each active lane, and return what was there before.

    Args:
        batch: the lanes.
        mask: the active ones.
        site: where it stands; its expression names the array.
        operation: a key of `ATOMICS`.
        array: a global or shared KernelArray, any shape.
        index: one integer, or a tuple of one for each axis.
        *operands: lane values, converted to the element type; `cas` has two, the
            expected value and the new one.

    Returns:
        Old values, element type, (blocks, threads); 0 for inactive lanes.

    Raises:
        OutOfBoundsError: an active lane's index is outside.
        KernelTypeError: the array cannot be changed atomically, or the index is wrong.
    """
    if isinstance(array, ChosenArray):
        return array.each(
            mask, lambda m, a: atomic(batch, m, site, operation, a, index, *operands)
        )
    parts = index if isinstance(index, tuple) else (index,)
    _check(array, parts, site)
    flat = flat_index(batch, mask, array, parts, site, "store to")
    array.will_change(batch)
    dtype = array.element_dtype
    active = mask.full()
    old = np.zeros(batch.shape, dtype)
    if not mask.count:
        return old
    cells = _pick(array.cells(flat), active)
    values = [_pick(cast(operand, dtype), active) for operand in operands]
    storage = array.storage
    before = storage[cells]
    old[active] = _in_turns(batch, ATOMICS[operation], storage, cells, values)
    if batch.recorder is not None:
        batch.recorder.access(batch, site, mask, "atomic", array, flat, 0, old)
    batch.changes += storage[cells].tobytes() != before.tobytes()
    return old


def _in_turns(
    batch: Batch, operation: Callable[..., Any], storage: Any, cells: Any, values: Any
) -> Any:
    """Run an operation in the order of lanes, or in one that the batch draws.

    Args:
        batch: the lanes.
        operation: changes cells in the order given, returns what each turn found.
        storage: elements, (n,); changed.
        cells: int64 (lanes,), where each lane changes one.
        values: its operands, each (lanes,).

    Returns:
        Old values, (lanes,), in lane order.
    """
    if batch.random is None:
        return operation(storage, cells, *values)
    turns = batch.random.permutation(len(cells))
    old = np.empty(len(cells), storage.dtype)
    old[turns] = operation(storage, cells[turns], *(value[turns] for value in values))
    return old


def _check(array: Any, parts: tuple[Any, ...], site: Site) -> None:
    """Refuse what has no element that several threads could change.

    Raises:
        KernelTypeError: no array, read-only or a thread's own; or a part of it only.
    """
    if not isinstance(array, KernelArray):
        problem = f"a {type(array).__name__}"
    elif array.space not in {"global", "shared"}:
        problem = f"an array in {array.space} memory"
    elif len(parts) != len(array.lengths):
        problem = f"{len(parts)} indices into an array of shape {array.lengths}"
    else:
        return
    raise KernelTypeError(
        f"an atomic operation on {problem}",
        where=str(site.line),
        why="it changes one element of an array in global or shared memory",
        fix="give such an array, and one index for each of its axes",
    )


def _pick(value: Any, active: Any) -> Any:
    """Return the active lanes' values in lane order, (n,)."""
    return np.broadcast_to(value, active.shape)[active]


# Steps: the new value of an element from the old one and the lane's operands.


def _larger(old: Any, value: Any) -> Any:
    """Return the larger, the old one of equals; a NaN gives way to any number."""
    return np.where((old < value) | ((old != old) & (value == value)), value, old)  # noqa: PLR0124


def _smaller(old: Any, value: Any) -> Any:
    """Return the smaller, the old one of equals; a NaN gives way to any number."""
    return np.where((old > value) | ((old != old) & (value == value)), value, old)  # noqa: PLR0124


def _last(_old: Any, value: Any) -> Any:
    return value


def _incremented(old: Any, limit: Any) -> Any:
    return np.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1))


def _decremented(old: Any, limit: Any) -> Any:
    is_reset = (old == 0) | (old > limit)
    return np.where(is_reset, limit, old - old.dtype.type(1))


def _swapped(old: Any, expected: Any, value: Any) -> Any:
    return np.where(old == expected, value, old)


# Operations: change the cells of the storage, return the old values in lane order.


def _add(storage: Any, cells: Any, values: Any) -> Any:
    if storage.dtype.kind == "f":
        return running_float_sum(storage, cells, values)
    return running(storage, cells, values, np.add)


def _subtract(storage: Any, cells: Any, values: Any) -> Any:
    return _add(storage, cells, np.negative(values))


def _associative(combine: Step) -> Callable[..., Any]:
    """Make the operation of an associative step, which is a running total."""

    def operation(storage: Any, cells: Any, values: Any) -> Any:
        return running(storage, cells, values, combine)

    return operation


def _unless_nan(combine: Step) -> Callable[..., Any]:
    """Make `max` or `min`: a NaN in memory stays, for it compares as false."""

    def operation(storage: Any, cells: Any, values: Any) -> Any:
        before = storage[cells]
        is_nan = before != before  # noqa: PLR0124
        old = running(storage, cells, values, combine)
        storage[cells[is_nan]] = before[is_nan]
        return np.where(is_nan, before, old)

    return operation


def _serial(step: Step, turn: Callable[..., int]) -> Callable[..., Any]:
    """Make an operation that takes turns one by one where lanes meet.

    Args:
        step: for lanes that are alone at their elements, all at once.
        turn: the same step for Python integers.
    """

    def operation(storage: Any, cells: Any, *operands: Any) -> Any:
        before = storage[cells]
        if Runs(cells).longest == 1:
            storage[cells] = step(before, *operands)
            return before
        old, now = [], dict(zip(cells.tolist(), before.tolist(), strict=True))
        rows = zip(*(operand.tolist() for operand in operands), strict=True)
        for cell, row in zip(cells.tolist(), rows, strict=True):
            old.append(now[cell])
            now[cell] = turn(now[cell], *row)
        storage[list(now)] = list(now.values())
        return np.array(old, storage.dtype)

    return operation


ATOMICS: dict[str, Callable[..., Any]] = {
    "add": _add,
    "sub": _subtract,
    "max": _unless_nan(_larger),
    "min": _unless_nan(_smaller),
    "nanmax": _associative(_larger),
    "nanmin": _associative(_smaller),
    "and_": _associative(np.bitwise_and),
    "or_": _associative(np.bitwise_or),
    "xor": _associative(np.bitwise_xor),
    "exch": _associative(_last),
    "inc": _serial(_incremented, lambda old, limit: 0 if old >= limit else old + 1),
    "dec": _serial(
        _decremented,
        lambda old, limit: limit if old == 0 or old > limit else old - 1,
    ),
    "cas": _serial(
        _swapped, lambda old, expected, value: value if old == expected else old
    ),
}
