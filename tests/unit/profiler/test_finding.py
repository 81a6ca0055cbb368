"""Findings are ranked, and no nanosecond is promised twice."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.profiler.finding import COLUMNS, Candidate, rank


def candidate(kind, savings, **options):
    return Candidate(kind, savings, f"{kind} has 2 numbers.", "x = 1", **options)


def test_the_largest_comes_first_and_what_is_left_goes_to_the_next():
    pin, keep = candidate("pin", {0: 60.0, 1: 30.0}), candidate("keep", {0: 95.0})
    found = rank([pin, keep], ["a", "b"], [100.0, 100.0], 200.0)
    assert [(f.kind, f.saves_ns) for f in found] == [("keep", 95.0), ("pin", 35.0)]
    assert [f.share for f in found] == [0.475, 0.175]
    assert found[1].records == ("a", "b")


def test_under_two_percent_is_left_out():
    small, enough = candidate("small", {0: 1.9}), candidate("enough", {1: 2.0})
    found = rank([small, enough], ["a", "b"], [50.0, 50.0], 100.0)
    assert [f.kind for f in found] == ["enough"]


def test_an_alternative_takes_nothing_away():
    instead = candidate("instead", {0: 90.0}, is_alternative=True)
    found = rank([instead, candidate("pin", {0: 40.0})], ["a"], [100.0], 100.0)
    assert [f.saves_ns for f in found] == [90.0, 40.0]


savings = st.dictionaries(st.integers(0, 3), st.floats(0, 1e6), max_size=4)


@given(
    st.lists(savings, max_size=6), st.lists(st.floats(0, 1e5), min_size=4, max_size=4)
)
def test_savings_never_add_up_to_more_than_the_whole(wanted, elapsed):
    total = sum(elapsed)
    candidates = [candidate(str(i), one) for i, one in enumerate(wanted)]
    found = rank(candidates, "abcd", elapsed, total)
    assert sum(f.saves_ns for f in found) <= total * (1 + 1e-9)
    assert sorted((f.saves_ns for f in found), reverse=True) == [
        f.saves_ns for f in found
    ]


@pytest.fixture
def finding():
    words = "a sentence that needs more than one line of text, " * 4
    one = Candidate("pin", {0: 1500.0}, words, "x.pin_memory()\ny = 2")
    return rank([one], ["a"], [6000.0], 6000.0)[0]


def test_text_tells_saving_sentence_and_change(finding):
    *told, first, second = str(finding).splitlines()
    assert told[0].startswith("up to 1.50 µs (25.0 %): a sentence")
    assert (first, second) == ("    x.pin_memory()", "    y = 2")
    assert max(map(len, told)) <= COLUMNS


def test_notebook_and_dict(finding):
    assert "<pre>x.pin_memory()" in finding._repr_html_()
    plain = json.loads(json.dumps(finding.to_dict()))
    assert plain["saves_ns"] == 1500.0
    assert plain["records"] == 1
