"""Make a `Program` of what a function did, or tell the rule that forbids it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.fusion.flow import Flow, flow_of
from tinytorch_gpu.fusion.horizontal import recipes
from tinytorch_gpu.fusion.members import role_of
from tinytorch_gpu.fusion.program import Program
from tinytorch_gpu.fusion.reasons import Reason
from tinytorch_gpu.fusion.search import find_groups

if TYPE_CHECKING:
    from collections.abc import Collection

    from tinytorch_gpu.fusion.seen import Seen
    from tinytorch_gpu.fusion.values import Value
    from tinytorch_gpu.trace import Record

__all__ = ["program_of"]


def program_of(
    name: str,
    seen: Seen,
    varied: Collection[int] = (),
    records: tuple[Record, ...] | None = None,
) -> Program | Reason:
    """Make one kernel of what a function did, or tell why not.

    Args:
        name: the kernel's.
        seen: the call.
        varied: numbers that are parameters, in order of the ops.
        records: of the ops when they ran; those of what waits if None.

    Returns:
        The program, or the rule that forbids it.
    """
    flow = flow_of(seen.labelled(records or seen.records, varied))
    if len(flow.steps) < 2:
        count = "1 launch" if flow.steps else "no launch of an op"
        return Reason("no rule", f"{count}: there is nothing to fuse")
    found = find_groups(flow)
    made = recipes(flow, found, _wanted(flow, seen), seen.name_of, is_all=True)
    if len(made) != 1 or set(made[0].steps) != set(flow.steps):
        refused = [r.reason for r in found.refused]
        return refused[0] if refused else _apart(flow)
    recipe = made[0]
    if recipe.has_clash:
        return Reason("no rule", "two of its numbers would have one name")
    if not all(plan.writes for plan in recipe.plans):
        return Reason("no rule", "nobody keeps what it computes: no use for a kernel")
    return Program(
        recipe,
        recipe.kernel(name),
        tuple(seen.index(port.use) for port in recipe.reads),
        tuple(seen.index(port.use) for port in recipe.writes),
    )


def _wanted(flow: Flow, seen: Seen) -> list[Value]:
    """Return what somebody holds in the end: results, and what was there before."""
    made = [v for v in flow.left if v.made_by is not None]
    parts = [v for step in flow.steps for v in step.made if v.is_kept]
    return [v for v in dict.fromkeys([*made, *parts]) if seen.is_wanted(v.use)]


def _apart(flow: Flow) -> Reason:
    for step in flow.steps:
        role = role_of(step)
        if isinstance(role, Reason):
            return role
    ops = ", ".join(dict.fromkeys(step.op for step in flow.steps))
    return Reason("no rule", f"not all of {ops} are of one chain")
