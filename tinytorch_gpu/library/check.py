"""`check`: run an op's kernel against its rule and the NumPy reference.

Comes in: an op. Goes out: a `CheckReport`. The op goes through the dispatcher, as a
model calls it, on inputs of all kinds; of each kind of fault the report shows the one
on the smallest input, with the thread that wrote the first wrong element.
"""

from __future__ import annotations

from dataclasses import replace
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.library.cases import OpFacts, case, spread
from tinytorch_gpu.library.check_report import CheckReport
from tinytorch_gpu.library.comparison import TOLERANCES
from tinytorch_gpu.library.judging import faults
from tinytorch_gpu.library.keys import DispatchKey
from tinytorch_gpu.library.references import OPS
from tinytorch_gpu.library.registry import find
from tinytorch_gpu.library.schema import qualified, schema_of
from tinytorch_gpu.library.trials import trial_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinytorch_gpu.library.cases import Case
    from tinytorch_gpu.library.registration import Registration
    from tinytorch_gpu.sanitizer import Finding

__all__ = ["check"]

COLUMNS = 90  # of an input; behind "  where  " in a report


def check(
    op: str,
    *,
    reference: Callable[..., Any] | None = None,
    inputs: Iterable[tuple[Any, ...]] | None = None,
) -> CheckReport:
    """Check what serves an op: values, shapes, dtypes, and how it computes them.

    Inputs are generated: shapes, strides, broadcasting, empty, NaN, large. The
    sanitizer watches every launch.

    Args:
        op: the op; `"softmax"` is `"tinytorch::softmax"`.
        reference: the op in NumPy, for an op of your own; it gets floats in float64.
        inputs: tuples of NumPy arrays and scalars to call it with, instead of the
            generated ones.

    Returns:
        The report; `print` it.

    Raises:
        OpNotFoundError: no op has that name.
        UnsupportedError: there is no reference, or no function registered.

    Example:
        >>> from tinytorch_gpu import kernels
        >>> print(check("tinytorch::square").verdict)
        right on all 18 inputs

    Limits: some inputs, not all of them; what passes may still be wrong elsewhere.
    """
    name = qualified(op)
    schema_of(name)
    facts = _facts(name, reference)
    found = _registration(name)
    cases = list(facts.cases()) if inputs is None else [case(*row) for row in inputs]
    seen: dict[str, list[tuple[Finding, Case]]] = {}
    failed = 0
    for each in sorted(cases, key=lambda one: (one.is_empty, one.size)):
        wrong = list(faults(name, trial_of(name, each), facts, found))
        failed += bool(wrong)
        for fault in wrong:
            seen.setdefault(fault.kind, []).append((fault, each))
    told = tuple(_told(of_kind, cases) for of_kind in seen.values())
    widths = TOLERANCES.items()
    tolerances = tuple((n, facts.slack * r, facts.slack * a) for n, (r, a) in widths)
    return CheckReport(name, str(found.source), len(cases), failed, told, tolerances)


def _facts(op: str, reference: Callable[..., Any] | None) -> OpFacts:
    if reference is not None:
        known = OPS.get(op)
        if known is not None:
            return replace(known, reference=reference)
        return OpFacts(reference, lambda: (case(x) for x in spread()))
    if op in OPS:
        return OPS[op]
    raise UnsupportedError(
        f"op `{op}` has no reference to check it against",
        where="library.check",
        why=f"{len(OPS)} shipped ops have one; what yours computes, only you know",
        fix=f'library.check("{op}", reference=lambda x: ..., inputs=[(x,), ...])',
        op=op,
    )


def _registration(op: str) -> Registration:
    for key in (DispatchKey.SIMGPU, DispatchKey.DECOMPOSE):
        found = find(op, key)
        if found is not None and not found.is_fallthrough:
            return found
    raise UnsupportedError(
        f"op `{op}` has no function to check",
        where="library.check",
        why="nothing is registered for it at SimGPU or Decompose",
        fix=f'@library.impl("{op}", "simgpu") above the function',
        op=op,
    )


def _told(of_kind: list[tuple[Finding, Case]], cases: list[Case]) -> Finding:
    """Add the smallest input to where, and what all failing inputs share to why."""
    fault, smallest = of_kind[0]
    failing = [each for _, each in of_kind]
    hint = _hint(failing, [each for each in cases if each not in failing])
    where = f"{fill(f'input: {smallest}', COLUMNS)}\n{fault.where}".strip()
    why = "\n".join(filter(None, [fault.why, hint and fill(hint, COLUMNS)]))
    return replace(fault, where=where, why=why)


_SHARED = {
    "strided": "an array whose elements do not lie side by side: use its strides",
    "NaN": "NaN or infinite elements",
    "large": "large elements: exp overflows above 88 in float32",
    "broadcast": "operands of different shapes: an axis of length 1 has stride 0",
    "empty": "an array without elements",
    "float64": "a float64 array",
    "integer": "an integer array",
    "long": "more than 256 elements, more than one block or round of threads",
    "axes": "two axes or more",
    "scalar": "a number in an array's place",
    "equal": "equal elements",
}


def _hint(failing: list[Case], passing: list[Case]) -> str:
    """Say what all failing inputs have and no other, if there is such a thing."""
    if not failing or not passing:
        return ""
    shared = set.intersection(*map(_features, failing))
    shared -= {name for each in passing for name in _features(each)}
    told = [text for name, text in _SHARED.items() if name in shared]
    return f"only inputs of this kind fail: {told[0]}" if told else ""


def _features(each: Case) -> set[str]:
    arrays = [given.on_host() for given in each.arrays()]
    shapes = {a.shape for a in arrays}
    reals = [a for a in arrays if a.dtype.kind == "f" and a.size]
    is_finite = [bool(np.isfinite(a).all()) for a in reals]
    numbers = [v for v in each.operands if isinstance(v, (int, float))]
    has = {
        "strided": any(not a.flags.c_contiguous for a in arrays),
        "NaN": not all(is_finite),
        "large": all(is_finite) and any(np.abs(a).max() >= 100 for a in reals),
        "broadcast": len(shapes) > 1,
        "empty": any(not a.size for a in arrays),
        "float64": any(a.dtype == np.float64 for a in arrays),
        "integer": any(a.dtype.kind == "i" for a in arrays),
        "long": any(a.size > 256 for a in arrays),
        "axes": all(a.ndim > 1 for a in arrays),
        "scalar": bool(numbers) and len(arrays) == 1,
        "equal": any(np.unique(a).size < a.size for a in reals),
    }
    return {name for name, is_so in has.items() if is_so}
