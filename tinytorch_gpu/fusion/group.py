"""`Group`: steps that could be one kernel, and the rules that say whether they may.

A group is a set of element-wise steps and row reductions on one shape. It may be one
kernel if that kernel can run where its last step stood: nobody outside needs one of its
values earlier, and nothing that it reads has changed by then.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from tinytorch_gpu.fusion.members import ROW
from tinytorch_gpu.fusion.reasons import Reason
from tinytorch_gpu.fusion.space import Place, overlap, placed
from tinytorch_gpu.fusion.values import extent
from tinytorch_gpu.trace import ArrayUse

if TYPE_CHECKING:
    from tinytorch_gpu.fusion.flow import Flow
    from tinytorch_gpu.fusion.values import Step, Value
    from tinytorch_gpu.trace import CopyRecord

__all__ = ["Group", "Shape", "is_apart", "objection", "shape_of"]

Shape = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Group:
    """Steps in order, on one shape.

    Args:
        steps: in the order of the program.
        shape: of the elements that the kernel walks over.
        roles: of each step.
        rows: values of which there is one for each row.
    """

    steps: tuple[Step, ...]
    shape: Shape
    roles: tuple[str, ...]
    rows: frozenset[Value] = frozenset()

    @property
    def has_rows(self) -> bool:
        """Tell whether one block has to work on a whole row."""
        return ROW in self.roles

    def role(self, step: Step) -> str:
        """Return what a step is in the group."""
        return self.roles[self.steps.index(step)]

    @property
    def made(self) -> dict[Value, Step]:
        """The values that the group makes, with their steps."""
        return {value: step for step in self.steps for value in step.made}

    def place(self, step: Step, use: ArrayUse) -> Place | None:
        """Place an array as a step uses it on the group's shape."""
        is_row = step.made[0] in self.rows and self.role(step) != ROW
        return placed(use, self.shape, step.made[0].use.shape if is_row else None)

    def written(self, value: Value) -> Place:
        """Place a value that the group makes on its shape."""
        result = value.use.shape if value in self.rows else None
        place = placed(value.use, self.shape, result)
        if place is None:  # its step would not have been let in
            raise AssertionError(value.use)
        return place


def shape_of(step: Step, role: str) -> Shape:
    """Return the shape that a step walks over: its result's, or what it reduces."""
    if role == ROW:
        return next(o for o in step.record.operands if isinstance(o, ArrayUse)).shape
    return step.made[0].use.shape


def objection(flow: Flow, group: Group, *, apart: bool = False) -> Reason | None:
    """Tell why a group may not be one kernel, or return None.

    Args:
        flow: the program that it is of.
        group: the group, two steps or more.
        apart: its steps have nothing to do with each other, and shapes of their own.

    Returns:
        The first rule that it breaks.
    """
    places = () if apart else (_layouts, _aliases, _rows)
    checks = (_scope, _streams, *places, _writes, _between, _copies, _outsiders)
    return next((why for check in checks if (why := check(flow, group))), None)


def _scope(_flow: Flow, group: Group) -> Reason | None:
    """Keep the steps of an optimizer together, and apart from the rest."""
    names = {_optimizer(step) for step in group.steps}
    if len(names) == 1:
        return None
    return Reason("consumer", "an optimizer's step begins or ends in between")


def _optimizer(step: Step) -> object:
    chain = step.record.scope.chain() if step.record.scope else ()
    return next((s for s in chain if s.is_op and s.name.endswith("_step")), None)


def _streams(_flow: Flow, group: Group) -> Reason | None:
    """All launches are in one stream."""
    streams = {launch.stream for step in group.steps for launch in step.launches}
    if len(streams) == 1:
        return None
    told = " and ".join(map(str, sorted(streams)))
    return Reason("stream", f"they run in the streams {told}, each at its own time")


def _layouts(_flow: Flow, group: Group) -> Reason | None:
    """Every value of the group is read as it was written."""
    written = {
        value: group.written(value) for step in group.steps for value in step.made
    }
    for step in group.steps:
        for value, use in zip(step.reads, step.record.operands, strict=True):
            if value is None:
                continue
            place = group.place(step, use)
            if place is None or (value in written and place != written[value]):
                return Reason(
                    "shape",
                    f"{step.op} reads {value.use.shape} as {use.shape} with other "
                    f"strides, on the shape {group.shape}",
                )
    return None


def _rows(_flow: Flow, group: Group) -> Reason | None:
    """The rows of every array follow one another, so that blocks can be counted."""
    if not group.has_rows:
        return None
    for step in group.steps:
        reads = zip(step.reads, step.record.operands, strict=True)
        places = [(u, group.place(step, u)) for v, u in reads if v is not None]
        places += [(value.use, group.written(value)) for value in step.made]
        for use, place in places:
            if place is not None and not _are_even(group.shape, place.strides):
                why = f"the rows of {use.shape} with strides {use.strides} do not lie"
                return Reason("shape", f"{why} at even distances")
    return None


