"""The sanitizer finds each seeded fault of the corpus, and nothing in correct kernels."""

import contextlib
import importlib
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.sanitizer.cases import CLEAN, FAULTY, KINDS
from tinytorch_gpu import settings
from tinytorch_gpu.errors import KernelWarning, SimGPUError

pytestmark = pytest.mark.usefixtures("own_memory")  # one case frees all of it
HERE = Path(__file__).parent
for file in sorted(HERE.glob("faulty/*.py")) + sorted(HERE.glob("clean/*.py")):
    importlib.import_module(f"tests.sanitizer.{file.parent.name}.{file.stem}")

each_faulty = pytest.mark.parametrize("case", FAULTY, ids=lambda case: case.name)
each_clean = pytest.mark.parametrize("case", CLEAN, ids=lambda case: case.name)


def findings(case):
    """Run a case under the sanitizer; return what it found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        watching = simgpu.sanitize(show=False, **case.options)
        with watching as report, contextlib.suppress(SimGPUError):
            case.play()
    return report.findings


def lines(finding):
    """Return the lines of a finding: one, both of a race, or none."""
    sides = [finding.line, finding.other and finding.other.line]
    return {side.line for side in sides if side is not None}


def blocks(finding):
    sides = [finding.block, finding.other and finding.other.block]
    return [side for side in sides if side is not None]


def threads(finding):
    return [*finding.threads, finding.other and finding.other.thread]


def fits(case, finding):
    """Whether a finding tells the fault of the case, in all that the case states."""
    return (
        (finding.tool, finding.kind, finding.level)
        == (case.tool, case.kind, case.level)
        and lines(finding) == (case.lines or lines(finding))
        and case.array in ("", finding.array)
        and case.space in ("", finding.space)
        and case.hazard in ("", finding.hazard)
        and (case.block is None or case.block in blocks(finding))
        and (case.thread is None or case.thread in threads(finding))
    )


def follows(case, finding):
    """Whether a finding is the fault seen once more, or what the case says it brings."""
    if finding.kind == case.kind:
        return fits(case, finding) or bool(lines(finding) & case.lines)
    return finding.kind in case.also or finding.level == "note"


@each_faulty
def test_the_fault_is_found_with_its_line_and_threads(case):
    found = findings(case)
    assert [finding for finding in found if fits(case, finding)], found


@each_faulty
def test_nothing_else_is_found(case):
    assert not [finding for finding in findings(case) if not follows(case, finding)]


@each_clean
def test_a_correct_kernel_has_no_finding_above_note(case):
    assert not [f for f in findings(case) if f.level != "note"]


def test_a_lock_that_waits_in_lockstep_is_no_more_than_a_note():
    lock = next(case for case in CLEAN if case.name == "lock_of_one_thread_a_block")
    found = findings(replace(lock, changes={}))
    assert [(f.kind, f.level) for f in found] == [("deadlock", "note")]


@each_clean
def test_a_correct_kernel_gives_the_same_in_every_order(case):
    expected = case.play()
    for schedule in ("reversed", "shuffled"):
        with settings.override(schedule=schedule):
            for one, two in zip(expected, case.play(), strict=True):
                np.testing.assert_array_equal(one, two)


@each_faulty
def test_the_fault_is_marked_once(case):
    races = ("race", "implicit_warp_synchrony")
    without_line = ("use_after_free", "order_dependence")
    assert len(case.marked("# fault")) == (case.kind not in without_line)
    assert len(case.marked("# other")) <= (case.kind in races)


def test_the_corpus_is_as_large_as_promised():
    assert len(FAULTY) >= 60
    assert len(CLEAN) >= 60


def test_every_kind_has_a_faulty_kernel():
    assert {case.kind for case in FAULTY} == set(KINDS)


def test_the_names_are_unique():
    names = [case.name for case in FAULTY + CLEAN]
    assert len(set(names)) == len(names)
