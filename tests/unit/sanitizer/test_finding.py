"""A finding is told in four parts, and becomes plain values."""

import json

import numpy as np
import pytest

from tinytorch_gpu.sanitizer import Access, Finding
from tinytorch_gpu.trace import SourceLine

LINE = SourceLine("add", "lesson.py", 14, "out[i] = x[i]")
OTHER = SourceLine("add", "lesson.py", 15, "y = out[i + 1]")
RACE = Finding(
    "racecheck",
    "race",
    "error",
    "two threads meet at `out[3]`",
    where="add, line 14:    out[i] = x[i]\nblock (0, 0, 0)",
    why="nothing orders them",
    fix="put cuda.syncthreads() between",
    line=LINE,
    array="out",
    space="global",
    index=(3,),
    block=(0, 0, 0),
    threads=((3, 0, 0),),
    count=1,
    hazard="RAW",
    other=Access(OTHER, (0, 0, 0), (2, 0, 0), np.float32(0.5)),
)


def test_the_text_has_level_tool_and_four_parts():
    assert str(RACE) == (
        "error: two threads meet at `out[3]` [racecheck]\n"
        "  where  add, line 14:    out[i] = x[i]\n"
        "         block (0, 0, 0)\n"
        "  why    nothing orders them\n"
        "  fix    put cuda.syncthreads() between"
    )


def test_a_long_first_line_is_broken_at_100_columns():
    told = str(Finding("memcheck", "leak", "note", "word " * 30))
    assert max(map(len, told.splitlines())) <= 100
    assert told.replace("\n", " ").count("word") == 30


def test_plain_values_go_into_json_and_back():
    plain = json.loads(json.dumps(RACE.to_dict()))
    assert plain["line"] == {
        "kernel": "add",
        "file": "lesson.py",
        "line": 14,
        "text": "out[i] = x[i]",
    }
    assert plain["other"]["value"] == 0.5
    assert plain["other"]["line"]["line"] == 15
    assert (plain["index"], plain["threads"]) == ([3], [[3, 0, 0]])
    assert plain["hazard"] == "RAW"


@pytest.mark.parametrize("value", [None, 7, 0.5])
def test_values_of_python_stay(value):
    access = Access(LINE, (0, 0, 0), (0, 0, 0), value)
    finding = Finding("racecheck", "race", "error", "x", other=access)
    assert finding.to_dict()["other"]["value"] == value
