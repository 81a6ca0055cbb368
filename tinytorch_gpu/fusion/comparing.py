"""Run a function both ways, and put the bills side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu import profiler
from tinytorch_gpu.fusion.bill import bill_of
from tinytorch_gpu.fusion.calls import looked_at
from tinytorch_gpu.fusion.comparison import FusionComparison
from tinytorch_gpu.fusion.gaps import gap_between, put_back, values_of
from tinytorch_gpu.fusion.kernel import kernel_name
from tinytorch_gpu.fusion.making import program_of
from tinytorch_gpu.fusion.prediction import predicted_bill
from tinytorch_gpu.fusion.reasons import Reason
from tinytorch_gpu.fusion.seen import Seen
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.held import holding
from tinytorch_gpu.trace import LaunchRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.fusion.arguments import Leaf

__all__ = ["compared"]


def compared(
    name: str, function: Callable[[], Any], given: tuple[Leaf, ...]
) -> FusionComparison:
    """Run a function op by op and as one kernel, on the current device.

    Args:
        name: of the function.
        function: what may be fused, without arguments.
        given: leaves of its arguments; arrays that it changes in place are put back.

    Returns:
        The bills before, as predicted, and after.
    """
    spec = current_device().spec
    arrays = [leaf.array for leaf in given if leaf.array is not None]
    at_first = values_of(arrays)
    with profiler.profile() as prof:
        try:
            with holding(current_device()) as held:
                result = function()
        except BaseException:
            put_back(arrays, at_first)
            raise
        seen = None if held.was_looked_at else Seen(held, given)
        if seen is not None:
            arrays = [*arrays, *seen.before()]  # it may change what is no argument
            at_first = values_of(arrays)
            seen.run()
    before = bill_of(_launches(prof), spec)
    program = (
        program_of(kernel_name(name), seen, (), prof.events())
        if seen
        else looked_at(held)
    )
    if isinstance(program, Reason) or seen is None:
        put_back(arrays, at_first)
        return FusionComparison(name, spec.name, before, None, None, 0.0, str(program))
    stored = [seen.array(index) for index in program.writes]
    wanted = values_of(stored)
    put_back(arrays, at_first)
    with profiler.profile() as fused:
        program.run(seen)
    gap = gap_between(values_of(stored), wanted)
    put_back(arrays, at_first)
    del result  # until now it held what the kernel stores
    predicted = predicted_bill(program.recipe, spec)
    after = bill_of(_launches(fused), spec)
    return FusionComparison(name, spec.name, before, predicted, after, gap)


def _launches(prof: profiler.profile) -> tuple[LaunchRecord, ...]:
    return tuple(r for r in prof.events() if isinstance(r, LaunchRecord))
