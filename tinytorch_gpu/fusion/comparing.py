"""Run a function both ways, and put the bills side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu import profiler
from tinytorch_gpu.fusion.arguments import snapshot
from tinytorch_gpu.fusion.bill import bill_of
from tinytorch_gpu.fusion.comparison import FusionComparison
from tinytorch_gpu.fusion.forms import arrays_of, gap_between, values_of
from tinytorch_gpu.fusion.making import program_of
from tinytorch_gpu.fusion.prediction import predicted_bill
from tinytorch_gpu.fusion.reasons import Reason
from tinytorch_gpu.fusion.recording import given_leaves, record
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.trace import LaunchRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import BoundArguments

    from tinytorch_gpu.fusion.program import Program

__all__ = ["compared"]


def compared(
    name: str,
    function: Callable[..., Any],
    bound: BoundArguments,
    known: Program | Reason | None = None,
) -> FusionComparison:
    """Run a function op by op and as one kernel, on the current device.

    Args:
        name: of the function.
        function: what may be fused.
        bound: its arguments; arrays that it changes in place are put back.
        known: the kernel that a call would run, if there is one already.

    Returns:
        The bills before, as predicted, and after.
    """
    spec = current_device().spec
    given = given_leaves(bound)
    arrays = arrays_of(given)
    restore = snapshot(arrays)
    run = record(function, bound)
    wanted = values_of(run.result) + values_of(arrays)
    restore()
    program = known or program_of(name, run)
    before = bill_of(run.launches, spec)
    if isinstance(program, Reason):
        return FusionComparison(name, spec.name, before, None, None, 0.0, str(program))
    with profiler.profile() as prof:
        result = program.run(given)
    gap = gap_between(values_of(result) + values_of(arrays), wanted)
    restore()
    fused = [r for r in prof.events() if isinstance(r, LaunchRecord)]
    predicted, after = predicted_bill(program.recipe, spec), bill_of(fused, spec)
    return FusionComparison(name, spec.name, before, predicted, after, gap)
