"""Judges of one trial: each looks for one kind of fault and says it in four parts.

The order is that in which faults hide each other: an error first, then what kind of
result there is, then its numbers, then what the kernel does beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import poison_value
from tinytorch_gpu.errors import SimGPUError
from tinytorch_gpu.library.comparison import Difference, difference
from tinytorch_gpu.library.results import check_result, parts_of
from tinytorch_gpu.library.trials import reference_of, writer_of
from tinytorch_gpu.sanitizer import Finding, float64_findings
from tinytorch_gpu.trace.places import spelled
from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.library.cases import OpFacts
    from tinytorch_gpu.library.registration import Registration
    from tinytorch_gpu.library.trials import Trial
    from tinytorch_gpu.trace.lane_records import LaneRecord

__all__ = ["faults"]

FEW_BYTES = 8  # a size that the host must know, as flatnonzero's


def faults(
    op: str, trial: Trial, facts: OpFacts, found: Registration
) -> Iterator[Finding]:
    """Yield what is wrong with a trial.

    Args:
        op: qualified name.
        trial: the run.
        facts: the op's reference.
        found: the registered function.
    """
    known = [f for f in trial.findings if f.level != "note"]
    yield from known
    if trial.error is not None:
        # What stopped a launch is among the findings already.
        if not any(f.what == getattr(trial.error, "what", "") for f in known):
            yield _raised(trial.error, found)
        return
    try:
        check_result(op, trial.result, trial.operands, trial.parameters, found)
    except SimGPUError as error:
        yield _raised(error, found)
        return
    yield from _outside_kernels(trial, found)
    expected, hosts = reference_of(facts, trial.case)
    yield from _values(op, trial, parts_of(expected), facts.slack, found)
    yield from _operands(op, trial, hosts, facts, found)
    yield from _float64(trial)


def _raised(error: Exception, found: Registration) -> Finding:
    kind = type(error).__name__
    if isinstance(error, SimGPUError):
        return _finding(kind, error.what, error.where, error.why, error.fix)
    what = f"{kind}: {error}"
    return _finding(kind, what, str(found.source), "the op takes such operands", "")


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
    yield _finding("host_computation", what, where, why, fix)


def _values(
    op: str,
    trial: Trial,
    expected: tuple[Any, ...],
    slack: float,
    found: Registration,
) -> Iterator[Finding]:
    """Compare the results with the reference."""
    out = trial.parameters.get("out")
    if out is not None and trial.result is not out:
        fix = "write into `out` if it is given, and return it"
        what = "the result is another array than the given `out`"
        why = "out= names the memory that gets the result"
        yield _finding("out_ignored", what, str(found.source), why, fix)
    parts = parts_of(trial.result)
    for number, (part, wanted) in enumerate(zip(parts, expected, strict=False)):
        if part is None:
            continue
        got = part.copy_to_host()
        if got.shape != np.shape(wanted):  # an op without a rule
            yield _other_shape(got.shape, np.shape(wanted), found)
            return
        apart = difference(got, wanted, slack)
        if apart is not None:
            writer, _ = writer_of(op, trial.case, number, apart.index)
            name = "out" if len(parts) == 1 else f"result {number}"
            yield _differs(name, apart, writer, found)
            return


def _operands(
    op: str, trial: Trial, hosts: list[Any], facts: OpFacts, found: Registration
) -> Iterator[Finding]:
    """Compare the operands' memory with what it was, or should have become."""
    out = trial.parameters.get("out")
    named = [*trial.operands, *trial.parameters.values()]
    changing = [id(named[i]) for i in facts.mutates if i < len(named)]
    for number, given in enumerate(trial.case.arrays()):
        array, base = trial.arrays[number], trial.bases[number]
        if array is out:
            continue
        after = base.copy_to_host()
        if id(array) in changing:
            apart = difference(array.copy_to_host(), hosts[number], facts.slack)
            if apart is not None:
                yield _differs(f"operand {number}", apart, None, found)
                return
        elif after.tobytes() != given.base.tobytes():
            index = _first_changed(given.base, after)
            writer, _ = writer_of(op, trial.case, number, index, is_operand=True)
            numbers = given.base[index], after[index]
            yield _changed(number, index, numbers, writer, found)
            return


def _first_changed(before: Any, after: Any) -> tuple[int, ...]:
    rows = [np.ascontiguousarray(a).reshape(-1).view(np.uint8) for a in (before, after)]
    changed = (rows[0] != rows[1]).reshape(before.size, -1).any(1)
    first = np.unravel_index(int(np.argmax(changed)), before.shape)
    return tuple(int(i) for i in first)


def _float64(trial: Trial) -> Iterator[Finding]:
    """Tell of float64 arithmetic on float32 arrays, once."""
    for launch in trial.launches:
        notes = float64_findings(launch.counts) if launch.counts is not None else []
        for note in notes[:1]:
            why = "the op gives float32 for float32;\n" + note.why
            yield _finding(note.kind, note.what, note.where, why, note.fix)
            return


def _differs(
    name: str, apart: Difference, writer: LaneRecord | None, found: Registration
) -> Finding:
    element = spelled(name, apart.index) if apart.index else name
    counted = f"{apart.count:,} of {apart.total:,} elements differ"
    is_fresh = writer is None and _is_poison(apart.got)
    if is_fresh:
        what = f"{element} was never written; the reference has {apart.expected}"
        why = f"fresh device memory holds NaN or the largest integer; {counted}"
        fix = "let a thread store every element: grid x block threads, and the guard"
        return _finding("unwritten", what, str(found.source), why, fix)
    what = f"{element} is {apart.got}, the reference has {apart.expected}"
    untouched = f"{found.source}: no thread wrote it"
    where = untouched if writer is None else _written(writer)
    largest = "NaN or infinity" if apart.largest == np.inf else f"{apart.largest:.3g}"
    why = f"{counted}, by {largest} at most"
    return _finding("difference", what, where, why, "")


def _changed(
    number: int,
    index: tuple[int, ...],
    numbers: tuple[Any, Any],
    writer: LaneRecord | None,
    found: Registration,
) -> Finding:
    element = spelled(f"operand {number}", index) if index else f"operand {number}"
    return _finding(
        "changed_input",
        f"{element} was {numbers[0]}, and is {numbers[1]} after the op",
        str(found.source) if writer is None else _written(writer),
        "the op only reads its operands; autograd keeps them for the backward step",
        "store into a new array: out = cuda.device_array_like(x)",
    )


def _other_shape(
    got: tuple[int, ...], wanted: tuple[int, ...], found: Registration
) -> Finding:
    what = f"the result has shape {got}, the reference has {wanted}"
    fix = f"allocate `out` with shape {wanted}"
    return _finding("ShapeError", what, str(found.source), "shapes are equal", fix)


def _written(writer: LaneRecord) -> str:
    stored = "" if writer.value is None else f", stored {writer.value}"
    if writer.kind == "atomic":
        stored = ""
    return f"{writer.line}\nblock {writer.block}, thread {writer.thread}{stored}"


def _is_poison(value: Any) -> bool:
    poison = poison_value(np.asarray(value).dtype)
    return bool(value == poison or (value != value and poison != poison))  # noqa: PLR0124


def _finding(kind: str, what: str, where: str, why: str, fix: str) -> Finding:
    return Finding("check", kind, "error", what, where, why, fix)
