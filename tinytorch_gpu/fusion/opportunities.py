"""Find what could be fused in a profile: `opportunities(prof)`.

It stands here and not in `profile`, because it needs to know how the op kernels lay
themselves over arrays, and those stand above the profiler.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.fusion.bill import Bill, bill_of
from tinytorch_gpu.fusion.copies import copy_bills, copy_runs
from tinytorch_gpu.fusion.flow import flow_of
from tinytorch_gpu.fusion.horizontal import recipes
from tinytorch_gpu.fusion.opportunity import (
    FusionOpportunities,
    Opportunity,
    Refusal,
)
from tinytorch_gpu.fusion.plan import source_line
from tinytorch_gpu.fusion.prediction import predicted_bill
from tinytorch_gpu.fusion.search import find_groups
from tinytorch_gpu.runtime import find_device

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.fusion.flow import Flow
    from tinytorch_gpu.fusion.recipe import Recipe
    from tinytorch_gpu.fusion.search import Refused
    from tinytorch_gpu.fusion.values import Step, Value
    from tinytorch_gpu.profiler import profile
    from tinytorch_gpu.trace import ArrayUse, CopyRecord

__all__ = ["opportunities"]

ACTIVATIONS = {"relu", "sigmoid", "tanh", "gelu", "maximum"}


def opportunities(prof: profile) -> FusionOpportunities:
    """Tell what could be fused in what a profile has seen, and what may not.

    Args:
        prof: a profile whose block is over; with `with_stack=True` it keeps the lines.

    Returns:
        Opportunities with their bills before and after, and refusals with the rule.

    Raises:
        UnsupportedError: the profile has not begun to listen.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu import cuda, profiler
        >>> x, b = (cuda.to_device(np.ones(s, np.float32)) for s in ((64, 100), 100))
        >>> with profiler.profile() as prof:
        ...     y = np.maximum(x + b, 0.0)
        >>> (one,) = opportunities(prof)
        >>> one.kind, one.ops, one.before.launches, one.after.launches
        ('bias + activation', ('add', 'maximum'), 2, 1)

    Limits: what a program reads after the block is not seen; an intermediate result
    that still is in memory when this is called counts as wanted. Ask at once.
    """
    records, spec = prof.events(), prof.gpu
    flow = flow_of(records)
    found = find_groups(flow)
    known: dict[Any, tuple[Bill, str]] = {}
    made = []
    for recipe in recipes(flow, found, [*_alive(flow), *_open(flow)]):
        form = recipe.form
        if form not in known:
            known[form] = predicted_bill(recipe, spec), recipe.text("fused")
        made.append(_opportunity(recipe, spec, *known[form]))
    made += [_copies(run, spec) for run in copy_runs(records)]
    ordered = sorted(_once(made), key=lambda one: -one.saved_ns)
    refused = _once(map(_refusal, found.refused))
    return FusionOpportunities(tuple(ordered), tuple(refused), spec.name)


def _alive(flow: Flow) -> list[Value]:
    """Return the values whose memory has not been freed."""
    return [value for value in flow.left if value.made_by and _is_alive(value.use)]


def _open(flow: Flow) -> list[Value]:
    """Return the values that a kernel may read of which nobody knows what it reads."""
    last = max(flow.opaque, default=-1)
    return [v for step in flow.steps if step.position < last for v in step.made]


def _is_alive(use: ArrayUse) -> bool:
    device = find_device(use.device)
    buffer = device.allocator.find(use.address) if device else None
    return buffer is not None and buffer.serial == use.serial


def _opportunity(
    recipe: Recipe, spec: GpuSpec, after: Bill, source: str
) -> Opportunity:
    steps = recipe.steps
    launches = [launch for step in steps for launch in step.launches]
    return Opportunity(
        _kind(recipe),
        tuple(step.op for step in steps),
        recipe.plans[0].group.shape,
        tuple(dict.fromkeys(line for s in steps if (line := source_line(s)))),
        _why(recipe),
        bill_of(launches, spec),
        after,
        source=source,
    )


def _kind(recipe: Recipe) -> str:
    if recipe.is_many:
        return "several arrays"
    if recipe.has_rows:
        return "row reduction"
    if not _is_chain(recipe):
        return "repeated reads"
    first, second, *_ = steps = recipe.steps
    ports = {port.value: port for port in recipe.reads}
    read = [ports[value] for value in first.every_read if value in ports]
    is_bias = first.op == "add" and any(0 in port.place.strides for port in read)
    if is_bias and second.op in ACTIVATIONS and len(steps) == 2:
        return "bias + activation"
    return "element-wise chain"


def _is_chain(recipe: Recipe) -> bool:
    """Tell whether values lead from any step to any other."""
    near: dict[Step, set[Step]] = defaultdict(set)
    for step in recipe.steps:
        for value in step.every_read:
            if value.made_by is not None:
                near[step].add(value.made_by)
                near[value.made_by].add(step)
    seen, stack = set(), [recipe.steps[0]]
    while stack:
        step = stack.pop()
        if step not in seen:
            seen.add(step)
            stack += near[step]
    return set(recipe.steps) <= seen


def _why(recipe: Recipe) -> str:
    """Tell why it is legal, in one sentence."""
    extra = len(recipe.writes) - len(recipe.plans)
    if recipe.is_many:
        told = f"the same ops on {len(recipe.plans)} arrays that do not read each other"
    elif recipe.has_rows:
        told = "reductions over the last axis, which one block does for its row"
    else:
        told = "element-wise ops on one shape; nothing else reads in between"
    if not extra:
        return told
    noun = "value is" if extra == 1 else "values are"
    return f"{told}; {extra} more {noun} stored, for {_readers(recipe)}"


def _readers(recipe: Recipe) -> str:
    """Name what needs the values that are stored beside the last one."""
    inside = set(recipe.steps)
    ports = [port for plan in recipe.plans for port in plan.writes[:-1]]
    readers = [r for port in ports for r, _ in port.value.readers if r not in inside]
    names = list(dict.fromkeys(reader.op for reader in readers))
    if any(port.value.host_reads for port in ports):
        names.append("the host")
    return ", ".join(names[:3]) or "the program, which may hold them"


def _copies(run: tuple[CopyRecord, ...], spec: GpuSpec) -> Opportunity:
    before, after = copy_bills(run, spec)
    sizes = ", ".join(f"{copy.bytes} B" for copy in run[:4])
    return Opportunity(
        "copies",
        tuple(f"copy {copy.direction}" for copy in run),
        (after.dram_bytes,),
        (),
        f"{len(run)} copies in one direction with nothing in between: {sizes}",
        before,
        after,
    )


def _refusal(refused: Refused) -> Refusal:
    pair = refused.maker, refused.reader
    lines = tuple(dict.fromkeys(line for s in pair if (line := source_line(s))))
    why = refused.reason
    return Refusal(why.kind, why.text, refused.maker.op, refused.reader.op, lines)


def _once(reports: Iterable[Any]) -> list[Any]:
    """Join equal reports, and count how often each was found."""
    times: dict[Any, int] = {}
    for report in reports:
        times[report] = times.get(report, 0) + 1
    return [replace(report, times=count) for report, count in times.items()]
