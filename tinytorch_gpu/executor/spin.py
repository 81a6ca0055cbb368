"""Find loops that wait for what can no longer happen.

A loop whose iteration lets no lane out, changes no memory and leaves the variables as
they were is at a fixed point: each further iteration is the same. Now and then two
iterations are compared, rarely enough to cost nothing.

Limits: a loop that also counts its tries is not at a fixed point; the step budget ends
that one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import DeadlockError, KernelWarning
from tinytorch_gpu.executor.faults import place_facts, place_of
from tinytorch_gpu.executor.notices import warn_at

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["SpinCheck", "warn_of_waiting"]

FIRST_LOOK = 64  # iterations; later ones at each doubling


class SpinCheck:
    """Compares an iteration of a loop with the one before.

    Args:
        batch: the lanes; its `changes` tells whether memory may have changed.
        site: the loop.
    """

    def __init__(self, batch: Batch, site: Site) -> None:
        self._batch = batch
        self._site = site
        self._next_look = FIRST_LOOK
        self._before: tuple[int, int, tuple[Any, ...]] | None = None

    def look(self, step: int, staying: Mask, variables: tuple[Any, ...]) -> None:
        """Take a picture at some iterations, and compare it with the one after.

        Args:
            step: how often the loop has tested its condition.
            staying: the lanes that run the body once more.
            variables: values of the variables that the loop assigns.

        Raises:
            DeadlockError: both are the same.
        """
        if step < self._next_look:
            return
        now = (staying.count, self._batch.changes, variables)
        if self._before is None:
            self._before = now
        elif now[:2] == self._before[:2] and _same(variables, self._before[2]):
            raise self._deadlock(staying)
        else:
            self._before = None
            self._next_look = 2 * step

    def _deadlock(self, staying: Mask) -> DeadlockError:
        line, count = self._site.line, staying.count
        row, threads, text = place_of(self._batch, staying.full())
        lanes = f"{count} lane{'s'[: count > 1]}"
        return DeadlockError(
            f"{lanes} waiting at line {line.line}, and nothing can change",
            where=f"{line}\n{text}",
            why="an iteration changes neither memory nor a variable, so what they wait "
            "for must\ncome from another block (that depends on co-residency), another "
            "warp, or a\nlane of the same warp that waits for these to leave the loop",
            fix="wait for other blocks with grid.sync(), for the block with "
            "syncthreads();\nlet one thread of a warp take the lock, and work inside "
            "the loop",
            kind="deadlock",
            lanes_at_fault=count,
            **place_facts(self._batch, line, row, threads),
        )


def warn_of_waiting(deadlock: DeadlockError) -> None:
    """Warn that a launch came to its end in one order and not in another.

    Args:
        deadlock: what it came to with all lanes at once.
    """
    warning = KernelWarning(
        f"threads of {deadlock.kernel} wait for other warps or blocks in a loop",
        where=deadlock.where,
        why="it ends when warps run one after another, and not with all at once; on\n"
        "hardware it depends on co-residency: those waited for must be running",
        fix="wait with grid.sync() or syncthreads(); a lock that one thread of each "
        "block\ntakes is safe, and runs faster with "
        'settings.override(schedule="warps")',
        **deadlock.facts,
    )
    warn_at(deadlock.source_line, warning)


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same to the last bit."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if not isinstance(one, (np.ndarray, np.generic)):
        return False
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    return bool(one.tobytes() == other.tobytes())
