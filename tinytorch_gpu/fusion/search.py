"""Find groups: walk along the data flow, and join what may be one kernel.

Comes in: the flow of a program. Goes out: `Found`, the largest groups in the order of
the program, and for each join that was refused the reason. A step joins the groups that
made what it reads; if not all of them at once may become one, the last that may.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tinytorch_gpu.fusion.group import Group, objection, shape_of
from tinytorch_gpu.fusion.members import ELEMENT, ROW, is_candidate, role_of
from tinytorch_gpu.fusion.reasons import Reason

if TYPE_CHECKING:
    from tinytorch_gpu.fusion.flow import Flow
    from tinytorch_gpu.fusion.values import Step, Value

__all__ = ["Found", "Refused", "find_groups"]

MOST_STEPS = 64  # a kernel of more is read by nobody


@dataclass(frozen=True)
class Refused:
    """Two steps that stay apart though one reads what the other makes.

    Args:
        maker: the step that makes a value.
        reader: the step that reads it.
        reason: why they are not one kernel.
    """

    maker: Step
    reader: Step
    reason: Reason


@dataclass(frozen=True)
class Found:
    """What a search found.

    Args:
        groups: of two steps or more, in order.
        singles: steps in no group, in order.
        refused: joins that a rule forbids.
    """

    groups: tuple[Group, ...]
    singles: tuple[Step, ...]
    refused: tuple[Refused, ...]


def find_groups(flow: Flow) -> Found:
    """Find the largest groups of steps that may be one kernel each.

    Args:
        flow: the program.

    Returns:
        Groups, what is in none, and what was refused.
    """
    return _Search(flow).found()


class _Search:
    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._roles = {step: role_of(step) for step in flow.steps}
        self._group_of: dict[Step, Group] = {}
        self._refused: dict[tuple[Step, Step], Reason] = {}

    def found(self) -> Found:
        for step in self._flow.steps:
            self._place(step)
        for step in self._flow.steps:
            self._share(step)
        groups = tuple(dict.fromkeys(self._group_of.values()))
        made = tuple(g for g in groups if len(g.steps) > 1)
        inside = {step for group in made for step in group.steps}
        singles = tuple(s for s in self._flow.steps if s not in inside)
        refused = (Refused(*pair, why) for pair, why in self._refused.items())
        apart = (r for r in refused if not self._is_joined(r))
        return Found(
            tuple(sorted(made, key=lambda g: g.steps[0].position)),
            singles,
            tuple(apart),
        )

    def _is_joined(self, refused: Refused) -> bool:
        """Tell whether another way brought the two together after all."""
        group = self._group_of.get(refused.maker)
        return group is not None and refused.reader in group.steps

    def _place(self, step: Step) -> None:
        """Join a step to the groups whose values it reads, or begin a group."""
        makers = [v.made_by for v in step.every_read if v.made_by is not None]
        role = self._roles[step]
        if isinstance(role, Reason):
            self._refuse(makers, step, role)
            return
        alone = Group((step,), shape_of(step, role), (role,), _row_values(step, role))
        self._keep(alone)
        known = [m for m in makers if m in self._group_of]
        for maker in makers:
            other = self._roles[maker]
            if isinstance(other, Reason) and is_candidate(maker):
                self._refused.setdefault((maker, step), other)
        groups = list(dict.fromkeys(self._group_of[maker] for maker in known))
        if groups and self._join([*groups, alone]) is None:
            return
        for maker in reversed(known):
            pair = [self._group_of[maker], self._group_of[step]]
            if pair[0] is not pair[1]:
                why = self._join(pair)
                if why is not None:
                    self._refused.setdefault((maker, step), why)

    def _share(self, step: Step) -> None:
        """Join a step with an earlier one that reads the same array, if they may."""
        group = self._group_of.get(step)
        for value in step.every_read if group else ():
            for other, _ in value.readers:
                near = self._group_of.get(other)
                if near is None or other.position >= step.position:
                    continue
                group = self._group_of[step]
                if near is not group and _reads_alike(near, group, value):
                    self._join([near, group])

    def _join(self, groups: list[Group]) -> Reason | None:
        """Make several groups one, or tell why not."""
        made = _merged(groups)
        if isinstance(made, Reason):
            return made
        why = objection(self._flow, made)
        if why is None:
            self._keep(made)
        return why

    def _keep(self, group: Group) -> None:
        self._group_of |= dict.fromkeys(group.steps, group)

    def _refuse(self, makers: list[Step], step: Step, why: Reason) -> None:
        for maker in makers:
            if is_candidate(maker):
                self._refused.setdefault((maker, step), why)


def _row_values(step: Step, role: str) -> frozenset[Value]:
    return frozenset(step.made) if role == ROW else frozenset()


def _reads_alike(one: Group, other: Group, value: Value) -> bool:
    """Tell whether two groups on one shape read an outside value at equal places."""
    if one.shape != other.shape or value in one.made or value in other.made:
        return False
    places = [
        {
            group.place(step, use)
            for step in group.steps
            for read, use in zip(step.reads, step.record.operands, strict=True)
            if read is value
        }
        for group in (one, other)
    ]
    return bool(places[0] & places[1] - {None})


def _merged(groups: list[Group]) -> Group | Reason:
    """Put groups on one shape: that of which one has rows, or that of all."""
    roles = {s: r for g in groups for s, r in zip(g.steps, g.roles, strict=True)}
    steps = tuple(sorted(roles, key=lambda step: step.position))
    if len(steps) > MOST_STEPS:
        return Reason("shape", f"{len(steps)} ops are too many for one kernel")
    rows = frozenset().union(*(group.rows for group in groups))
    full = next((g.shape for g in groups if g.has_rows), groups[0].shape)
    group = Group(steps, full, tuple(roles[s] for s in steps), rows)
    for step in steps:
        found = _with_step(group, step)
        if isinstance(found, Reason):
            return found
        group = found
    return group


def _with_step(group: Group, step: Step) -> Group | Reason:
    """Tell whether a step fits the group's shape, or its rows."""
    role, result = group.role(step), step.made[0].use.shape
    if shape_of(step, role) == group.shape:
        if role == ELEMENT and step.made[0] in group.rows:
            return replace(group, rows=group.rows - set(step.made))
        return group
    inner = [v for v in step.every_read if v in group.made]
    is_row = role == ELEMENT and group.has_rows and all(v in group.rows for v in inner)
    if is_row and inner and result in _row_shapes(group.shape):
        return replace(group, rows=group.rows | set(step.made))
    return Reason(
        "shape",
        f"{step.op} walks over {shape_of(step, role)}, the ops before it over "
        f"{group.shape}",
    )


def _row_shapes(shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return (*shape[:-1], 1), shape[:-1]
