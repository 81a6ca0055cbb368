"""Judges of one trial: each looks for one kind of fault, `check_findings` tells it.

The order is that in which faults hide each other: an error first, then what kind of
result there is, then its numbers, then what the kernel does beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import SimGPUError
from tinytorch_gpu.library import check_findings as tell
from tinytorch_gpu.library.comparison import difference
from tinytorch_gpu.library.results import check_result, parts_of
from tinytorch_gpu.library.trials import reference_of, trial_again, writer_of
from tinytorch_gpu.memory import elements_of
from tinytorch_gpu.sanitizer import float64_findings
from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from tinytorch_gpu.library.cases import Case, OpFacts
    from tinytorch_gpu.library.comparison import Difference
    from tinytorch_gpu.library.registration import Registration
    from tinytorch_gpu.library.trials import Trial
    from tinytorch_gpu.sanitizer import Finding
    from tinytorch_gpu.trace.lane_records import LaneRecord

__all__ = ["faults", "faults_again", "tells_values_apart"]

FEW_BYTES = 8  # a size that the host must know, as flatnonzero's


def faults(
    op: str,
    trial: Trial,
    facts: OpFacts,
    found: Registration,
    told: Container[str] = (),
) -> Iterator[Finding]:
    """Yield what is wrong with a trial.

    Args:
        op: qualified name.
        trial: the run.
        facts: the op's reference.
        found: the registered function.
        told: kinds that have their example; the thread of others is not looked for.
    """
    known = [f for f in trial.findings if f.level != "note"]
    yield from known
    if trial.error is not None:
        # What stopped a launch is among the findings already.
        if not any(f.what == getattr(trial.error, "what", "") for f in known):
            yield tell.raised(trial.error, found)
        return
    try:
        check_result(op, trial.result, trial.operands, trial.parameters, found)
    except SimGPUError as error:
        yield tell.raised(error, found)
        return
    yield from _outside_kernels(trial, found)
    expected, hosts = reference_of(facts, trial.case)
    yield from _values(op, trial, parts_of(expected), facts, found, told)
    yield from _operands(op, trial, hosts, facts, found)
    yield from _aliases(trial, facts, found)
    yield from _float64(trial)


def faults_again(
    op: str, first: Trial, facts: OpFacts, found: Registration
) -> Iterator[Finding]:
    """Run a trial's arrays again with other values, and yield what is wrong then.

    Args:
        op: qualified name.
        first: a trial in which nothing was wrong.
        facts: the op's reference.
        found: the registered function.
    """
    given = [base.buffer for base in first.bases]
    parts = [part for part in parts_of(first.result) if part is not None]
    kept = [part for part in parts if part.buffer not in given]
    before = [part.copy_to_host() for part in kept]
    yield from faults(op, trial_again(op, first), facts, found)
    for part, numbers in zip(kept, before, strict=True):
        after = part.copy_to_host()
        if after.tobytes() != numbers.tobytes():
            index = _first_changed(numbers, after)
            yield tell.overwritten(index, (numbers[index], after[index]), found)
            return


def tells_values_apart(facts: OpFacts, case: Case) -> bool:
    """Tell whether other values in a case's arrays would show what was kept.

    They do if the reference gives something else for them. An op that changes an array
    has it all to do again.

    Args:
        facts: the op's.
        case: the operands.
    """
    if facts.mutates:
        return True
    both = (case, case.with_other_values())
    one, other = (parts_of(reference_of(facts, each)[0]) for each in both)
    pairs = zip(one, other, strict=True)
    return not all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def _outside_kernels(trial: Trial, found: Registration) -> Iterator[Finding]:
    """Tell of work that the host did in a kernel's place."""
    size = sum(part.size for part in parts_of(trial.result) if part is not None)
    copied = sum(copy.bytes for copy in trial.copies_to_host)
    copies = f"{format_bytes(copied)} were copied to the host" * bool(copied)
    if size and not trial.launches:
        what = "no kernel was launched" + f", and {copies}" * bool(copied)
    elif copied > FEW_BYTES:
        what = f"{copies}: what is computed there, no kernel computes"
    else:
        return
    where = f"{found.source}, {len(trial.launches)} launches"
    why = "an op on the device is computed by kernels: threads that load and store"
    fix = "write a @cuda.jit kernel, and launch it: kernel[grid, block](x, out)"
    yield tell.finding("host_computation", what, where, why, fix)


