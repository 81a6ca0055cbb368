"""A race is told with both sides, why, and one line that helps."""

import numpy as np
import pytest

from tinytorch_gpu.sanitizer.past import Past
from tinytorch_gpu.sanitizer.race_text import Pair, Side, race_finding
from tinytorch_gpu.trace import KernelSource, LaunchStart, Site, SourceLine

LAUNCH = LaunchStart(KernelSource("k", "k.py", 1), (2, 1, 1), (64, 1, 1), {})


def side(kind, line, thread, value=None, name="tile"):
    where = Site(SourceLine("k", "k.py", line, f"{name}[t]"), name)
    return Side(Past(where, kind, LAUNCH), thread, value)


def tell(one, other, **facts):
    usual = {
        "hazard": "RAW",
        "scope": "block",
        "grave": 2,
        "space": "shared",
        "index": (3, 4),
        "mates": np.array([64, 70]),
        "count": 9,
    }
    return race_finding(Pair(one, other, **{**usual, **facts}), LAUNCH)


def test_both_sides_are_told():
    told = tell(side("load", 9, 70, np.float32(2)), side("store", 7, 5, np.float32(3)))
    assert (
        told.what
        == "race: a thread reads `tile[3, 4]`, which another wrote, in no set order"
    )
    assert told.where.splitlines() == [
        "k.py, line 9:    tile[t]".replace("k.py", str(told.line).partition(",")[0]),
        "    block (1, 0, 0), thread (6, 0, 0) reads 2.0",
        str(told.other.line),
        "    block (0, 0, 0), thread (5, 0, 0) writes 3.0",
    ]
    assert told.threads == ((0, 0, 0), (6, 0, 0))
    assert (told.array, told.space, told.index, told.count) == (
        "tile",
        "shared",
        (3, 4),
        9,
    )
    assert told.other.value == 3.0


@pytest.mark.parametrize(
    ("hazard", "scope", "lines", "fix"),
    [
        ("RAW", "block", (9, 7), "put cuda.syncthreads() between line 7 and line 9"),
        ("RAW", "warp", (9, 7), "put cuda.syncwarp() between line 7 and line 9"),
        ("WAR", "block", (7, 9), "put cuda.syncthreads() between line 7 and line 9"),
        ("WAR", "warp", (7, 7), "read into a variable, then cuda.syncwarp()"),
        ("RAW", "block", (7, 7), "end the body of the loop with cuda.syncthreads()"),
        ("WAW", "block", (7, 7), "cuda.atomic.add(tile, index, value) if it adds up"),
        ("WAW", "grid", (9, 7), "cuda.atomic.add(tile, index, value) if it adds up"),
        ("RAW", "grid", (9, 7), "split the kernel in two launches"),
        ("WAW", "streams", (9, 7), "event.record(first_stream)"),
    ],
)
def test_the_fix_fits(hazard, scope, lines, fix):
    kinds = {"R": "load", "W": "store"}
    one, other = (
        side(kinds[hazard[0]], lines[0], 1),
        side(kinds[hazard[2]], lines[1], 2),
    )
    assert tell(one, other, hazard=hazard, scope=scope).fix.startswith(fix)


def test_a_plain_access_among_atomics():
    told = tell(side("load", 9, 1), side("atomic", 7, 64, None), scope="grid")
    assert "which another changed" in told.what
    assert told.fix.startswith("access tile with atomics only")


@pytest.mark.parametrize(
    ("grave", "kind", "level"),
    [
        (0, "same_value_race", "note"),
        (1, "implicit_warp_synchrony", "warning"),
        (2, "race", "error"),
    ],
)
def test_kinds_and_levels(grave, kind, level):
    told = tell(side("store", 9, 1), side("store", 7, 2), grave=grave, hazard="WAW")
    assert (told.kind, told.level, told.tool) == (kind, level, "racecheck")
    assert ("same value" in told.what) == (grave == 0)


def test_lines_are_short_enough():
    for scope in ("warp", "block", "grid", "streams"):
        told = tell(side("store", 9, 1), side("store", 7, 2), scope=scope)
        for text in (told.why, told.fix):
            assert max(map(len, text.splitlines())) <= 84
