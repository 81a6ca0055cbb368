"""`check` passes every shipped kernel, and names what is wrong with the others."""

import json

import numpy as np
import pytest

from tests.unit.library import (
    wrong_axes,
    wrong_extremes,
    wrong_memory,
    wrong_parameters,
    wrong_sizes,
    wrong_values,
)
from tests.unit.library.wrong_kernels import WRONG, off_by_one_guard
from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import OpNotFoundError, UnsupportedError
from tinytorch_gpu.library.references import OPS
from tinytorch_gpu.library.schema import SHIPPED, defined

# These modules have put their kernels into the table, too.
MODULES = (
    wrong_axes,
    wrong_extremes,
    wrong_memory,
    wrong_parameters,
    wrong_sizes,
    wrong_values,
)
assert all(MODULES)
NAMES = [function.__name__ for _, function, _, _ in WRONG]


@pytest.fixture(autouse=True)
def nothing_is_kept():
    """Let go of what mistakes keep between calls."""
    yield
    for kept in wrong_memory.KEPT:
        kept.clear()


@pytest.mark.parametrize("op", OPS)
def test_shipped_kernels_are_right(op):
    report = library.check(op)
    assert report.is_clean, str(report)
    assert report.cases > 1


def test_every_shipped_op_has_a_reference():
    names = {
        f"tinytorch::{c.split('(')[0].split()[-1]}" for c in SHIPPED.split(")")[:-1]
    }
    assert names == set(OPS)
    assert names <= defined()


@pytest.mark.parametrize(("op", "function", "kind", "words"), WRONG, ids=NAMES)
def test_wrong_kernels_are_found(op, function, kind, words):
    with library.override(op, "simgpu", function):
        report = library.check(op)
    assert function.__name__ in report.implementation
    told = [str(finding) for finding in report.findings if finding.kind == kind]
    assert told, str(report)
    assert all(word in told[0] for word in words), str(report)
    assert max(map(len, str(report).splitlines())) <= 100


def test_fifty_mistakes_and_more():
    assert len(set(NAMES)) == len(NAMES) >= 50


def test_the_report_is_data():
    with library.override("square", "simgpu", off_by_one_guard):
        report = library.check("square")
    assert not report.is_clean
    assert report.verdict == f"wrong on {report.failed} of {report.cases} inputs"
    told = json.loads(json.dumps(report.to_dict()))
    assert told["findings"][0]["kind"] == report.findings[0].kind == "unwritten"
    assert ["float32", 1.3e-6, float(np.finfo("f4").tiny)] in told["tolerances"]
    assert report._repr_html_().startswith("<pre>tinytorch::square, off_by_one_guard")
    with pytest.raises(AttributeError):
        report.failed = 0


def test_an_op_of_ones_own_brings_its_reference():
    library.define("test_check::double", "(x)")
    library.impl("test_check::double", "Decompose", lambda x: x + x)
    report = library.check("test_check::double", reference=lambda x: 2 * x)
    assert report.is_clean, str(report)
    report = library.check("test_check::double", reference=lambda x: 3 * x)
    assert report.findings[0].kind == "difference"
    inputs = [(np.ones(3, np.float32),)]
    report = library.check("test_check::double", reference=np.square, inputs=inputs)
    assert report.cases == report.failed == 1
    assert "out[0] is 2.0, the reference has 1.0" in str(report)


def test_what_cannot_be_checked_is_told():
    library.define("test_check::none", "(x)")
    with pytest.raises(UnsupportedError, match="no reference"):
        library.check("test_check::none")
    with pytest.raises(UnsupportedError, match="no function"):
        library.check("test_check::none", reference=np.abs)
    with pytest.raises(OpNotFoundError):
        library.check("test_check::unknown")


def test_inputs_that_check_nothing_are_refused():
    for inputs in ([], [np.ones(3, np.float32)], [2.0]):
        with pytest.raises(UnsupportedError, match="check got"):
            library.check("exp", inputs=inputs)


def test_an_error_of_the_function_is_a_finding():
    def raises(x, out=None):
        return cuda.device_array(x.shape, x.dtype)[5, 5, 5, 5, 5]

    with library.override("exp", "simgpu", raises):
        report = library.check("exp")
    assert report.failed == report.cases
    assert "Error" in report.findings[0].kind