def _values(
    op: str,
    trial: Trial,
    expected: tuple[Any, ...],
    facts: OpFacts,
    found: Registration,
    told: Container[str],
) -> Iterator[Finding]:
    """Compare the results with the reference."""
    out = trial.parameters.get("out")
    if out is not None and trial.result is not out:
        yield tell.out_ignored(found)
    parts = [part for part in parts_of(trial.result) if part is not None]
    if len(parts) != len(expected):
        yield tell.missing(len(parts), len(expected), found)
        return
    for number, (part, wanted) in enumerate(zip(parts, expected, strict=True)):
        got = elements_of(part)
        if got.shape != np.shape(wanted):  # an op without a rule
            yield tell.other_shape(got.shape, np.shape(wanted), found)
            return
        apart = difference(got, wanted, facts.slack, is_relative=facts.is_relative)
        if apart is None:
            continue
        name = "out" if len(parts) == 1 else f"result {number}"
        writer = None
        if "difference" not in told or tell.is_poison(apart.got):
            writer = writer_of(op, trial.case, number, apart.index)
        yield _differs(trial, name, apart, writer, found)
        return


def _differs(
    trial: Trial,
    name: str,
    apart: Difference,
    writer: LaneRecord | None,
    found: Registration,
) -> Finding:
    if trial.is_second:
        return tell.stale(name, apart, found)
    return tell.differs(name, apart, writer, found)


def _operands(
    op: str, trial: Trial, hosts: list[Any], facts: OpFacts, found: Registration
) -> Iterator[Finding]:
    """Compare the operands' memory with what it was, or should have become."""
    mutated = _mutated(trial, facts)
    out = trial.parameters.get("out")
    for number, given in enumerate(trial.case.arrays()):
        array, base = trial.arrays[number], trial.bases[number]
        before, after = given.base, elements_of(base)  # a copy would be recorded
        if id(array) in mutated:
            apart = difference(given.view(after), hosts[number], facts.slack)
            if apart is not None:
                yield _differs(trial, f"operand {number}", apart, None, found)
                return
        if array is out or id(array) in mutated:  # only what lies between is to stay
            before = before.copy()
            given.view(before)[...] = given.view(after)
        if after.tobytes() != before.tobytes():
            index = _first_changed(before, after)
            writer = writer_of(op, trial.case, number, index, is_operand=True)
            is_beside = before is not given.base
            numbers = before[index], after[index]
            yield tell.changed(number, index, numbers, writer, found, is_beside)
            return


def _mutated(trial: Trial, facts: OpFacts) -> set[int]:
    """Return the identities of the operands that the op should change."""
    named = [*trial.operands, *trial.parameters.values()]
    return {id(named[i]) for i in facts.mutates if i < len(named)}


def _first_changed(before: Any, after: Any) -> tuple[int, ...]:
    rows = [np.ascontiguousarray(a).reshape(-1).view(np.uint8) for a in (before, after)]
    changed = (rows[0] != rows[1]).reshape(before.size, -1).any(1)
    first = np.unravel_index(int(np.argmax(changed)), before.shape)
    return tuple(int(i) for i in first)


def _aliases(trial: Trial, facts: OpFacts, found: Registration) -> Iterator[Finding]:
    """Tell of a result that lies in the memory of an operand."""
    own = _mutated(trial, facts) | {id(trial.parameters.get("out"))}
    for number, array in enumerate(trial.arrays):
        parts = [part for part in parts_of(trial.result) if part is not None]
        is_shared = any(p.buffer is array.buffer and p.size for p in parts)
        if is_shared and id(array) not in own:
            yield tell.aliased(number, found)
            return


def _float64(trial: Trial) -> Iterator[Finding]:
    """Tell of float64 arithmetic on float32 arrays, once."""
    if all(array.dtype != np.float32 for array in trial.arrays):
        return
    for launch in trial.launches:
        notes = float64_findings(launch.counts) if launch.counts is not None else []
        for note in notes[:1]:
            why = "the op gives float32 for float32;\n" + note.why
            yield tell.finding(note.kind, note.what, note.where, why, note.fix)
            return
