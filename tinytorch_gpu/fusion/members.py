"""Which steps may be in a group: element-wise ops, and reductions over a row.

Comes in: one step. Goes out: its role, or the reason why it has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.fusion.expansions import EXPANSIONS
from tinytorch_gpu.fusion.reasons import Reason
from tinytorch_gpu.fusion.rules import ELEMENTWISE, REDUCTIONS, rules_of
from tinytorch_gpu.kernels.reduce import SHORT
from tinytorch_gpu.library.keys import DispatchKey
from tinytorch_gpu.library.registry import shipped
from tinytorch_gpu.trace import ArrayUse

if TYPE_CHECKING:
    from tinytorch_gpu.fusion.values import Step
    from tinytorch_gpu.trace import KernelSource

__all__ = ["ELEMENT", "ROW", "is_candidate", "role_of", "rule_of"]

ELEMENT, ROW = "element-wise", "row"
CASTS = {"copy", "fill", "where"}
KEPT_DTYPES = {"float32", "bool"}


def is_candidate(step: Step) -> bool:
    """Tell whether the op is of a kind that a fused kernel can hold at all."""
    return step.op in {*ELEMENTWISE, *REDUCTIONS, *EXPANSIONS}


def role_of(step: Step) -> str | Reason:
    """Tell what a step would be in a group.

    Args:
        step: the step.

    Returns:
        `ELEMENT` or `ROW`; a reason if it can be neither.
    """
    if not is_candidate(step):
        return Reason("no rule", f"no rule for {step.op} in a fused kernel")
    implementation = step.record.implementation
    if implementation is None or implementation not in _shipped(step.record.op):
        name = implementation or step.record.key
        return Reason("no rule", f"{step.op} is served by {name}, not by our kernel")
    if step.op not in REDUCTIONS and rule_of(step) is None:
        return Reason("no rule", f"{step.op} ran as {_kernels(step)}, of no known line")
    odd = _other_dtypes(step)
    if odd or _odd_bool(step):
        told = ", ".join(odd) or "bool numbers"
        return Reason("dtype", f"{step.op} takes or gives {told}")
    if step.op in REDUCTIONS:
        return _reduction(step)
    return ELEMENT


def rule_of(step: Step) -> str | None:
    """Return the rule that an element-wise step's kernel follows, or None.

    Args:
        step: the step. Beside its own kernel it may have launched a copy, of an operand
            that its output lies on.
    """
    names = {launch.kernel.name for launch in step.launches}
    own = names if step.op == "copy" else names - {"copy_kernel"}
    rules = [set(rules_of(name)) for name in own] or [{step.op}]
    common = set.intersection(*rules)
    return step.op if step.op in common else min(common, default=None)


def _shipped(op: str) -> set[KernelSource]:
    """Return our own functions of an op."""
    found = (shipped(op, key) for key in DispatchKey)
    return {registration.source for registration in found if registration}


def _kernels(step: Step) -> str:
    return ", ".join(dict.fromkeys(launch.kernel.name for launch in step.launches))


def _other_dtypes(step: Step) -> list[str]:
    uses = [o for o in step.record.operands if isinstance(o, ArrayUse)]
    uses += step.record.results
    return sorted({use.dtype for use in uses} - KEPT_DTYPES)


def _odd_bool(step: Step) -> bool:
    """Tell whether numbers are computed in bool: NumPy has rules of its own there."""
    rule = ELEMENTWISE.get(step.op)
    is_bool = step.record.results[0].dtype == "bool" if step.record.results else False
    return bool(rule and is_bool and not rule.is_bool and step.op not in CASTS)


def _reduction(step: Step) -> str | Reason:
    (use,) = (o for o in step.record.operands if isinstance(o, ArrayUse))
    axis = step.parameter("axis")
    given = range(len(use.shape)) if axis is None else axis
    axes = [given] if isinstance(given, int) else list(given)
    if {a % max(1, len(use.shape)) for a in axes} != {len(use.shape) - 1}:
        told = "all axes" if axis is None else f"axis {axis}"
        why = f"{step.op} over {told} of {use.shape} is done when all blocks are"
        return Reason("barrier", why)
    if len(step.launches) > 1:
        why = f"rows of {use.shape[-1]} elements are spread over several blocks, and"
        return Reason("barrier", f"{why} a second launch waits for all of them")
    if use.shape[-1] < SHORT or "_rows_" not in step.launches[0].kernel.name:
        why = f"a row of {step.op} over {use.shape} is walked by one thread, not by a"
        return Reason("shape", f"{why} block: rows are short or lie across memory")
    return ROW
