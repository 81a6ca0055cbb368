"""docs/explanation/dispatch.md explains each line of the demo step's real log."""

import re
from pathlib import Path

from tests.unit.library.test_log import demo_step

PAGE = Path(__file__).resolve().parents[2] / "docs/explanation/dispatch.md"
ROW = re.compile(r"^\| (\d+)–(\d+) \| (\d+) \|", re.MULTILINE)


def test_each_line_is_explained_with_its_launches():
    entries = demo_step().entries
    rows = [tuple(map(int, row)) for row in ROW.findall(PAGE.read_text("utf-8"))]
    explained = [line for first, last, _ in rows for line in range(first, last + 1)]
    assert explained == [entry.number for entry in entries]
    for first, last, launches in rows:
        kinds = [entry.kind for entry in entries[first - 1 : last]]
        assert kinds.count("launch") == launches, (first, last)


def test_the_sums_in_the_text_are_those_of_the_log():
    log, text = demo_step(), PAGE.read_text("utf-8")
    fills = sum(entry.name == "fill_kernel" for entry in log.launches)
    begin = next(e.number for e in log.entries if e.name.endswith("::sgd_step"))
    optimizer = sum(entry.number > begin for entry in log.launches)
    backward = [e for e in log.ops if e.depth == 0 and 17 < e.number < begin]
    adds = sum(entry.name == "tinytorch::add" for entry in backward)
    told = f"{fills} launches fill, {adds} add a gradient to zeros, {optimizer} are"
    assert told in text
    total = f"{fills + adds + optimizer} of {len(log.launches)} launches"
    assert total in text
