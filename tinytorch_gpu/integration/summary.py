"""Which ops of a TinyTorch a kernel answers for, and why not for the others."""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING

from tinytorch_gpu.integration.bindings import BINDINGS
from tinytorch_gpu.integration.fits import Fits
from tinytorch_gpu.integration.gradient_rules import RULES, method_candidates
from tinytorch_gpu.integration.meanings import MEANINGS
from tinytorch_gpu.integration.ops import function_candidates
from tinytorch_gpu.integration.tracked import TRACKED
from tinytorch_gpu.integration.verdicts import NOT_RECORDED
from tinytorch_gpu.library import has_kernel

if TYPE_CHECKING:
    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.fits import Candidate

__all__ = ["Served", "served"]


SLOW = 0.5  # seconds for the trials of one class: ordinary ones take some milliseconds


@dataclass(frozen=True)
class Served:
    """What runs each op of a TinyTorch.

    Args:
        by_kernels: ops that a kernel computes.
        by_own_code: ops whose own NumPy code becomes further ops.
        notes: where a kernel is there and the learner's own code runs, one line each.
    """

    by_kernels: tuple[str, ...]
    by_own_code: tuple[str, ...]
    notes: tuple[str, ...]


def served(found: TinyTorch) -> Served:
    """Try every op of a TinyTorch, and tell what runs it on the device.

    Args:
        found: the TinyTorch.
    """
    is_b = found.generation == "B"
    tried = function_candidates(found) if is_b else method_candidates(found)
    fits, kernels, notes = Fits(found), [], []
    for op, one in sorted(tried.items()):
        is_plain = isinstance(vars(one.owner).get("forward"), FunctionType)
        if not has_kernel(op) or (is_b and not (is_plain and op in BINDINGS)):
            continue  # a static method knows no parameters: it runs itself
        verdict = fits.forward(one)
        if verdict.seconds > SLOW:
            notes.append(f"{_name(one)}: to try it took {verdict.seconds:.1f} s")
        if verdict.fits:
            kernels.append(op)
            notes += _slope_note(fits, one) if is_b or f"{op}_backward" in RULES else []
        else:
            notes.append(_note(one, verdict.difference))
    own = tuple(op for op in sorted(tried) if op not in kernels)
    return Served(tuple(kernels), own, tuple(notes))


def _note(one: Candidate, difference: str) -> str:
    """Tell that a learner's own code runs, and what the kernel would compute."""
    kernel = f"the kernel computes {MEANINGS[one.op].formula}"
    if difference.startswith("raises"):
        return f"{_name(one)}: {difference}; it runs as it is written; {kernel}"
    return f"{_name(one)}: your formula, decomposed; {kernel} ({difference})"


def _slope_note(fits: Fits, one: Candidate) -> list[str]:
    """Tell that a learner's own gradient rule runs though a kernel is there, if so."""
    has_rule = "backward" in vars(one.owner) or one.op in {t.op for t in TRACKED}
    if not has_rule or not has_kernel(f"{one.op}_backward"):
        return []
    verdict = fits.backward(one)
    if verdict.fits or verdict.difference == NOT_RECORDED:
        return []
    kernel = f"the kernel computes the derivative of {MEANINGS[one.op].formula}"
    name = f"{_name(one)}, gradient"
    return [f"{name}: your formula, decomposed; {kernel} ({verdict.difference})"]


def _name(one: Candidate) -> str:
    """Name a class as the learner thinks of it: GELU for GELUFunction."""
    name = str(one.owner.__name__)
    return f"Tensor.{one.op}" if name == "Tensor" else name.removesuffix("Function")
