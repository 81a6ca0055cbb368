"""docs/reference/sanitizer.md names every kind of finding, with its tool and level."""

import inspect
import re
from pathlib import Path

import pytest

import tinytorch_gpu as simgpu
from tests.sanitizer.cases import KINDS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/sanitizer.md").read_text(encoding="utf-8")
TOOLS = ("memcheck", "initcheck", "racecheck", "synccheck", "numcheck")
NOTES = {"leak": ("memcheck", "note"), "same_value_race": ("racecheck", "note")}
STOPS = {
    *("out_of_bounds", "use_after_free", "divergent_barrier", "warp_mask"),
    *("divergent_warp", "deadlock", "endless_loop"),
}


def section(heading):
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(heading):
    """Return the first two cells of each row of a section's table."""
    return re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section(heading), re.MULTILINE)


def test_every_kind_is_told_with_its_tool_and_level():
    told = {
        kind: (tool, level.partition(",")[0])
        for tool in TOOLS
        for kind, level in rows(tool)
    }
    assert told == KINDS | NOTES


def test_what_stops_a_launch_is_told():
    stopping = {
        kind for tool in TOOLS for kind, level in rows(tool) if level.endswith("stops")
    }
    assert stopping == STOPS


def test_options_are_those_of_sanitize():
    told = re.search(r"`simgpu\.sanitize(\(.*\))`", section("Options"))[1]
    parameters = inspect.signature(simgpu.sanitize).parameters.values()
    assert told == f"({', '.join(f'{p.name}={_text(p.default)}' for p in parameters)})"


def _text(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


@pytest.mark.parametrize("word", ["--schedule", "--seeds", "--leak-check", "--json"])
def test_words_of_the_command_are_told(word, capsys):
    from tinytorch_gpu.cli import main

    with pytest.raises(SystemExit):
        main(["check", "--help"])
    assert word in capsys.readouterr().out
    assert f"`{word}" in section("`simgpu check`")
