"""`sanitize` watches a block: what it reports, prints, repeats and leaves behind."""

import contextlib

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda, settings, tinytorch
from tinytorch_gpu.demo import digits, training
from tinytorch_gpu.errors import (
    BarrierDivergenceError,
    KernelWarning,
    OutOfBoundsError,
    SettingsError,
)
from tinytorch_gpu.integration import installed
from tinytorch_gpu.memory import hooks
from tinytorch_gpu.runtime import current_device
from tinytorch_gpu.runtime.watching import watchers


@cuda.jit
def total(x, out):
    out[0] += x[cuda.threadIdx.x]


@cuda.jit
def double(x):
    x[cuda.grid(1)] += x[cuda.grid(1)]


@cuda.jit
def keep(x, out):
    out[cuda.grid(1)] = x[cuda.grid(1)]


def ones(n):
    return cuda.to_device(np.ones(n, np.float32))


def unwritten(n):
    return cuda.device_array(n, np.float32)


def kinds(report):
    return [(f.kind, report.times(f)) for f in report.findings]


def test_a_clean_block_prints_nothing(capsys):
    with simgpu.sanitize() as report:
        double[1, 8](ones(8))
    assert (report.launches, report.kernels, report.findings) == (1, {"double"}, ())
    assert capsys.readouterr().out == ""


def test_a_note_is_not_printed(capsys):
    @cuda.jit
    def all_say_one(x):
        x[0] = 1

    with simgpu.sanitize() as report:
        all_say_one[1, 8](ones(1))
    assert kinds(report) == [("same_value_race", 1)]
    assert capsys.readouterr().out == ""


def test_errors_are_printed_once_if_asked_for(capsys):
    for show in (True, False):
        with simgpu.sanitize(show=show):
            total[1, 64](ones(64), ones(1))
    printed = capsys.readouterr().out
    assert printed.count("1 error, no warnings") == 1
    assert printed.count("error: race") == 1


def test_the_report_is_printed_after_an_error_too(capsys):
    with contextlib.suppress(KeyError), simgpu.sanitize():
        total[1, 64](ones(64), ones(1))
        raise KeyError
    assert "error: race" in capsys.readouterr().out


def test_repeated_launches_are_one_finding():
    x, out = ones(64), ones(1)
    with simgpu.sanitize(show=False) as report:
        for _ in range(3):
            total[1, 64](x, out)
        double[1, 64](x)
    assert kinds(report) == [("race", 3)]
    assert report.launches == 4


def test_replayed_launches_are_looked_at():
    x, out = ones(64), ones(1)
    total[1, 64](x, out)
    total[1, 64](x, out)
    with simgpu.sanitize(show=False) as report:
        total[1, 64](x, out)
    assert kinds(report) == [("race", 1)]


def test_without_counters_faults_are_found_and_float64_is_not_noted():
    @cuda.jit
    def wide(x):
        x[cuda.grid(1)] = x[cuda.grid(1)] * 0.1

    reports = []
    for counters in (True, False):
        with (
            settings.override(counters=counters),
            simgpu.sanitize(show=False) as report,
        ):
            total[1, 64](ones(64), ones(1))
            wide[1, 8](ones(8))
        reports.append([kind for kind, _ in kinds(report)])
    assert reports == [["race", "float64_arithmetic"], ["race"]]


def test_a_block_in_a_block_reports_to_both():
    with simgpu.sanitize(show=False) as outer:
        x = unwritten(8)
        with simgpu.sanitize(show=False) as inner:
            keep[1, 8](x, ones(8))  # the inner one has not seen it allocated
            total[1, 64](ones(64), ones(1))
        total[1, 64](ones(64), ones(1))
    assert kinds(inner) == [("race", 1)]
    assert sorted(kinds(outer)) == [("race", 2), ("uninitialized_read", 1)]


def test_nothing_is_left_behind():
    before = hooks.watches, current_device().allocator.is_traced
    with contextlib.suppress(KeyError), simgpu.sanitize(show=False):
        raise KeyError
    assert (hooks.watches, current_device().allocator.is_traced) == before
    assert watchers() == ()


