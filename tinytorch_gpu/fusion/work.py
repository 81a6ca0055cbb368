"""The arithmetic of a fused kernel, from what its ops did one by one.

An element-wise launch spends its instructions on the guard, on loads and stores, and on
the op itself; only the last are left for each op when it is fused. A reduction over a
row keeps its loop and its barriers. What a pass computes again counts again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tinytorch_gpu.trace import LineCounts, SourceLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.fusion.values import Step
    from tinytorch_gpu.trace import AccessCounts, LaunchCounts

__all__ = [
    "Work",
    "guard_line",
    "joined_accesses",
    "loop_line",
    "op_work",
    "reduction_lines",
    "without_nan_check",
]

FIELDS = ("instructions", "active_lanes", "fp32", "fp64", "integer", "special")


class Work(NamedTuple):
    """What an op does with one element: operations, and instructions of its warp.

    Args:
        instructions: warp instructions for each warp of elements.
        active_lanes: of these, for each element.
        fp32: float32 operations for each element.
        fp64: float64 operations.
        integer: integer and logical operations.
        special: divisions, roots, exponentials.
    """

    instructions: float = 0.0
    active_lanes: float = 0.0
    fp32: float = 0.0
    fp64: float = 0.0
    integer: float = 0.0
    special: float = 0.0

    def counts(self, text: str, warps: int, lanes: int) -> LineCounts:
        """Return the counts of a line that does this for so many warps and lanes."""
        whole = {"instructions": round(self.instructions * warps)}
        whole |= {n: round(getattr(self, n) * lanes) for n in FIELDS[1:]}
        kinds = ("fp32", "fp64", "special")  # an instruction each, however few lanes do
        whole |= {f"{n}_warps": round(getattr(self, n) * warps) for n in kinds}
        numbers = dict.fromkeys(("branches", "divergent_branches"), 0) | whole
        return LineCounts(SourceLine("fused", "", 0, text), executions=warps, **numbers)


def op_work(step: Step) -> Work:
    """Tell what an element-wise op does, without guard, loads and stores.

    Args:
        step: its step; its launches were counted.
    """
    counts = [launch.counts for launch in step.launches if launch.counts]
    bodies = [line for c in counts for line in c.lines if not _is_guard(line)]
    accesses = [a for c in counts for a in c.global_accesses]
    stores = [[a for a in c.global_accesses if a.kind == "store"] for c in counts]
    warps = sum(max(a.requests for a in of_launch) for of_launch in stores)
    lanes = sum(max(a.active_lanes for a in of_launch) for of_launch in stores)
    moved = sum(a.requests for a in accesses)
    issued = sum(line.instructions for line in bodies) - moved
    active = sum(line.active_lanes for line in bodies) - sum(
        a.active_lanes for a in accesses
    )
    totals = [sum(getattr(line, n) for line in bodies) for n in FIELDS[2:]]
    return Work(
        issued / max(1, warps),
        active / max(1, lanes),
        *(total / max(1, lanes) for total in totals),
    )


def without_nan_check(work: Work) -> Work:
    """Return the work of a maximum with a number, which a fused kernel need not check.

    Args:
        work: of the op's own kernel: two comparisons, their `or`, and the choice.
    """
    less = {"instructions": 2, "active_lanes": 2, "integer": 2}
    return work._replace(**{n: getattr(work, n) - m for n, m in less.items()})


def _is_guard(line: LineCounts) -> bool:
    return line.line.text.startswith("if row <")


def guard_line(warps: int, axes: int) -> LineCounts:
    """Return the counts of a guard: a comparison for each axis, an `and` between two.

    Args:
        warps: of the launch.
        axes: 2 for `row < ... and col < ...`, 1 for `i < ...`.
    """
    line, each = SourceLine("fused", "", 0, "if ..."), 2 * axes - 1
    lanes = each * 32 * warps
    return LineCounts(line, each * warps, lanes, warps, 0, 0, 0, lanes, 0, warps)


def loop_line(decisions: int) -> LineCounts:
    """Return the counts of a pass's `for` line.

    Args:
        decisions: of all warps, one more for each than it has turns.
    """
    line = SourceLine("fused", "", 0, "for k in range(tid, n, cuda.blockDim.x):")
    return LineCounts(line, 0, 0, decisions, 0, 0, 0, 0, 0, decisions)


def reduction_lines(counts: LaunchCounts) -> list[LineCounts]:
    """Return the lines of a reduction that stay: its loop and its joins.

    Args:
        counts: of the launch of a row kernel.
    """
    kept = []
    loads = sum(a.requests for a in counts.global_accesses if a.kind == "load")
    lanes = sum(a.active_lanes for a in counts.global_accesses if a.kind == "load")
    for line in counts.lines:
        text = line.line.text
        if text.startswith(("if tid == 0", "out[", "first =", "stride =")):
            continue
        is_load = "x[row, k]" in text
        numbers = {n: getattr(line, n) for n in LineCounts.__dataclass_fields__}
        if is_load:  # the load itself is counted with the array
            numbers["instructions"] -= loads
            numbers["active_lanes"] -= lanes
        kept.append(LineCounts(**numbers))
    return kept


def joined_accesses(counts: Sequence[LaunchCounts]) -> list[AccessCounts]:
    """Return the shared accesses of reductions that one device function joins.

    Each place in the function stands for that place in all of its calls.

    Args:
        counts: of the launches of row kernels, alike in what they do.
    """
    places = zip(*(c.shared_accesses for c in counts), strict=False)
    return [_added(same) for same in places]


def _added(same: Sequence[AccessCounts]) -> AccessCounts:
    """Add up accesses; what is no number is that of the first."""
    names = ["requests", "active_lanes", "bytes_requested", "bytes_used"]
    names += ["wavefronts", "ideal_wavefronts"]
    return replace(same[0], **{n: sum(getattr(a, n) for a in same) for n in names})