def _are_even(shape: Shape, strides: Shape) -> bool:
    """Tell whether all axes but the last merge into one."""
    axes = [(n, s) for n, s in zip(shape[:-1], strides[:-1], strict=True) if n > 1]
    return all(outer == n * inner for (_, outer), (n, inner) in pairwise(axes))


def _aliases(_flow: Flow, group: Group) -> Reason | None:
    """What is written in place lies on no input in another layout."""
    places = [
        (step, group.place(step, use))
        for step in group.steps
        for value, use in zip(step.reads, step.record.operands, strict=True)
        if value is not None
    ]
    for step in group.steps:
        target = group.written(step.made[0]) if step.is_in_place else None
        for reader, place in places:
            if not place or not target or place == target:
                continue
            if overlap(place, target, group.shape):
                return Reason(
                    "alias",
                    f"{step.op} writes in place on memory that {reader.op} reads in "
                    "another layout: some threads would read what others have written",
                )
    return None


def _writes(_flow: Flow, group: Group) -> Reason | None:
    """No two steps write the same memory at different places, or apart from a read."""
    made = [(step, value.use) for value, step in group.made.items()]
    for (one, use), (other, again) in combinations(made, 2):
        if use != again and _meet(use, again):
            text = f"{one.op} and {other.op} write the same memory in other layouts"
            return Reason("alias", text)
    return None


def _meet(one: ArrayUse, other: ArrayUse) -> bool:
    """Tell whether two arrays of one allocation may share bytes."""
    (low, high), (begin, end) = extent(one), extent(other)
    return one.serial == other.serial and low < end and begin < high


def is_apart(one: Group, other: Group) -> bool:
    """Tell whether neither of two groups writes where the other reads or writes.

    Args:
        one: a group.
        other: another one.
    """
    for group, beside in ((one, other), (other, one)):
        touched = [use for step in beside.steps for use in _touched(step)]
        written = [value.use for value in group.made]
        if any(_meet(use, there) for use in written for there in touched):
            return False
    return True


def _touched(step: Step) -> list[ArrayUse]:
    operands = [o for o in step.record.operands if isinstance(o, ArrayUse)]
    return operands + [value.use for value in step.made]


def _between(flow: Flow, group: Group) -> Reason | None:
    """Nothing of which nobody knows what it reads runs in between."""
    first, last = group.steps[0].position, group.steps[-1].position
    at = bisect_left(flow.opaque, first)
    if at < len(flow.opaque) and flow.opaque[at] < last:
        return Reason("unknown launch", "a kernel that no op launched runs in between")
    return None


def _copies(flow: Flow, group: Group) -> Reason | None:
    """The host reads nothing in between, and writes nothing that the group reads."""
    first, last = group.steps[0].position, group.steps[-1].position
    for copy in flow.copies_between(first, last):
        if copy.direction == "d2h":
            return Reason(
                "host read",
                f"{copy.reason} copies {copy.bytes} B to the host in between, which "
                "may decide by them what comes next",
            )
        if copy.address and any(
            _is_under(copy, use) for step in group.steps for use in _touched(step)
        ):
            text = f"{copy.reason} copies {copy.bytes} B over an array of the group"
            return Reason("alias", f"{text} before it has ended")
    return None


def _is_under(copy: CopyRecord, use: ArrayUse) -> bool:
    low, high = extent(use)
    return low < copy.address + copy.bytes and copy.address < high


def _outsiders(flow: Flow, group: Group) -> Reason | None:
    """No step outside makes, from a value of the group, what the group needs."""
    inside, made = set(group.steps), group.made
    first, last = group.steps[0].position, group.steps[-1].position
    depends: dict[Value, Step] = {}
    lost = {value: step for step in group.steps for value in step.over}
    for step in flow.between(first, last):
        if step in inside:
            blame = next((depends[v] for v in step.reads if v in depends), None)
            if blame:
                return Reason(
                    "consumer",
                    f"{blame.op} needs a value of the group, and {step.op} needs what "
                    f"{blame.op} makes of it",
                )
            continue
        late = next((lost[v] for v in step.every_read if v in made and v in lost), None)
        if late is not None:
            return Reason(
                "consumer", f"{step.op} reads a value that {late.op} overwrites"
            )
        source = next((v for v in step.every_read if v in made or v in depends), None)
        if source is not None:
            depends |= dict.fromkeys(step.made, depends.get(source, step))
        changed = _changed(group, step, inside)
        if changed:
            return changed
    return None


def _changed(group: Group, step: Step, inside: set[Step]) -> Reason | None:
    """Find an input of the group that a step outside overwrites before the end."""
    if not step.is_in_place:
        return None
    for value in step.over:
        early = [r for r, _ in value.readers if r in inside]
        if any(reader.position < step.position for reader in early):
            return Reason(
                "alias",
                f"{step.op} overwrites what the group reads before the group has ended",
            )
        if value in group.made:
            return Reason(
                "consumer", f"{step.op} overwrites a value that the group makes"
            )
    return None
