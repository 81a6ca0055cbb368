"""`Plan`: the one kernel that a group becomes, with what it reads and what it stores.

A value is stored if something outside the group needs it: another op, the host, an
array that is changed in place, or nobody that the records know of, which is how a
result looks. All others stay in registers.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.fusion.expansions import EXPANSIONS, PARAMETERS
from tinytorch_gpu.fusion.graph import FULL, ROW, Graph, GraphBuilder
from tinytorch_gpu.fusion.members import rule_of
from tinytorch_gpu.fusion.names import free_name
from tinytorch_gpu.fusion.rules import NUMBER_LAST, REDUCTIONS, WRITE_ONLY
from tinytorch_gpu.fusion.scalars import Labelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinytorch_gpu.fusion.group import Group
    from tinytorch_gpu.fusion.space import Place
    from tinytorch_gpu.fusion.values import Step, Value
    from tinytorch_gpu.trace import ArrayUse

__all__ = ["Plan", "Port", "plan_of", "source_line"]


@dataclass(frozen=True, eq=False)
class Port:
    """An array at the edge of a fused kernel.

    Args:
        name: of the kernel's parameter.
        use: the array as the program had it.
        place: where its elements are for each place of the shape.
        level: one element for each place, or one for each row.
        value: what it holds.
    """

    name: str
    use: ArrayUse
    place: Place
    level: str
    value: Value


@dataclass(frozen=True, eq=False)
class Plan:
    """A group as one kernel.

    Args:
        group: the steps.
        graph: what is computed.
        reads: the arrays that it loads.
        writes: the arrays that it stores, the main one last.
        made_by: which step each node is of.
    """

    group: Group
    graph: Graph
    reads: tuple[Port, ...]
    writes: tuple[Port, ...]
    made_by: dict[int, Step]


def _kept_values(
    group: Group, wanted: Iterable[Value] = (), *, is_all: bool = False
) -> list[Value]:
    """Return the values that the kernel has to store, in order.

    Args:
        group: the steps.
        wanted: values that somebody holds in the end.
        is_all: nothing else is needed but what other steps read; else what nobody is
            known to read is taken for needed.
    """
    inside, must = set(group.steps), set(wanted)
    if is_all:
        read = {v for v in group.made if {step for step, _ in v.readers} - inside}
        return [v for v in group.made if v in must or v in read]
    return [v for v in group.made if v in must or _is_needed(v, group, inside)]


def _is_needed(value: Value, group: Group, inside: set[Step]) -> bool:
    maker = value.made_by
    is_over = any(value in step.over for step in group.steps) and not value.is_kept
    if maker is not None and maker.is_in_place and not is_over:
        return True
    if is_over:
        return False
    readers = [reader for reader, _ in value.readers]
    outside = any(reader not in inside for reader in readers)
    return outside or not readers or bool(value.host_reads) or value.is_kept


def plan_of(
    group: Group,
    wanted: Iterable[Value] = (),
    name_of: Callable[[ArrayUse, str], str] | None = None,
    taken: set[str] | None = None,
    *,
    is_all: bool = False,
) -> Plan:
    """Plan the kernel of a group.

    Args:
        group: steps that may be one kernel.
        wanted: values that somebody holds in the end.
        name_of: names a parameter by its array and what would be its name.
        taken: names that other parameters of the kernel have; those of the plan are
            added.
        is_all: nobody else needs a value.

    Returns:
        The plan.
    """
    naming = name_of or (lambda _use, name: name)
    names = set() if taken is None else taken
    return _Planner(group, naming, names).plan(
        _kept_values(group, wanted, is_all=is_all)
    )


def _needed(group: Group, stored: list[Value]) -> list[Step]:
    """Return the steps that some values are made by, in order."""
    wanted, found = set(stored), []
    for step in reversed(group.steps):
        if wanted & set(step.made):
            wanted |= {value for value in step.reads if value is not None}
            found.append(step)
    return found[::-1]


class _Planner:
    def __init__(
        self, group: Group, name_of: Callable[[ArrayUse, str], str], taken: set[str]
    ) -> None:
        self._group, self._name_of, self._names = group, name_of, taken
        operands = (o for step in group.steps for o in step.record.operands)
        self._names |= {o.label for o in operands if isinstance(o, Labelled)}
        self._build = GraphBuilder()
        self._node_of: dict[Value, int] = {}
        self._reads: dict[tuple[Value, Place], Port] = {}
        self._made_by: dict[int, Step] = {}

    def plan(self, stored: list[Value]) -> Plan:
        for step in _needed(self._group, stored):
            nodes = self._expanded(step) or dict.fromkeys(step.made, self._node(step))
            self._node_of |= nodes
            self._made_by.setdefault(nodes[step.made[0]], step)
        kept = sorted(stored, key=self._is_full)
        writes = tuple(self._write(value, i, len(kept)) for i, value in enumerate(kept))
        graph = self._build.graph(
            [self._node_of[value] for value in kept],
            [port.name for port in self._reads.values()],
            [port.name for port in writes],
        )
        reads = tuple(self._reads.values())
        return Plan(self._group, graph, reads, writes, self._made_by)

    def _is_full(self, value: Value) -> bool:
        return value not in self._group.rows

    def _expanded(self, step: Step) -> dict[Value, int]:
        """Write an op that is several lines; {} for all others."""
        if step.op not in EXPANSIONS:
            return {}
        names = PARAMETERS[step.op]
        given: dict[str, Any] = {**names, **dict(step.record.parameters)}
        reads = zip(names, step.reads, step.record.operands, strict=False)
        for name, value, operand in reads:
            is_array = value is not None
            given[name] = self._operand(step, value, operand) if is_array else operand
        nodes = EXPANSIONS[step.op](self._build, given)
        places = {list(names).index(name): node for name, node in nodes.items()}
        return {
            value: node
            for value in step.made
            for at, node in places.items()
            if step.record.operands[at] == value.use
        }

    def _node(self, step: Step) -> int:
        unread = WRITE_ONLY.get(step.op)
        operands = zip(step.reads, step.record.operands, strict=True)
        args = [
            self._operand(step, value, given)
            for number, (value, given) in enumerate(operands)
            if number != unread
        ]
        if step.op in NUMBER_LAST and step.reads[0] is None:
            args.reverse()
        comment = source_line(step)
        if step.op in REDUCTIONS:
            return self._build.reduce(step.op, args[0], comment)
        is_bool = step.made[0].use.dtype == "bool"
        rule = rule_of(step) or step.op
        return self._build.apply(rule, *args, is_bool=is_bool, comment=comment)

    def _operand(self, step: Step, value: Value | None, given: Any) -> int:
        if value is None:
            return self._build.number(given)
        if value in self._node_of:
            return self._node_of[value]
        place = self._group.place(step, given)
        if place is None:  # the group would not have been made
            raise AssertionError(step.op)
        if (value, place) not in self._reads:
            name = self._free(self._name_of(given, f"x{len(self._reads)}"))
            is_row = self._group.has_rows and place.is_row
            level = ROW if is_row else FULL
            self._reads[value, place] = Port(name, given, place, level, value)
        port = self._reads[value, place]
        return self._build.read(port.name, port.level, is_bool=given.dtype == "bool")

    def _write(self, value: Value, i: int, count: int) -> Port:
        place = self._group.written(value)
        name = "out" if i == count - 1 else f"out{i + 1}"
        level = FULL if self._is_full(value) else ROW
        return Port(self._free(name), value.use, place, level, value)

    def _free(self, name: str) -> str:
        """Return a parameter's name that no other has."""
        name = free_name(name, self._names)
        self._names.add(name)
        return name


def source_line(step: Step) -> str:
    """Return the user's line that a step comes from, if the profile kept it."""
    if step.origin is None:
        return ""
    file, line = step.origin
    text = linecache.getline(file, line).strip()
    return f"{Path(file).name}:{line}  {text}" if text else f"{Path(file).name}:{line}"
