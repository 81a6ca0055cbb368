"""A race in words: both sides, why nothing orders them, and the line that would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.sanitizer.event import place
from tinytorch_gpu.sanitizer.finding import Access, Finding
from tinytorch_gpu.trace.places import spelled

if TYPE_CHECKING:
    from tinytorch_gpu.sanitizer.past import Past
    from tinytorch_gpu.trace import LaunchStart

__all__ = ["Pair", "Side", "race_finding"]

KINDS = ("same_value_race", "implicit_warp_synchrony", "race")  # by how grave
LEVELS = ("note", "warning", "error")
DOES = {"load": "reads", "store": "writes", "atomic": "changes"}
DID = {"load": "read", "store": "wrote", "atomic": "changed"}
WHY = {
    "warp": "both are lanes of one warp, which need not run in step; syncwarp() or a\n"
    "barrier orders them",
    "block": "both are threads of one block in different warps, and no barrier stands\n"
    "between the two accesses; warps run in any order",
    "grid": "the threads are in different blocks, which run in any order; a block's\n"
    "barrier orders one block only",
    "streams": "the two launches are in different streams, and nothing makes one wait\n"
    "for the other",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One of two accesses: what and where, the thread's number, and its value."""

    past: Past
    thread: int
    value: Any


@dataclass(slots=True)
class Pair:
    """A pair of lines whose accesses race, with the gravest example.

    Args:
        side: the access that came later in the simulation.
        other: the earlier one.
        hazard: `RAW`, `WAR` or `WAW`.
        scope: `warp`, `block`, `grid` or `streams`: how far apart the threads are.
        grave: 0 to 2, as in `LEVELS`.
        space: `global` or `shared`.
        index: of the element.
        mates: numbers of the threads of the same block that race here.
        count: lanes that race at these lines in the launch.
    """

    side: Side
    other: Side
    hazard: str
    scope: str
    grave: int
    space: str
    index: tuple[int, ...]
    mates: Any
    count: int


def race_finding(pair: Pair, launch: LaunchStart) -> Finding:
    """Tell of a race.

    Args:
        pair: the two lines, and an example.
        launch: the launch of the later access.
    """
    side, other = pair.side, pair.other
    line, other_line = side.past.site.line, other.past.site.line
    block, thread = place(side.thread, launch)
    its_block, its_thread = place(other.thread, other.past.launch)
    name = side.past.site.expression
    return Finding(
        tool="racecheck",
        kind=KINDS[pair.grave],
        level=LEVELS[pair.grave],
        what=_what(pair, spelled(name, pair.index)),
        where=f"{line}\n{_told(side, block, thread)}\n"
        f"{other_line}\n{_told(other, its_block, its_thread)}",
        why=_why(pair),
        fix=_fix(pair),
        line=line,
        array=name,
        space=pair.space,
        index=pair.index,
        block=block,
        threads=tuple(place(int(mate), launch)[1] for mate in pair.mates),
        count=pair.count,
        hazard=pair.hazard,
        other=Access(other_line, its_block, its_thread, _plain(other.value)),
    )


def _what(pair: Pair, element: str) -> str:
    if not pair.grave:
        return f"several threads write the same value to `{element}`"
    does, did = DOES[pair.side.past.kind], DID[pair.other.past.kind]
    return f"race: a thread {does} `{element}`, which another {did}, in no set order"


def _told(side: Side, block: Any, thread: Any) -> str:
    value = "" if side.value is None else f" {_plain(side.value)}"
    return f"    block {block}, thread {thread} {DOES[side.past.kind]}{value}"


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _why(pair: Pair) -> str:
    if not pair.grave:
        return "it does not matter which of them comes last"
    is_one_line = pair.side.past == pair.other.past
    if pair.hazard == "WAW" and is_one_line:
        return "one value stays and the others are lost; which one is not defined"
    return f"{pair.hazard}: {WHY[pair.scope]}"


def _fix(pair: Pair) -> str:
    """Return the change of one line."""
    if not pair.grave:
        return "let one thread write it, if the others have no need to"
    if pair.scope == "streams":
        return (
            "event.record(first_stream); event.wait(second_stream); or use one stream"
        )
    return _across_blocks(pair) if pair.scope == "grid" else _in_block(pair)


def _across_blocks(pair: Pair) -> str:
    side, other = pair.side.past, pair.other.past
    name = side.site.expression
    if "atomic" in (side.kind, other.kind):
        return f"access {name} with atomics only, or read it in a later launch"
    if pair.hazard == "WAW" or side.site.line == other.site.line:
        return _own_elements(name)
    return "split the kernel in two launches, or wait with cuda.cg.this_grid().sync()"


def _in_block(pair: Pair) -> str:
    side, other = pair.side.past, pair.other.past
    call = "cuda.syncwarp()" if pair.scope == "warp" else "cuda.syncthreads()"
    first, last = sorted((side.site.line.line, other.site.line.line))
    if pair.hazard == "WAW" and first == last:
        return _own_elements(side.site.expression)
    if first < last:
        return (
            f"put {call} between line {first} and line {last}, where all threads pass"
        )
    if pair.hazard == "WAR":
        return f"read into a variable, then {call}, then write"
    return f"end the body of the loop with {call}, where all threads pass"


def _own_elements(name: str) -> str:
    return (
        f"cuda.atomic.add({name}, index, value) if it adds up, else give each thread\n"
        "an element of its own"
    )
