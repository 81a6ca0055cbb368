"""Rows laid out: columns line up, and what is too wide is cut in the source only."""

import pytest

from tinytorch_gpu.profiler.line_rows import Row, draw

LINE = Row("total += x[i]", "7", ("1,024", "32.0", "16/64"))
ACCESS = Row("  load x", cells=("64", "8.5"), price="4.0 sectors", effect="256 sectors")


def test_numbers_line_up_and_the_effect_begins_where_the_other_cells_do():
    assert draw([LINE, ACCESS], 100) == [
        "  7  total += x[i]          1,024  32.0  16/64",
        "       load x  4.0 sectors     64   8.5  256 sectors",
    ]


def test_a_marked_row_begins_with_the_mark():
    plain, marked = draw([LINE, LINE._replace(is_marked=True)], 100)
    assert (plain[0], marked[0]) == (" ", ">")
    assert plain[1:] == marked[1:]


@pytest.mark.parametrize("width", [60, 70])
def test_a_row_with_numbers_is_cut_to_the_width_exactly(width):
    long = LINE._replace(text="y" * 200)
    (row,) = draw([long], width)
    assert len(row) == width
    assert row.endswith("y…  1,024  32.0  16/64")


def test_a_row_without_numbers_uses_the_whole_width():
    _, comment = draw([LINE, Row("# " + "y" * 200, "8")], 60)
    assert len(comment) == 60
