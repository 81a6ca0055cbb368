"""Lines of float32 kernels that compute in float64 become notes."""

from dataclasses import replace

from tinytorch_gpu.sanitizer.float64 import float64_findings, float64_lines
from tinytorch_gpu.trace import AccessCounts, LaunchCounts, LineCounts, SourceLine

FIRST = SourceLine("k", "k.py", 3, "total += x[i] * 0.1")
SECOND = SourceLine("k", "k.py", 4, "out[i] = total")
SINGLE = AccessCounts(FIRST, "x", "global", "load", 1, 4, 32, 128, 256, "float32")
LINES = (
    LineCounts(FIRST, 3, 96, 0, 0, fp32=0, fp64=64, integer=0, special=0),
    LineCounts(SECOND, 3, 96, 0, 0, fp32=64, fp64=0, integer=0, special=0),
)


def test_each_such_line_is_a_note_with_its_count():
    (note,) = float64_findings(LaunchCounts((SINGLE,), LINES, 0))
    assert (note.tool, note.kind, note.level) == (
        "numcheck",
        "float64_arithmetic",
        "note",
    )
    assert (note.line, note.count) == (FIRST, 64)
    assert "64 float64 operations" in note.what
    assert "total += x[i] * 0.1" in note.where


def test_one_float64_array_is_enough_for_silence():
    double = replace(SINGLE, array="y", dtype="float64")
    assert float64_lines(LaunchCounts((SINGLE, double), LINES, 0)) == ()
    assert float64_findings(LaunchCounts((SINGLE, double), LINES, 0)) == []


def test_kernels_without_float32_arrays_are_left_alone():
    assert float64_lines(LaunchCounts((), LINES, 0)) == ()
