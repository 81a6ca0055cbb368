"""What a check tells: one maker of findings for each kind of fault, in four parts."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import poison_value
from tinytorch_gpu.errors import SimGPUError
from tinytorch_gpu.sanitizer import Finding
from tinytorch_gpu.trace.places import spelled

if TYPE_CHECKING:
    from tinytorch_gpu.library.comparison import Difference
    from tinytorch_gpu.library.registration import Registration
    from tinytorch_gpu.trace.lane_records import LaneRecord

__all__ = [
    "COLUMNS",
    "aliased",
    "changed",
    "differs",
    "finding",
    "is_poison",
    "missing",
    "other_shape",
    "out_ignored",
    "overwritten",
    "raised",
    "stale",
]

COLUMNS = 90  # of an input or a line of code; behind "  where  " in a report
Index = tuple[int, ...]
NEW = "allocate it in each call: out = cuda.device_array(shape, dtype)"


def finding(kind: str, what: str, where: str, why: str, fix: str) -> Finding:
    """Return an error that `check` found.

    Example:
        >>> finding("ShapeError", "the shape is (2,)", "", "", "").level
        'error'
    """
    return Finding("check", kind, "error", what, where, why, fix)


def raised(error: Exception, found: Registration) -> Finding:
    """Tell what the function raised."""
    kind = type(error).__name__
    if isinstance(error, SimGPUError):
        return finding(kind, error.what, error.where, error.why, error.fix)
    what = f"{kind}: {error}"
    return finding(kind, what, str(found.source), "the op takes such operands", "")


def out_ignored(found: Registration) -> Finding:
    """Tell that the result is not in the memory that was named for it."""
    fix = "write into `out` if it is given, and return it"
    what = "the result is another array than the given `out`"
    why = "out= names the memory that gets the result"
    return finding("out_ignored", what, str(found.source), why, fix)


def missing(given: int, wanted: int, found: Registration) -> Finding:
    """Tell that there are fewer results than the reference has; None is none."""
    what = f"arrays among the op's results: {given}, the reference has {wanted}"
    why = "a caller takes each of them: a gradient that is None trains nothing"
    fix = "return one array for each result of the op"
    return finding("missing_result", what, str(found.source), why, fix)


def other_shape(got: Index, wanted: Index, found: Registration) -> Finding:
    """Tell that a result has another shape than the reference."""
    what = f"the result has shape {got}, the reference has {wanted}"
    fix = f"allocate `out` with shape {wanted}"
    return finding("ShapeError", what, str(found.source), "shapes are equal", fix)


def differs(
    name: str, apart: Difference, writer: LaneRecord | None, found: Registration
) -> Finding:
    """Tell the first number that differs, and which thread stored it."""
    element = _element(name, apart.index)
    is_fresh = writer is None and is_poison(apart.got)
    if is_fresh:
        counted = f"{apart.count:,} of {apart.total:,} elements differ"
        what = f"{element} was never written; the reference has {apart.expected}"
        why = f"fresh device memory holds NaN or the largest integer; {counted}"
        fix = "let a thread store every element: grid x block threads, and the guard"
        return finding("unwritten", what, str(found.source), why, fix)
    what = f"{element} is {apart.got}, the reference has {apart.expected}"
    untouched = f"{found.source}: no thread wrote it"
    where = untouched if writer is None else _written(writer)
    return finding("difference", what, where, _counted(apart), "")


def stale(name: str, apart: Difference, found: Registration) -> Finding:
    """Tell a number that is wrong when an array holds other values than before."""
    got, expected = apart.got, apart.expected
    return finding(
        "stale",
        f"{_element(name, apart.index)} is {got} in a second call, the reference has "
        f"{expected}",
        f"{found.source}: the same arrays with other values",
        f"the first call was right; in the second {_counted(apart)}",
        "compute in each call: a result kept by shape, address or id() is an old one",
    )


def overwritten(index: Index, numbers: tuple[Any, Any], found: Registration) -> Finding:
    """Tell that a second call changed what the first one gave."""
    return finding(
        "overwritten",
        f"{_element('out', index)} of one call was {numbers[0]}, and is {numbers[1]} "
        "after the next",
        f"{found.source}: two calls, other values",
        "each call gives a new array; who keeps the first result has lost it",
        NEW,
    )


def aliased(number: int, found: Registration) -> Finding:
    """Tell that a result is an operand's memory."""
    return finding(
        "aliased_result",
        f"the result lies in the memory of operand {number}",
        str(found.source),
        "the op gives a new array: who writes into this one changes the operand too",
        NEW,
    )


def changed(
    number: int,
    index: Index,
    numbers: tuple[Any, Any],
    writer: LaneRecord | None,
    found: Registration,
    is_beside: bool,
) -> Finding:
    """Tell that the op changed what it should only read, or memory beside its array."""
    kind = "changed_input"
    what = (
        f"{_element(f'operand {number}', index)} was {numbers[0]}, and is {numbers[1]}"
    )
    why = "the op only reads its operands; autograd keeps them for the backward step"
    fix = "store into a new array: out = cuda.device_array_like(x)"
    if is_beside:
        kind = "written_beside"
        what = f"memory between the elements was {numbers[0]}, and is {numbers[1]}"
        why = f"element {list(index)} of the whole array is none of the view"
        fix = "index the view itself, or use its strides: it has gaps"
    where = str(found.source) if writer is None else _written(writer)
    return finding(kind, f"{what} after the op", where, why, fix)


def _element(name: str, index: Index) -> str:
    return spelled(name, index) if index else name


def _counted(apart: Difference) -> str:
    largest = "NaN or infinity" if apart.largest == np.inf else f"{apart.largest:.3g}"
    return f"{apart.count:,} of {apart.total:,} elements differ, by {largest} at most"


def _written(writer: LaneRecord) -> str:
    stored = "" if writer.value is None else f", stored {writer.value}"
    if writer.kind == "atomic":
        stored = ""
    line = fill(str(writer.line), COLUMNS)
    return f"{line}\nblock {writer.block}, thread {writer.thread}{stored}"


def is_poison(value: Any) -> bool:
    """Tell whether a number is what fresh device memory holds.

    Example:
        >>> is_poison(np.float32(np.nan)), is_poison(np.float32(0))
        (True, False)
    """
    poison = poison_value(np.asarray(value).dtype)
    return bool(value == poison or (value != value and poison != poison))  # noqa: PLR0124
