"""What the header of a trace's file says, checked field by field."""

from __future__ import annotations

import math
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.trace.checking import (
    mapping,
    need,
    numbers,
    sequence,
    text,
    whole,
)
from tinytorch_gpu.trace.counts import AccessCounts, LaunchCounts, LineCounts
from tinytorch_gpu.trace.file_layout import DTYPES
from tinytorch_gpu.trace.source import KernelSource, SourceLine
from tinytorch_gpu.trace.steps import TracedArray

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["HeaderParts", "read_header"]

SPACES = ("global", "shared", "local", "constant")
MOST_THREADS = 1024  # of a block, on every GPU
# How the fields of counts are read, by their annotation; a line is told by its number.
KINDS: dict[Any, Callable[[Any], Any]] = {
    "int": whole,
    "str": text,
    "SourceLine": whole,
}


@dataclass(frozen=True)
class HeaderParts:
    """What the table of steps refers to by number.

    Args:
        lines: source lines.
        texts: expressions and names.
        lanes: of each group of lanes two stretches of the int64 columns: where they
            begin and how long they are, of block numbers and of thread numbers.
    """

    lines: tuple[SourceLine, ...]
    texts: tuple[str, ...]
    lanes: tuple[tuple[int, ...], ...]


def read_header(header: dict[str, Any]) -> tuple[dict[str, Any], HeaderParts]:
    """Return the fields of a `RecordedLaunch` but its steps, and what these refer to.

    Args:
        header: what `trace.json` holds.
    """
    name, file, line = sequence(header.get("kernel"), 3)
    grid = numbers(header.get("grid"), 3, 1, 2**31 - 1)
    block = numbers(header.get("block"), 3, 1, MOST_THREADS)
    need(math.prod(block) <= MOST_THREADS, f"its block of {block} is too large")
    lines = tuple(map(_line, sequence(header.get("lines"))))
    texts = tuple(map(text, sequence(header.get("texts"))))
    lanes = tuple(numbers(group, 4) for group in sequence(header.get("lanes")))
    launch = {
        "kernel": KernelSource(text(name), text(file), whole(line)),
        "grid": grid,
        "block": block,
        "arrays": tuple(map(_array, sequence(header.get("arrays")))),
        "counts": _counts(header.get("counts"), lines),
        "seen": whole(header.get("seen")),
        "budget_bytes": whole(header.get("budget_bytes")),
        "blocks": _chosen(header.get("blocks"), math.prod(grid) - 1),
        "warps": _chosen(header.get("warps"), 2**31 - 1),
        "error": text(header.get("error")),
    }
    return launch, HeaderParts(lines, texts, lanes)


def _chosen(value: Any, last: int) -> tuple[int, ...] | None:
    return None if value is None else numbers(value, None, 0, last)


def _line(value: Any) -> SourceLine:
    kernel, file, line, code = sequence(value, 4)
    return SourceLine(text(kernel), text(file), whole(line), text(code))


def _array(value: Any) -> TracedArray:
    name, space, dtype, shape, steps, offset, address, length = sequence(value, 8)
    need(space in SPACES, f"an array lies in {space!r:.60}")
    need(dtype in DTYPES, f"an array has dtype {dtype!r:.60}")
    lengths = numbers(shape)
    array = TracedArray(
        name=text(name),
        space=space,
        dtype=dtype,
        shape=lengths,
        steps=numbers(steps, len(lengths), -(2**40)),
        offset=whole(offset),
        address=whole(address),
        length=whole(length),
    )
    need(_is_inside(array), f"array {array.name!r:.60} reaches out of its memory")
    return array


def _is_inside(array: TracedArray) -> bool:
    """Tell whether all elements lie in the array's memory."""
    if 0 in array.shape:
        return True
    pairs = zip(array.shape, array.steps, strict=True)
    ends = [step * (length - 1) for length, step in pairs]
    low = array.offset + sum(end for end in ends if end < 0)
    high = array.offset + sum(end for end in ends if end > 0)
    return low >= 0 and high < array.length


def _counts(value: Any, lines: tuple[SourceLine, ...]) -> LaunchCounts | None:
    if value is None:
        return None
    told = mapping(value)
    accesses, rows = sequence(told.get("accesses")), sequence(told.get("lines"))
    return LaunchCounts(
        tuple(_record(AccessCounts, access, lines) for access in accesses),
        tuple(_record(LineCounts, row, lines) for row in rows),
        whole(told.get("barriers")),
    )


def _record(kind: Any, value: Any, lines: tuple[SourceLine, ...]) -> Any:
    """Return an `AccessCounts` or `LineCounts`; what it lacks has its default."""
    told = mapping(value)
    known = {f.name: f for f in fields(kind)}
    need(set(told) <= set(known), f"a {kind.__name__} has unknown fields")
    for name, field in known.items():
        if name not in told:
            need(field.default is not MISSING, f"a {kind.__name__} lacks {name}")
    made = {name: KINDS[known[name].type](part) for name, part in told.items()}
    made["line"] = _pick_line(made["line"], lines)
    return kind(**made)


def _pick_line(number: int, lines: tuple[SourceLine, ...]) -> SourceLine:
    need(number < len(lines), "counts refer to a line that is not there")
    return lines[number]
