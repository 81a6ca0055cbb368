"""`print`, and what a kernel checks with `debug=True`: lane by lane."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import settings
from tinytorch_gpu.errors import KernelRaisedError
from tinytorch_gpu.executor.arithmetic import truth
from tinytorch_gpu.executor.faults import block_name, place_of
from tinytorch_gpu.trace.places import coordinates

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["kernel_assert", "kernel_divisor", "kernel_print", "kernel_raise"]


def kernel_print(batch: Batch, mask: Mask, *values: Any) -> None:
    """Print one line for each active lane, by block and thread.

    The lines wait in the journal until the launch ends or fails. Hardware, too, buffers
    what threads print; it shows it in no set order. `Settings.print_threads` has each
    line begin with who printed it.

    Args:
        batch: the lanes.
        mask: those that print.
        values: lane values and strings.
    """
    if batch.journal is None:
        return
    blocks, threads = np.nonzero(mask.full())
    columns = [_column(batch, value, blocks, threads) for value in values]
    rows = zip(*columns, strict=True) if columns else [()] * len(blocks)
    lines = [" ".join(map(str, parts)) for parts in rows]
    if settings.current().print_threads:
        places = zip(blocks.tolist(), threads.tolist(), lines, strict=True)
        lines = [f"{_name(batch, block, t)}: {line}" for block, t, line in places]
    batch.journal.lines += lines


def _name(batch: Batch, row: int, thread: int) -> str:
    """Name a thread by its block and its place in it."""
    return f"{block_name(batch, row)}, thread {coordinates(thread, batch.block)}"


def _column(batch: Batch, value: Any, blocks: Any, threads: Any) -> list[Any]:
    """Return what each lane prints of one value."""
    if isinstance(value, tuple):
        parts = [_column(batch, part, blocks, threads) for part in value]
        return list(zip(*parts, strict=True))
    if isinstance(value, (np.ndarray, np.generic)):
        lanes: list[Any] = np.broadcast_to(value, batch.shape)[blocks, threads].tolist()
        return lanes
    return [value] * len(blocks)


def kernel_assert(
    batch: Batch, mask: Mask, site: Site, condition: Any, message: str
) -> None:
    """Stop the launch unless the condition holds for every active lane.

    Raises:
        KernelRaisedError: it does not; also an AssertionError.
    """
    _, failing = mask.split(truth(condition))
    if failing.count:
        told = f"AssertionError: {message}" if message else "AssertionError"
        kernel_raise(batch, failing, site, AssertionError, told)


def kernel_divisor(batch: Batch, mask: Mask, site: Site, divisor: Any) -> Any:
    """Return a divisor, which is not 0 in any active lane.

    Raises:
        KernelRaisedError: it is 0 somewhere; also a ZeroDivisionError.
    """
    _, zero = mask.split(truth(divisor))
    if zero.count:
        told = "ZeroDivisionError: division by zero"
        kernel_raise(batch, zero, site, ZeroDivisionError, told)
    return divisor


def kernel_raise(batch: Batch, mask: Mask, site: Site, kind: Any, told: str) -> None:
    """Stop the launch as its first active lane raises.

    Args:
        batch: the lanes.
        mask: those that raise.
        site: where it stands.
        kind: the exception's class.
        told: the exception as the learner wrote it.

    Raises:
        KernelRaisedError: always; an instance of `kind` too.
    """
    raise _raised_class(kind)(
        f"{told}, in {mask.count} lane{'s'[: mask.count > 1]}",
        where=f"{site.line}\n{place_of(batch, mask.full()).text}",
        why="the kernel was compiled with debug=True, and these lanes came here",
        fix="follow the values that lead to this line",
        kernel=site.line.kernel,
        line=site.line.line,
    )


@lru_cache
def _raised_class(kind: Any) -> type[KernelRaisedError]:
    """Return a class that is both a fault of a kernel and what the kernel raised."""
    if issubclass(KernelRaisedError, kind):
        return KernelRaisedError
    return type(kind.__name__, (_RaisedError, kind), {"raised": kind})


class _RaisedError(KernelRaisedError):
    """Base of the classes made here, which pickle by the class that was raised."""

    raised: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _raised_again, (self.raised, self.what, self._parts(), self.facts)


def _raised_again(
    kind: Any, what: str, parts: dict[str, str], facts: dict[str, Any]
) -> KernelRaisedError:
    """Make the error again when it is unpickled."""
    return _raised_class(kind)(what, **parts, **facts)
