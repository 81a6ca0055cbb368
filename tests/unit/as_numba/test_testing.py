"""The skip marks: a gap of numba's simulator is no reason to skip here."""

import unittest

import pytest

from tinytorch_gpu.as_numba import testing
from tinytorch_gpu.runtime import current_device, use_gpu


@pytest.fixture
def t4():
    before = current_device().spec
    use_gpu("t4")
    yield
    use_gpu(before)


def is_skipped(mark):
    @mark
    class Example(testing.CUDATestCase):
        def test(self): ...

    result = unittest.TestResult()
    Example("test").run(result)
    assert result.testsRun + len(result.skipped) >= 1
    return bool(result.skipped)


def test_marks_about_the_simulator():
    assert not is_skipped(testing.skip_on_cudasim("no warps"))
    assert not is_skipped(testing.skip_if_external_memmgr("no plugins"))
    assert is_skipped(testing.skip_unless_cudasim("about the simulator"))


@pytest.mark.usefixtures("t4")
def test_marks_about_the_compute_capability():
    assert not is_skipped(testing.skip_unless_cc_75)
    assert is_skipped(testing.skip_unless_cc_90)


def test_what_is_printed_is_captured(capsys):
    with testing.captured_stdout() as out:
        print("inside")
    print("outside")
    assert out.getvalue() == "inside\n"
    assert capsys.readouterr().out == "outside\n"
