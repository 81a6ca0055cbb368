"""Places in the learner's source, as errors and tables show them."""

import dataclasses

import pytest

from tinytorch_gpu.trace import KernelSource, Site, SourceLine

LINE = SourceLine("add", "lesson.py", 14, "out[i] = x[i]")


def test_a_line_tells_kernel_number_and_text():
    assert str(LINE) == "add, line 14:    out[i] = x[i]"


def test_equal_lines_are_one_key():
    assert {LINE: 1}[dataclasses.replace(LINE)] == 1


def test_sites_are_told_apart_though_they_read_alike():
    assert Site(LINE, "x") != Site(LINE, "x")
    assert len({Site(LINE, "x"), Site(LINE, "x")}) == 2


def test_a_kernel_tells_the_last_part_of_its_file():
    assert str(KernelSource("add", "/lessons/add.py", 12)) == "add (add.py:12)"


def test_places_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        LINE.line = 15