@pytest.mark.parametrize(
    "wrong", [{"schedule": "random"}, {"seeds": -1}, {"schedule": ""}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(SettingsError, match="sanitize"), simgpu.sanitize(**wrong):
        pass  # pragma: no cover


# Launches that stop.


def test_a_launch_that_stops_is_reported_and_raises():
    with simgpu.sanitize(show=False) as report:
        with pytest.raises(OutOfBoundsError):
            double[1, 9](ones(8))
        double[1, 8](ones(8))
    assert kinds(report) == [("out_of_bounds", 1)]
    assert report.launches == 2


def test_what_a_launch_wrote_before_it_stopped_is_unwritten_again():
    @cuda.jit
    def fill_then_fail(x):
        x[cuda.grid(1)] = 1
        cuda.syncthreads()
        if cuda.grid(1) == 0:
            x[x.size] = 1

    with simgpu.sanitize(show=False) as report:
        x = unwritten(8)
        x[:2].copy_to_device(np.ones(2, np.float32))
        with pytest.raises(OutOfBoundsError):
            fill_then_fail[1, 8](x)
        keep[1, 8](x, ones(8))
    found = {f.kind: f.count for f in report.findings}
    assert found == {"out_of_bounds": 1, "uninitialized_read": 6}


def test_races_before_the_stop_are_reported():
    @cuda.jit
    def race_then_part(x):
        x[0] = cuda.grid(1)
        if cuda.grid(1) < 3:
            cuda.syncthreads()

    with simgpu.sanitize(show=False) as report, pytest.raises(BarrierDivergenceError):
        race_then_part[1, 8](ones(1))
    assert sorted(kinds(report)) == [("divergent_barrier", 1), ("race", 1)]


def test_warnings_with_a_name_are_findings_and_others_stay_warnings():
    @cuda.jit
    def before_first(x):
        x[0] = x[cuda.threadIdx.x - 1]

    with simgpu.sanitize(show=False) as report:
        before_first[1, 1](ones(4))
    assert kinds(report) == [("negative_index", 1)]
    with pytest.warns(KernelWarning):
        before_first[1, 1](ones(4))


# Repetitions.


def test_another_order_is_told_once_with_its_seed():
    @cuda.jit
    def last_wins(x):
        x[0] = cuda.grid(1)

    for options in ({"schedule": "shuffled"}, {"seeds": 3}):
        x = ones(1)
        with simgpu.sanitize(show=False, **options) as report:
            last_wins[8, 32](x)
        (found,) = [f for f in report.findings if f.kind == "order_dependence"]
        assert (found.level, found.array, found.index) == ("warning", "x", (0,))
        assert x.copy_to_host().tolist() == [255]


def test_a_right_kernel_gives_the_same_in_all_orders():
    with simgpu.sanitize(show=False, schedule="shuffled") as report:
        double[8, 32](ones(256))
    assert report.findings == ()


def test_threads_print_once(capsys):
    @cuda.jit
    def say(x):
        print("seen", x[0])

    with simgpu.sanitize(show=False, seeds=2):
        say[1, 1](unwritten(1))
    assert capsys.readouterr().out == "seen nan\n"


# Memory and streams.


def test_leaks_are_told_if_asked_for(own_memory):
    for check in (True, False):
        with simgpu.sanitize(show=False, leak_check=check) as report:
            held = ones(4)
            ones(8)
        assert [f.count for f in report.findings] == [held.nbytes] * check


def test_use_after_free_is_reported(own_memory):
    with simgpu.sanitize(show=False) as report:
        x = ones(4)
        cuda.current_context().reset()
        with pytest.raises(simgpu.errors.SimGPUError):
            double[1, 4](x)
    assert [f.kind for f in report.findings] == ["use_after_free"]


def test_two_streams_race_unless_one_waits():
    first, second, done = cuda.stream(), cuda.stream(), cuda.event()
    x = ones(32)
    with simgpu.sanitize(show=False) as report:
        double[1, 32, first](x)
        done.record(first)
        done.wait(second)
        double[1, 32, second](x)
    assert report.findings == ()
    with simgpu.sanitize(show=False) as report:
        double[1, 32, first](x)
        double[1, 32, second](x)
    assert {f.level for f in report.findings} == {"error"}
    assert all("different streams" in f.why for f in report.errors)


def test_a_training_has_no_error():
    found = digits.load_digits()
    few = digits.Digits(*(part[:96] for part in vars(found).values()))
    plan = training.Plan(epochs=1, batch=32)
    core = installed("t4", package=tinytorch.__name__)
    with core, simgpu.sanitize(show=False) as report:
        training.train(few, "simgpu", plan, lambda: None)
    assert report.errors == report.warnings == ()
    assert report.launches > 100
