"""The report counts, merges, sorts and tells findings."""

from dataclasses import replace

import pytest

from tinytorch_gpu.errors import SanitizerError
from tinytorch_gpu.sanitizer import Access, Finding, SanitizerReport
from tinytorch_gpu.trace import SourceLine


def at(line, kernel="add"):
    return SourceLine(kernel, "lesson.py", line, f"line {line} of {kernel}")


def found(level, line=3, kernel="add", **facts):
    where = at(line, kernel)
    what = f"{level} of {kernel}"
    return Finding("racecheck", "race", level, what, str(where), line=where, **facts)


def report_of(*launches):
    """Make a report of launches, each a list of findings."""
    report = SanitizerReport()
    for findings in launches:
        report.launches += 1
        report.kernels |= {f.line.kernel for f in findings}
        for finding in findings:
            report.add(finding)
    return report


def test_the_gravest_come_first_then_kernel_and_line():
    report = report_of(
        [found("note", 9), found("error", 8), found("warning", 1)],
        [found("error", 2, "mul"), found("error", 3)],
    )
    told = [(f.level, f.line.kernel, f.line.line) for f in report.findings]
    assert told == [
        ("error", "add", 3),
        ("error", "add", 8),
        ("error", "mul", 2),
        ("warning", "add", 1),
        ("note", "add", 9),
    ]
    assert len(report.errors) == 3
    assert [f.level for f in report.warnings] == ["warning"]
    assert [f.level for f in report.notes] == ["note"]
    assert str(report).startswith(
        "3 errors, 1 warning, 1 note in 2 launches of 2 kernels\n\nerror: error of add"
    )


def test_one_fault_of_several_launches_is_one_finding():
    first, again = found("error", count=3), found("error", count=4)
    report = report_of([first], [], [again])
    assert report.findings == (first,)
    assert report.times(first) == 2
    assert str(report).endswith("the same in 2 launches")
    assert report.to_dict()["findings"][0]["launches"] == 2


def test_twice_in_one_launch_is_one_launch():
    report = report_of([found("error"), found("error", count=2)])
    assert report.times(found("error")) == 1
    assert "the same" not in str(report)


@pytest.mark.parametrize(
    "change",
    [
        {"line": at(4)},
        {"kind": "same_value_race"},
        {"array": "y"},
        {"hazard": "WAW"},
        {"level": "note"},
        {"other": Access(at(5), (0, 0, 0), (0, 0, 0))},
    ],
)
def test_other_faults_stay_apart(change):
    one = found("error")
    assert len(report_of([one, replace(one, **change)]).findings) == 2


def test_clean_is_nothing_above_a_note():
    assert report_of([found("note")]).is_clean
    assert not report_of([found("warning")]).is_clean
    assert not report_of([found("error")]).is_clean


def test_errors_are_raised_on_request():
    report_of([found("warning"), found("note")]).raise_for_errors()
    report = report_of([found("error", line) for line in range(5)])
    with pytest.raises(SanitizerError, match="found 5 errors") as caught:
        report.raise_for_errors()
    assert caught.value.findings == report.errors
    text = str(caught.value)
    assert "add, line 0:    line 0 of add" in text
    assert "and 2 more" in text
    assert len(text.splitlines()) <= 12


def test_plain_values():
    plain = report_of([found("note")]).to_dict()
    assert plain["launches"] == 1
    assert plain["kernels"] == ["add"]
    assert plain["is_clean"] is True
    assert plain["findings"][0]["kind"] == "race"


def test_nothing_found():
    report = SanitizerReport()
    assert str(report) == (
        "No errors, no warnings, no notes in no launches of no kernels"
    )
    assert repr(report).startswith("<SanitizerReport: No errors")
