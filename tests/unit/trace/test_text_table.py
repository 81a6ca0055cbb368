"""Tables of at most 100 columns."""

from tinytorch_gpu.trace.text_table import cut_table


def test_columns_are_as_wide_as_their_widest_cell():
    text = cut_table(["n", "name"], [(1, "a"), (100, "bcdef")], lambda row: row)
    assert text.split("\n") == ["  n  name", "----------", "  1  a", "100  bcdef"]


def test_sides():
    text = cut_table(["a", "b"], [("x", 1), ("yy", 22)], lambda row: row, left="lr")
    assert text.split("\n")[2:] == ["x    1", "yy  22"]


def test_a_long_line_is_cut():
    lines = cut_table(["text"], ["x" * 300], lambda row: [row]).split("\n")
    assert {len(line) for line in lines[1:]} == {100}
    assert lines[2] == "x" * 99 + "…"


def test_the_middle_of_many_rows_is_left_out():
    rows = range(1000)
    lines = cut_table(["n"], rows, lambda n: [n], most=5).split("\n")[2:]
    assert lines == [
        "0",
        "1",
        "2",
        "... 995 more rows, all of them in .rows",
        "998",
        "999",
    ]


def test_only_rows_that_are_shown_become_text():
    asked = []
    cut_table(["n"], range(10**9), lambda n: [asked.append(n)], most=4)
    assert asked == [0, 1, 10**9 - 2, 10**9 - 1]
