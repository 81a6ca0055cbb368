"""What a profile refuses: in four parts, before anything has an effect."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.profiler import ProfilerAction, profile, schedule
from tinytorch_gpu.profiler.profile_checks import (
    action_of,
    check_function,
    check_kernel,
    check_width,
)
from tinytorch_gpu.runtime import current_device


@cuda.jit
def add_one(x):
    x[cuda.grid(1)] += 1


def refused(act, match):
    """Run what is refused; return its error, which has four parts."""
    with pytest.raises(UnsupportedError, match=match) as caught:
        act()
    error = caught.value
    assert all((error.what, error.where, error.why, error.fix))
    assert len(str(error).splitlines()) <= 12
    return error


def works(x, expected):
    """Tell whether the device takes copies and launches, and their values are right."""
    add_one[1, 4](x)
    return x.copy_to_host().tolist() == [expected] * 4


NO_ACTIONS = [3, 0, None, "RECORD", True, ProfilerAction, [ProfilerAction.RECORD]]


@pytest.mark.parametrize("action", NO_ACTIONS)
def test_a_schedule_that_returns_no_action_is_refused_when_the_profile_is_made(action):
    x, listeners = cuda.to_device(np.zeros(4)), current_device().timeline.listeners
    before = len(listeners)
    error = refused(lambda: profile(schedule=lambda _: action), "for step 0")
    assert "RECORD_AND_SAVE" in error.why
    assert len(listeners) == before
    assert works(x, 1)


@pytest.mark.parametrize("action", NO_ACTIONS)
@pytest.mark.parametrize("first", [ProfilerAction.NONE, ProfilerAction.RECORD])
def test_one_that_does_so_later_is_refused_at_that_step(action, first):
    x = cuda.to_device(np.zeros(4))
    with profile(schedule=lambda step: first if step < 2 else action) as prof:
        assert works(x, 1)
        prof.step()
        assert works(x, 2)
        for _ in range(2):  # asked again, refused again
            refused(prof.step, "for step 2")
            assert prof.step_num == 1
        assert works(x, 3)
    assert current_device().timeline.listeners.count(prof._listen) == 0
    assert works(x, 4)
    assert len(prof.kernels()) == (1 if first.is_recording else 0)


def test_a_schedule_that_fails_leaves_the_profile_at_its_step():
    x = cuda.to_device(np.zeros(4))
    with profile(schedule=lambda step: [ProfilerAction.RECORD][step]) as prof:
        with pytest.raises(IndexError):
            prof.step()
        assert prof.step_num == 0
        assert works(x, 1)
    assert len(prof.kernels()) == 1


def test_what_our_schedule_returns_is_taken():
    plan = schedule(wait=1, warmup=1, active=1)
    assert [action_of(plan, step).name for step in range(3)] == [
        "NONE",
        "WARMUP",
        "RECORD_AND_SAVE",
    ]


@pytest.mark.parametrize("value", [None, print, lambda: 0])
def test_functions_and_none_are_taken(value):
    check_function("schedule", value, "")


def test_grouping_by_shapes_needs_shapes():
    with profile() as prof:
        pass
    error = refused(
        lambda: prof.key_averages(group_by_input_shape=True), "grouped by input shape"
    )
    assert "record_shapes=True" in error.fix
    with profile(record_shapes=True) as prof:
        pass
    assert len(prof.key_averages(group_by_input_shape=True)) == 0
    assert len(prof.key_averages()) == 0


@pytest.mark.parametrize("name", ["no_such", "", 3, ["add_one"], add_one, True])
def test_a_kernel_that_was_not_seen_is_refused_with_those_that_were(name):
    x = cuda.to_device(np.zeros(4))
    with profile() as prof:
        add_one[1, 4](x)
    error = refused(lambda: prof.kernels(name), "no launch of a kernel")
    assert error.why == "kernels seen: add_one"
    assert [report.name for report in prof.kernels("add_one")] == ["add_one"]


def test_without_launches_there_is_nothing_to_name():
    with profile() as prof:
        pass
    assert prof.kernels() == []
    assert "seen: none" in refused(lambda: prof.kernels("add_one"), "add_one").why


def test_of_many_kernels_the_first_names_are_told():
    names = [f"kernel_{i}" for i in range(20)]
    error = refused(lambda: check_kernel("x", names), "'x'")
    assert error.why.endswith(", ...")
    assert error.why.count("kernel_") == 8


@pytest.mark.parametrize("width", ["a", None, 0, -5, 80.0, True, [80]])
def test_lines_need_a_number_of_columns(width):
    with profile() as prof:
        pass
    refused(lambda: prof.lines(width=width), "width=")


@pytest.mark.parametrize("width", [1, 80, np.int64(100)])
def test_numbers_of_columns_are_taken(width):
    check_width(width, "here")
