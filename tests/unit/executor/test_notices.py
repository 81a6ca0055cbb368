"""Warnings about a kernel point at its line, and obey Python's filters."""

import warnings

import pytest

from tinytorch_gpu.errors import KernelWarning
from tinytorch_gpu.executor.notices import warn_at
from tinytorch_gpu.trace import SourceLine


def test_a_warning_points_at_the_kernels_line():
    with pytest.warns(KernelWarning, match="too early") as told:
        warn_at(SourceLine("k", "lesson.py", 12, "return"), KernelWarning("too early"))
    assert (told[0].filename, told[0].lineno) == ("lesson.py", 12)


def test_a_line_warns_once_by_default():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for number in (31, 32, 31):
            warn_at(SourceLine("k", "lesson.py", number, ""), KernelWarning("early"))
    assert [entry.lineno for entry in told] == [31, 32]


def test_a_warning_can_be_an_error_or_silent():
    line = SourceLine("k", "lesson.py", 41, "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        warn_at(line, KernelWarning("early"))
        warnings.simplefilter("error", KernelWarning)
        with pytest.raises(KernelWarning, match="early"):
            warn_at(line, KernelWarning("early"))


def test_another_text_at_the_same_line_is_another_warning():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for count in (3, 4, 3):
            line = SourceLine("k", "lesson.py", 51, "")
            warn_at(line, KernelWarning(f"{count} lanes"))
    assert [str(entry.message) for entry in told] == ["3 lanes", "4 lanes"]
