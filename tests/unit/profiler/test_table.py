"""Plain text layout."""

from __future__ import annotations

import pytest

from tinytorch_gpu.profiler.table import LEAST, Column, layout, table_lines
from tinytorch_gpu.trace.text_table import shorten

COLUMNS = [
    Column(("", "op"), is_text=True),
    Column(("", "kernel"), is_text=True),
    Column(("modelled", "time")),
]


def test_text_stands_left_and_numbers_right():
    lines = layout(COLUMNS, [["add", "k", "5 µs"]], ["total", "", "5 µs"], 80)
    assert lines == [
        "               modelled",
        "op     kernel      time",
        "-----------------------",
        "add    k           5 µs",
        "-----------------------",
        "total              5 µs",
    ]


@pytest.mark.parametrize("width", [30, 40, 60])
def test_width_is_kept_by_shortening_the_widest_text(width):
    row = ["o" * 40, "kernel_with_a_name (file.py:12)", "123 µs"]
    lines = layout(COLUMNS, [row], ["total", "", ""], width)
    assert max(map(len, lines)) == width
    assert "123 µs" in lines[3]


@pytest.mark.parametrize("width", [1, 10, 24, 29, 30, 31, 60])
def test_numbers_stay_whole_and_texts_keep_a_few_characters(width):
    row = ["o" * 40, "kernel_with_a_name_in_file.py:12", "123,456,789 µs"]
    lines = layout(COLUMNS, [row], ["total", "", ""], width)
    least = 2 * LEAST + len("123,456,789 µs") + 2 * 2
    assert max(map(len, lines)) == max(width, least)
    op, kernel, *number = lines[3].split()
    assert number == ["123,456,789", "µs"]
    assert min(len(op), len(kernel)) >= LEAST


def test_short_texts_are_not_made_longer():
    lines = layout(COLUMNS, [["add", "k", "5 µs"]], ["total", "", "5 µs"], 1)
    assert max(map(len, lines)) == len("add    k       modelled")


def test_shorten_cuts_the_end():
    assert shorten("abcdefgh", 8) == "abcdefgh"
    assert shorten("abcdefgh", 7) == "abcdef…"
    assert shorten("abcdefgh", 2) == "a…"


def test_a_text_is_a_line_of_its_own_cut_at_the_tables_width():
    rows = [["add", "k", "5 µs"], "  a line that is much longer than the table is"]
    assert layout(COLUMNS, rows, ["total", "", ""], 80)[-3:] == [
        "  a line that is much …",
        "-----------------------",
        "total",
    ]


def test_table_lines_have_no_totals():
    with_totals = layout(COLUMNS, [["add", "k", "5 µs"]], ["sum", "", ""], 80)
    assert table_lines(COLUMNS, [["add", "k", "5 µs"]], 80) == with_totals[:-2]
