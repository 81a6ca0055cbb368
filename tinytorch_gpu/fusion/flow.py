"""Data flow: who made the value that an op reads, from the records alone.

Comes in: the records of a profile. Goes out: `Flow`, its steps (ops that launched
something) in order, with a `Value` for each array that they read or write. A value is
what one op wrote at one place in memory; memory that is freed and given out again, or
overwritten, holds a new one. A copy to the host is a read, too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.fusion.rules import IN_PLACE, WRITE_ONLY
from tinytorch_gpu.fusion.values import Memory, Step, Value, uses_in
from tinytorch_gpu.trace import ArrayUse, CopyRecord, LaunchRecord, OpRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinytorch_gpu.trace import Record, Scope

__all__ = ["Flow", "flow_of"]

COPIED = -1  # serial of what a copy brought: its record tells no allocation


@dataclass(frozen=True)
class Flow:
    """The steps of a program and what stands between them.

    Args:
        steps: ops that launched something, in order.
        opaque: positions of launches that no op made: what they touch is not known.
        copies: copies between host and device with their positions.
        left: values that nothing had overwritten at the end.
    """

    steps: tuple[Step, ...]
    opaque: tuple[int, ...]
    copies: tuple[tuple[int, CopyRecord], ...]
    left: tuple[Value, ...] = ()

    def between(self, first: int, last: int) -> tuple[Step, ...]:
        """Return the steps whose positions lie from one to the other, both included."""
        begin = bisect_left(self.steps, first, key=_position)
        end = bisect_right(self.steps, last, key=_position)
        return self.steps[begin:end]

    def copies_between(self, first: int, last: int) -> tuple[CopyRecord, ...]:
        """Return the copies whose positions lie from one to the other."""
        begin = bisect_left(self.copies, first, key=_first)
        end = bisect_right(self.copies, last, key=_first)
        return tuple(copy for _, copy in self.copies[begin:end])


def _first(pair: tuple[int, CopyRecord]) -> int:
    return pair[0]


def _position(step: Step) -> int:
    return step.position


def flow_of(records: Iterable[Record]) -> Flow:
    """Follow the values through the records of a profile.

    Args:
        records: in the order in which they were made.

    Returns:
        Steps, values and what stands between.

    Limits: what is read after the profile ends is not seen. A result that nothing reads
    within it counts as wanted.
    """
    return _Follower(list(records)).flow()


class _Follower:
    """Goes through the records once."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records
        self._memory = Memory()
        self._launches: dict[Scope, list[LaunchRecord]] = {}
        self._steps: list[Step] = []
        self._opaque: list[int] = []
        self._copies: list[tuple[int, CopyRecord]] = []
        self._seen: list[Value] = []

    def flow(self) -> Flow:
        outer = self._outermost()
        for position, record in enumerate(self._records):
            if isinstance(record, LaunchRecord):
                self._launch(position, record, outer)
            elif isinstance(record, OpRecord) and record.scope in outer:
                self._op(position, record)
            elif isinstance(record, CopyRecord):
                self._copy(position, record)
        left = self._memory.values()
        return Flow(tuple(self._steps), tuple(self._opaque), tuple(self._copies), left)

    def _outermost(self) -> set[Scope]:
        """Return the ops that a kernel's function serves, not those inside of one."""
        ops = [r for r in self._records if isinstance(r, OpRecord)]
        served = {r.scope for r in ops if _is_served(r) and r.scope}
        return {s for s in served if not any(o in served for o in list(s.chain())[1:])}

    def _launch(self, position: int, record: LaunchRecord, outer: set[Scope]) -> None:
        chain = record.scope.chain() if record.scope else ()
        owner = next((scope for scope in chain if scope in outer), None)
        if owner is None:
            self._opaque.append(position)
        else:
            self._launches.setdefault(owner, []).append(record)

    def _op(self, position: int, record: OpRecord) -> None:
        launches = self._launches.pop(record.scope, []) if record.scope else []
        step = Step(position, record, tuple(launches))
        if not launches:  # a view: the values stay where they are
            return
        self._seen = []
        unread = WRITE_ONLY.get(step.op)
        step.reads = tuple(
            self._read(step, operand) if number != unread else None
            for number, operand in enumerate(record.operands)
        )
        for name, value in record.parameters:
            if name != "out":
                self._read(step, value)
        written = _written(step)
        step.over = tuple(
            v for u in written for v in self._memory.find(u) if v.use.serial == u.serial
        )
        step.made = tuple(Value(use, step) for use in written)
        step.every_read = tuple(dict.fromkeys(self._seen))
        for value in step.made:
            self._memory.put(value)
        self._steps.append(step)

    def _read(self, step: Step, operand: Any) -> Value | None:
        found = None
        for use in uses_in(operand):
            values = [v for v in self._memory.find(use) if _is_same(v, use)]
            if not values:
                values = [Value(use)]
                self._memory.put(values[0])
            for value in values:
                value.readers.append((step, use))
            self._seen += values
            found = values[0]
        return found if isinstance(operand, ArrayUse) else None

    def _copy(self, position: int, record: CopyRecord) -> None:
        self._copies.append((position, record))
        if not record.address:
            return
        use = ArrayUse(record.address, (record.bytes,), (1,), "bool", serial=COPIED)
        if record.direction == "h2d":
            self._memory.put(Value(use))
        for value in self._memory.find(use) if record.direction == "d2h" else ():
            value.host_reads.append(position)


def _is_same(value: Value, use: ArrayUse) -> bool:
    """Tell whether an array is of the allocation that a value was put into."""
    return value.use.serial in (use.serial, COPIED)


def _is_served(record: OpRecord) -> bool:
    """Tell whether a function of ours or the learner's served the op as a whole."""
    return record.key in ("SimGPU", "CPU") or record.op.startswith("fused::")


def _written(step: Step) -> list[ArrayUse]:
    """Return the arrays that a step wrote: results, `out`, operands in place."""
    operands = step.record.operands
    changed = [operands[i] for i in IN_PLACE.get(step.op, ()) if i < len(operands)]
    every = [*step.record.results, *uses_in((step.parameter("out"), *changed))]
    return list(dict.fromkeys(every))
