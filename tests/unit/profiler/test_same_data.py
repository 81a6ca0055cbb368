"""What a copy's record tells of its data. The findings: see test_copy_findings.py."""

from __future__ import annotations

import pytest

from tinytorch_gpu.profiler.same_data import (
    argument_of,
    is_argument,
    is_of_tensor,
    keep_fix,
    place,
    same_line,
)


def test_copies_of_host_arrays_name_their_argument(copy):
    implicit = copy(reason="host array argument `x` of increment")
    assert is_argument(implicit)
    assert argument_of(implicit) == "x"
    assert not is_of_tensor(implicit)
    assert not is_argument(copy())


@pytest.mark.parametrize(
    ("reason", "direction", "told"),
    [
        ("to('simgpu')", "h2d", 'data.to("simgpu")'),
        ("copy_to_device", "h2d", "cuda.to_device(data)"),
        ("to('cpu')", "d2h", "result.cpu()"),
        ("copy_to_host", "d2h", "x.copy_to_host()"),
    ],
)
def test_what_keeps_tensors_and_what_keeps_arrays(copy, reason, direction, told):
    one = copy(reason=reason, direction=direction)
    assert told in keep_fix(one)
    assert is_of_tensor(one) is reason.startswith("to(")


def test_a_number_is_read_as_it_was(copy):
    small = {"direction": "d2h", "nbytes": 16}
    assert "x.copy_to_host(host)" in keep_fix(copy(reason="copy_to_host", **small))
    assert "loss.item()" in keep_fix(copy(reason="float(loss)", **small))


def test_lines_are_told_by_file_number_and_reason(copy):
    here = copy(origin=("/lessons/train.py", 12))
    assert place(here) == " (train.py, line 12)"
    assert place(copy()) == ""
    assert same_line(here) == same_line(copy(origin=here.origin, address=512))
    assert same_line(here) != same_line(copy(origin=here.origin, reason="other"))
