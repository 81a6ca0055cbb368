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
from tinytorch_gpu.library.cases import OpFacts, case
from tinytorch_gpu.library.check_findings import COLUMNS
from tinytorch_gpu.library.check_report import CheckReport
from tinytorch_gpu.library.comparison import TOLERANCES, tolerance
from tinytorch_gpu.library.judging import faults, faults_again, tells_values_apart
from tinytorch_gpu.library.keys import DispatchKey
from tinytorch_gpu.library.reference_inputs import spread
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


def check(
    op: str,
    *,
    reference: Callable[..., Any] | None = None,
    inputs: Iterable[tuple[Any, ...]] | None = None,
) -> CheckReport:
    """Check what serves an op: values, shapes, dtypes, and how it computes them.

    Inputs are generated: shapes, strides, broadcasting, empty, long, NaN, close to 0.
    One of them is run again with other values in its arrays, unless `inputs` are given.
    The sanitizer watches every launch.

    Args:
        op: the op; `"softmax"` is `"tinytorch::softmax"`.
        reference: the op in NumPy, for an op of your own; it gets floats in float64.
        inputs: tuples of NumPy arrays and scalars to call it with, instead of the
            generated ones; one at least.

    Returns:
        The report; `print` it.

    Raises:
        OpNotFoundError: no op has that name.
        UnsupportedError: there is no reference, no function registered, or no input;
            or an input is no tuple.

    Example:
        >>> from tinytorch_gpu import kernels
        >>> print(check("tinytorch::square").verdict)
        right on all 23 inputs

    Limits: some inputs, not all of them; what passes may still be wrong elsewhere.
    """
    name = qualified(op)
    schema_of(name)
    facts = _facts(name, reference)
    found = _registration(name)
    cases = list(facts.cases()) if inputs is None else _given(inputs)
    # Which other values would do in `inputs`, only their maker knows.
    seen, passed = _tried(name, cases, facts, found, is_repeated=inputs is None)
    told = tuple(_told(of_kind, passed) for of_kind in seen.values())
    tolerances = tuple(
        (dtype, *tolerance(dtype, facts.slack, is_relative=facts.is_relative))
        for dtype in TOLERANCES
    )
    failed = len(cases) - len(passed)
    return CheckReport(name, str(found.source), len(cases), failed, told, tolerances)


def _given(inputs: Iterable[tuple[Any, ...]]) -> list[Case]:
    """Return the user's inputs as cases; refuse what would check nothing."""
    rows = list(inputs)
    odd = next((row for row in rows if not isinstance(row, (tuple, list))), None)
    if rows and odd is None:
        return [case(*row) for row in rows]
    given = "no input" if odd is None else f"a {type(odd).__name__} as an input"
    raise UnsupportedError(
        f"library.check got {given}",
        where="library.check(..., inputs=...)",
        why="each input is a tuple of the op's operands, and nothing is right on none",
        fix="write inputs=[(x,)], or inputs=[(x, y), (x, 2.0)]",
    )


def _tried(
    name: str,
    cases: list[Case],
    facts: OpFacts,
    found: Registration,
    *,
    is_repeated: bool,
) -> tuple[dict[str, list[tuple[Finding, Case]]], list[Case]]:
    """Run the cases, small ones first; return faults by kind, and cases without one."""
    seen: dict[str, list[tuple[Finding, Case]]] = {}
    passed: list[Case] = []
    for each in sorted(cases, key=lambda one: (one.is_empty, one.size)):
        trial = trial_of(name, each)
        wrong = list(faults(name, trial, facts, found, seen))
        if is_repeated and not wrong and tells_values_apart(facts, each):
            is_repeated = False  # one is enough
            wrong = list(faults_again(name, trial, facts, found))
        if not wrong:
            passed.append(each)
        for fault in wrong:
            seen.setdefault(fault.kind, []).append((fault, each))
    return seen, passed


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


def _told(of_kind: list[tuple[Finding, Case]], passed: list[Case]) -> Finding:
    """Add the smallest input to where, and what all failing inputs share to why."""
    fault, smallest = of_kind[0]
    hint = _hint([each for _, each in of_kind], passed)
    where = f"{fill(f'input: {smallest}', COLUMNS)}\n{fault.where}".strip()
    why = "\n".join(filter(None, [fault.why, hint and fill(hint, COLUMNS)]))
    return replace(fault, where=where, why=why)


_SHARED = {
    "strided": "an array whose elements do not lie side by side: use its strides",
    "NaN": "NaN or infinite elements",
    "large": "large elements: exp overflows above 88 in float32",
    "broadcast": "operands of different shapes: an axis of length 1 has stride 0",
    "close": "elements close to 0: the place where the function bends, or eps",
    "empty": "an array without elements",
    "float64": "a float64 array",
    "integer": "an integer array",
    "long": "more than 256 elements, more than one block or round of threads",
    "longest": "more than 65,536 elements: the grid, or a second step, has a limit",
    "out": "a given `out`: its strides, or that it is an operand",
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
        "close": any(((a != 0) & (np.abs(a) < 1e-6)).any() for a in reals),
        "empty": any(not a.size for a in arrays),
        "float64": any(a.dtype == np.float64 for a in arrays),
        "integer": any(a.dtype.kind in "iu" for a in arrays),
        "long": any(a.size > 256 for a in arrays),
        "longest": any(a.size > 65_536 for a in arrays),
        "out": "out" in each.parameters,
        "axes": all(a.ndim > 1 for a in arrays),
        "scalar": bool(numbers) and len(arrays) == 1,
        "equal": any(np.unique(a).size < a.size for a in reals if a.size <= 256),
    }
    return {name for name, is_so in has.items() if is_so}
