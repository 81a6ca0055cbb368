"""The table that a lecture shows."""

from __future__ import annotations

from tinytorch_gpu.profiler.key_averages import average


def _cells(table):
    """Rows as lists of words, so that widths do not matter."""
    return [line.split() for line in table.splitlines()]


EXPECTED = """\
modelled on toy GPU: 37.0 µs, 4 launches, 2 copies
sectors/ modelled
op calls launches kernel request H2D D2H time share
{rule}
(copy d2h) 1 - - - - 4 B 8.00 µs 21.6 %
add 2 2 add.py:12 add_kernel 4.0 - - 10.0 µs 27.0 %
exp 1 1 exp.py:12 exp_kernel 4.0 - - 5.00 µs 13.5 %
neg 1 1 neg.py:12 neg_kernel 4.0 - - 5.00 µs 13.5 %
sigmoid 1 - → neg, exp, add - - - - 0.0 %
to 1 - - - 4.10 kB - 9.00 µs 24.3 %
{rule}
total 7 4 4.0 4.10 kB 4 B 37.0 µs 100.0 %
"""


def test_whole_table(step):
    cells = _cells(average(step, device="toy GPU").table(sort_by="op"))
    rule = cells[3][0]
    assert set(rule) == {"-"}
    assert cells[:12] == _cells(EXPECTED.format(rule=rule))


def test_notes(step):
    notes = average(step, device="toy GPU").table().splitlines()[12:]
    assert notes == [
        (
            "Counts are exact: 2 launches traced, 2 replayed "
            "(counts of an equal earlier launch)."
        ),
        "→ no kernel of its own: it ran as these ops, whose rows hold its time.",
    ]


def test_width_with_long_names(launch, op, step):
    long = "mine::a_very_long_name_of_an_op_that_nobody_should_choose_for_anything"
    record = launch(
        long, "a_very_long_kernel_name_of_more_than_fifty_characters_in_all"
    )
    table = average([record, op(long), *step] * 1000, device="toy GPU").table()
    assert max(map(len, table.splitlines())) <= 118
    assert "mine::" in table


def test_launches_without_counts_are_said_to_be_so(launch):
    table = average([launch(counts=None)], device="toy GPU").table()
    assert "0 launches traced, 0 replayed" in table
    assert "1 not counted" in table


def test_several_kernels_of_an_op(launch):
    records = [launch("op", kernel) for kernel in ("a_kernel", "b_kernel", "c_kernel")]
    table = average(records, device="toy GPU").table()
    for name in "abc":  # each on a line of its own
        assert sum(f"{name}.py:12 {name}_kernel" in t for t in table.splitlines()) == 1
