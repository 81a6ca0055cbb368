"""Records added up by op: who gets the time of each launch, copy and wait.

*Self* goes to one row only: the innermost op or range that was open. *Total* goes to
every op and range that was open, to each row once however often it is nested in itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.op_row import Tally
from tinytorch_gpu.trace import (
    CopyRecord,
    LaunchRecord,
    OpRecord,
    RangeRecord,
    SynchronizeRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tinytorch_gpu.profiler.host_time import Work
    from tinytorch_gpu.trace import Record, Scope

    Shapes = tuple[tuple[int, ...], ...]

__all__ = ["tallies_of"]


def tallies_of(
    records: Sequence[Record], *, group_by_input_shape: bool = False
) -> list[Tally]:
    """Add records up by op.

    Args:
        records: what the timeline told, in order.
        group_by_input_shape: a tally for each list of shapes of an op.

    Returns:
        One tally for each op, range, and kind of work outside all of them, in order of
        first use.

    Example:
        >>> wait = CopyRecord("h2d", 1000, "lesson", "", False, 0.0, 2000.0, 2000.0)
        >>> [tally.op for tally in tallies_of([wait])]
        ['(copy h2d)']
    """
    averaging = _Averaging(_shapes(records) if group_by_input_shape else None)
    for record in records:
        averaging.add(record)
    averaging.count_open()
    return list(averaging.tallies.values())


def _shapes(records: Iterable[Record]) -> dict[Scope, Shapes]:
    """Shapes of each run of an op; an op tells them when it ends, after its work."""
    ops = (r for r in records if isinstance(r, OpRecord))
    return {op.scope: op.shapes for op in ops if op.scope}


class _Averaging:
    """Finds the rows of each record."""

    def __init__(self, shapes: dict[Scope, Shapes] | None) -> None:
        self.shapes = shapes
        self.tallies: dict[object, Tally] = {}
        # Ops and ranges that did something; those that end later tell of no call.
        self.seen: dict[Scope, None] = {}
        self.ended: set[Scope | None] = set()

    def add(self, record: Record) -> None:
        if isinstance(record, OpRecord):
            self._add_op(record)
        elif isinstance(record, RangeRecord):
            self._tally(record.name, is_range=True).calls += 1
            self.ended.add(record.scope)
        else:
            own = self._own(record)
            own.add(record)
            for tally in self._around(record) or (own,):
                tally.add_total(record)

    def _add_op(self, record: OpRecord) -> None:
        shapes = record.shapes if self.shapes is not None else ()
        self._tally(record.op, shapes).add_op(record)
        self.ended.add(record.scope)
        if record.parent:
            parent = record.scope and record.scope.parent
            tally = self._of(parent) if parent else self._tally(record.parent)
            tally.children[record.op] = None

    def _own(self, record: Work) -> Tally:
        if record.scope:
            return self._of(record.scope)
        return self._tally(record.op) if record.op else self._without_op(record)

    def _around(self, record: Work) -> list[Tally]:
        """The different rows of all that was open."""
        scopes = record.scope.chain() if record.scope else ()
        return list({id(tally): tally for tally in map(self._of, scopes)}.values())

    def count_open(self) -> None:
        """Count the calls that go on when the records end."""
        for scope in self.seen:
            self._of(scope).calls += scope not in self.ended

    def _of(self, scope: Scope) -> Tally:
        self.seen[scope] = None
        shapes = self.shapes.get(scope, ()) if self.shapes else ()
        return self._tally(scope.name, shapes, is_range=not scope.is_op)

    def _tally(
        self, name: str, shapes: Shapes = (), *, is_range: bool = False
    ) -> Tally:
        key = name, shapes, is_range
        if key not in self.tallies:
            self.tallies[key] = Tally(name, shapes, is_range=is_range)
        return self.tallies[key]

    def _without_op(self, record: Work) -> Tally:
        """One for each kernel, copy direction or other host work; one for waits."""
        key: object
        if isinstance(record, LaunchRecord):
            key, name = record.kernel, f"(kernel {record.kernel.name})"
        elif isinstance(record, CopyRecord):
            key = name = f"(copy {record.direction})"
        elif isinstance(record, SynchronizeRecord):
            key = name = "(synchronize)"
        else:
            key = name = f"(host {record.reason})"
        return self.tallies.setdefault(key, Tally(name, is_scope=False))
