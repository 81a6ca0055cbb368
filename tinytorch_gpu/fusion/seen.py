"""`Seen`: what a function did in one call, while its launches wait.

Comes in: ops that are held back. Goes out: their form, which tells whether a kernel
that is known does the same, and the arrays and numbers of this call.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.fusion.arguments import Leaf, lies_in
from tinytorch_gpu.fusion.expansions import EXPANSIONS
from tinytorch_gpu.fusion.names import free_name
from tinytorch_gpu.fusion.scalars import labelled
from tinytorch_gpu.fusion.values import uses_in
from tinytorch_gpu.memory import ALIGNMENT, DeviceArray
from tinytorch_gpu.trace import ArrayUse, LaunchRecord, OpRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from tinytorch_gpu.runtime.held import Held
    from tinytorch_gpu.trace import Record

__all__ = ["Seen"]


class Seen:
    """One call of a function, whose launches wait.

    Args:
        held: what waits.
        given: leaves of the call's arguments, after which parameters are named.
    """

    def __init__(self, held: Held, given: tuple[Leaf, ...]) -> None:
        self._held, self._given = held, given
        self.records: tuple[Record, ...] = held.records
        pairs = [pair for op in held.ops for pair in _pairs(op.record, op.arrays)]
        self._parts: list[Any] = [part for _, part in pairs]
        self._index: dict[ArrayUse, int] = {}
        for number, (use, _) in enumerate(pairs):
            self._index.setdefault(use, number)
        self.numbers = tuple(self._numbers())
        self.form = self._form()

    def index(self, use: ArrayUse) -> int:
        """Return the number of an array that an op named.

        Args:
            use: of a record.
        """
        return self._index[use]

    def array(self, index: int) -> DeviceArray:
        """Return an array of this call.

        Args:
            index: its number in this call, or in another one of the same form.
        """
        return self._held.array(self._parts[index])

    def before(self) -> list[DeviceArray]:
        """Return the arrays whose memory was there before the call."""
        return [part for part in self._parts if isinstance(part, DeviceArray)]

    def is_wanted(self, use: ArrayUse) -> bool:
        """Tell whether anybody holds the memory of an array, or held it before."""
        part = self._parts[self._index[use]]
        return isinstance(part, DeviceArray) or part.is_alive

    def run(self) -> None:
        """Run what waits, op by op."""
        self._held.run()

    def name_of(self, use: ArrayUse, name: str) -> str:
        """Name a kernel's parameter after the argument that it comes from.

        Args:
            use: the array.
            name: what it is called if it is no argument.
        """
        for leaf in self._given:
            if leaf.array is not None and lies_in(use, leaf.array):
                return leaf.name
        return name

    def labelled(
        self, records: tuple[Record, ...], varied: Collection[int]
    ) -> tuple[Record, ...]:
        """Give names to numbers, so that they become parameters of the kernel.

        Args:
            records: of this call.
            varied: which numbers, in order; floats of the arguments are named anyway.
        """
        turn = iter(range(len(self.numbers)))
        floats = self._names_of_floats()
        names: dict[str, str] = {}  # of other numbers than arguments; -0.0 is not 0.0

        def with_label(value: Any) -> Any:
            is_varied = next(turn) in varied
            if id(value) in floats:
                return labelled(floats[id(value)], value)
            if not is_varied:
                return value
            taken = {*floats.values(), *names.values()}
            name = free_name(f"number{len(names) + 1}", taken)
            return labelled(names.setdefault(repr(value), name), value)

        ops = (r for r in records if isinstance(r, OpRecord))
        changed = {id(r): _with_numbers(r, with_label) for r in ops}
        return tuple(changed.get(id(record), record) for record in records)

    def _names_of_floats(self) -> dict[int, str]:
        """Return a name for each float among the arguments, by identity."""
        found: dict[int, str] = {}
        for leaf in self._given:
            if isinstance(leaf.value, float) and id(leaf.value) not in found:
                found[id(leaf.value)] = free_name(leaf.name, found.values())
        return found

    def _numbers(self) -> Iterator[Any]:
        for op in self._held.ops:
            yield from _numbers(op.record)

    def _form(self) -> tuple[Any, ...]:
        canon: dict[int, int] = {}
        told: list[Any] = []
        for record in self.records:
            if isinstance(record, LaunchRecord):
                told.append(record.stream)
            elif isinstance(record, OpRecord):
                told.append(self._form_of(record, canon))
        return tuple(told)

    def _form_of(self, record: OpRecord, canon: dict[int, int]) -> tuple[Any, ...]:
        def formed(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(formed, value))
            if isinstance(value, ArrayUse):
                return self._layout(value, canon)
            return "number" if _is_number(value) else (type(value), repr(value))

        is_spelled = _name(record) in EXPANSIONS
        plain = [
            (name, formed(v) if is_spelled or _has_array(v) else (type(v), repr(v)))
            for name, v in record.parameters
        ]
        scopes = record.scope.chain() if record.scope else ()
        return (
            record.op,
            record.key,
            record.implementation,
            record.origin,
            tuple(scope.name for scope in scopes),
            tuple(map(formed, record.operands)),
            tuple(plain),
            tuple(map(formed, record.results)),
        )

    def _layout(self, use: ArrayUse, canon: dict[int, int]) -> tuple[Any, ...]:
        part = self._parts[self._index[use]]
        if isinstance(part, DeviceArray):
            offset, state = part.address - part.buffer.address, self.name_of(use, "")
        else:
            offset, state = part.offset, str(part.is_alive)
        number = canon.setdefault(use.serial, len(canon))
        start = use.address - offset
        layout = use.shape, use.strides, use.dtype, use.device, start % ALIGNMENT
        return number, offset, state, *layout


def _pairs(
    record: OpRecord, arrays: tuple[Any, ...]
) -> list[tuple[ArrayUse, DeviceArray | Any]]:
    values = [value for _, value in record.parameters]
    uses = uses_in((record.operands, tuple(values), record.results))
    return list(zip(uses, arrays, strict=True))


def _has_array(value: Any) -> bool:
    return bool(uses_in(value))


def _is_number(value: Any) -> bool:
    kinds = (int, float, np.floating, np.integer)
    return isinstance(value, kinds) and not isinstance(value, (bool, np.bool_))


def _name(record: OpRecord) -> str:
    return record.op.rpartition("::")[2]


def _numbers(record: OpRecord) -> Iterator[Any]:
    parameters = record.parameters if _name(record) in EXPANSIONS else ()
    for value in (*record.operands, *(value for _, value in parameters)):
        if _is_number(value):
            yield value


def _with_numbers(record: OpRecord, change: Callable[[Any], Any]) -> OpRecord:
    """Return a record with its operands' numbers changed, in order."""

    def changed(value: Any) -> Any:
        return change(value) if _is_number(value) else value

    operands = tuple(map(changed, record.operands))
    if _name(record) not in EXPANSIONS:
        return replace(record, operands=operands)
    parameters = tuple((name, changed(value)) for name, value in record.parameters)
    return replace(record, operands=operands, parameters=parameters)
