"""Recipes of a program: its groups, and equal ones side by side as one launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.fusion.group import Group, is_apart, objection, shape_of
from tinytorch_gpu.fusion.members import ELEMENT, role_of
from tinytorch_gpu.fusion.plan import plan_of
from tinytorch_gpu.fusion.recipe import Recipe, is_plain
from tinytorch_gpu.trace import ArrayUse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinytorch_gpu.fusion.flow import Flow
    from tinytorch_gpu.fusion.search import Found
    from tinytorch_gpu.fusion.values import Step, Value

__all__ = ["recipes"]

# 32,764 bytes of parameters from Volta and CUDA 12.1 on (CUDA C++ Programming Guide,
# "Function Parameters"); numba passes an array of one axis in 56.
MOST_ARRAYS = 32_764 // 56


def recipes(
    flow: Flow,
    found: Found,
    wanted: Iterable[Value] = (),
    name_of: Callable[[ArrayUse, str], str] | None = None,
    *,
    is_all: bool = False,
) -> list[Recipe]:
    """Return the kernels that a program could be, each of two launches or more.

    Args:
        flow: the program.
        found: its groups.
        wanted: values that somebody holds in the end.
        name_of: names a parameter by its array and what would be its name.
        is_all: nobody else needs a value.

    Returns:
        In the order of the program.
    """
    wanted = list(wanted)
    units = sorted([*found.groups, *_alone(found)], key=lambda g: g.steps[0].position)
    made = []
    for run in _runs(flow, units):
        names: set[str] = set()
        plans = [plan_of(group, wanted, name_of, names, is_all=is_all) for group in run]
        if len(plans) > 1 and not all(map(is_plain, plans)):
            alone = (plan_of(g, wanted, name_of, is_all=is_all) for g in run)
            made += [Recipe((plan,)) for plan in alone]
        else:
            made.append(Recipe(tuple(plans)))
    return [recipe for recipe in made if len(recipe.steps) > 1]


def _alone(found: Found) -> list[Group]:
    """Return groups of one step each, of the element-wise steps in no group."""
    singles = [step for step in found.singles if role_of(step) == ELEMENT]
    return [Group((s,), shape_of(s, ELEMENT), (ELEMENT,)) for s in singles]


def _runs(flow: Flow, units: list[Group]) -> list[list[Group]]:
    """Cut the units into runs of equal ones that may share a launch."""
    alike = {step: _signature(unit) for unit in units for step in unit.steps}
    runs: list[list[Group]] = []
    for unit in units:
        last = runs[-1] if runs else []
        if last and _may_share(flow, last, unit, alike):
            last.append(unit)
        else:
            runs.append([unit])
    return runs


def _may_share(
    flow: Flow, run: list[Group], unit: Group, alike: dict[Step, tuple[Any, ...]]
) -> bool:
    """Tell whether a unit does on other arrays what those before do, and apart."""
    if unit.has_rows or alike[unit.steps[0]] != alike[run[0].steps[0]]:
        return False
    arrays = sum(len(s.reads) + 1 for g in (*run, unit) for s in g.steps)
    if arrays > MOST_ARRAYS:  # counted with what stays in registers
        return False
    steps = [s for group in (*run, unit) for s in group.steps]
    made = {value for group in run for value in group.made}
    if any(value in made for step in unit.steps for value in step.every_read):
        return False
    if not all(is_apart(group, unit) for group in run):
        return False
    ordered = tuple(sorted(steps, key=lambda s: s.position))
    between = flow.between(ordered[0].position, ordered[-1].position)
    if any(alike.get(step) != alike[ordered[0]] for step in between):
        return False
    whole = Group(ordered, (), (ELEMENT,) * len(steps))
    return objection(flow, whole, apart=True) is None


def _signature(unit: Group) -> tuple[Any, ...]:
    """What a unit does, whatever its arrays are."""
    return tuple((step.op, _numbers(step), _named(step)) for step in unit.steps)


def _named(step: Step) -> tuple[tuple[str, Any], ...]:
    """Return the op's other parameters, without arrays."""
    plain = (int, float, str, type(None))
    return tuple((n, v) for n, v in step.record.parameters if isinstance(v, plain))


def _numbers(step: Step) -> tuple[Any, ...]:
    return tuple(
        None if value is not None or isinstance(o, ArrayUse) or o is None else float(o)
        for value, o in zip(step.reads, step.record.operands, strict=True)
    )
