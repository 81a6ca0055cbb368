"""`profile`: what it hears, and when."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tinytorch_gpu import cuda, library, profiler, settings
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import KernelTime
from tinytorch_gpu.errors import TraceFileError, UnsupportedError
from tinytorch_gpu.profiler import profile, schedule
from tinytorch_gpu.runtime.device import Device, current_device
from tinytorch_gpu.runtime.timeline import Timeline
from tinytorch_gpu.trace import KernelSource, OpRecord


@pytest.fixture
def device():
    """Give a device that has only a timeline."""
    return SimpleNamespace(timeline=Timeline(find_gpu("t4")))


def _launch(device, name="add_kernel", duration_ns=2600.0):
    return device.timeline.add_launch(
        kernel=KernelSource(name, "add.py", 3),
        grid=(1, 1, 1),
        block=(32, 1, 1),
        shared_bytes=0,
        counts=None,
        is_replayed=False,
        time=KernelTime(duration_ns, "floor", {}),
    )


def test_hears_what_happens_within_the_block(device):
    _launch(device)
    with profile(_device=device) as prof:
        inside = _launch(device)
    _launch(device)
    assert prof.events() == (inside,)


def test_stops_and_keeps_its_records_when_the_block_fails(device):
    prof = profile(_device=device)

    def fail():
        with prof:
            _launch(device)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert len(prof.events()) == 1
    assert device.timeline.listeners == []


def test_nested_profiles_both_hear(device):
    with profile(_device=device) as outer:
        _launch(device)
        with profile(_device=device) as inner:
            _launch(device)
        _launch(device)
    assert (len(outer.events()), len(inner.events())) == (3, 1)


def test_a_profile_used_again_keeps_its_records(device):
    prof = profile(_device=device)
    with prof:
        first = _launch(device)
    _launch(device)
    with prof:
        second = _launch(device)
    assert prof.events() == (first, second)
    assert device.timeline.listeners == []


def test_a_profile_entered_within_itself_hears_once_and_to_the_end(device):
    prof = profile(_device=device)
    with prof:
        with prof:
            first = _launch(device)
        second = _launch(device)
    assert prof.events() == (first, second)
    assert device.timeline.listeners == []


def test_steps_of_a_schedule_are_handed_over_each_cycle(device):
    told = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(
        schedule=plan, on_trace_ready=lambda p: told.append(p.events()), _device=device
    ) as prof:
        launches = []
        for _ in range(10):
            launches.append(_launch(device))
            prof.step()
    assert told == [tuple(launches[2:4]), tuple(launches[6:8])]
    assert prof.events() == tuple(launches[6:8])


def test_a_cycle_that_the_block_ends_is_handed_over_too(device):
    told = []
    plan = schedule(wait=0, warmup=1, active=5)
    with profile(
        schedule=plan, on_trace_ready=lambda p: told.append(p.events()), _device=device
    ) as prof:
        _launch(device)
        prof.step()
        record = _launch(device)
    assert told == [(record,)]


def test_without_a_schedule_the_trace_is_ready_at_the_end(device):
    told = []
    with profile(on_trace_ready=lambda p: told.append(p.events()), _device=device) as p:
        first = _launch(device)
        p.step()
        second = _launch(device)
        assert told == []
    assert told == [(first, second)]


def test_lines_of_the_user_are_kept_on_request(device):
    with profile(with_stack=True, _device=device) as prof:
        _launch(device)
        device.timeline.synchronize()
    assert [record.origin[0] for record in prof.events()] == [__file__, __file__]
    with profile(_device=device) as prof:
        _launch(device)
    assert prof.events()[0].origin is None


def test_kernels_are_reported_once_for_equal_launches_the_dearest_first(device):
    with profile(_device=device) as prof:
        _launch(device)
        _launch(device, "b_kernel", 9000.0)
        _launch(device)
    assert [(r.name, r.launches) for r in prof.kernels()] == [
        ("b_kernel", 1),
        ("add_kernel", 2),
    ]
    assert [r.name for r in prof.kernels("add_kernel")] == ["add_kernel"]


def test_start_and_stop_without_a_block(device):
    prof = profile(_device=device)
    prof.stop()
    prof.start()
    _launch(device)
    prof.stop()
    prof.stop()
    _launch(device)
    assert len(prof.events()) == 1


@pytest.mark.parametrize(("record_shapes", "shapes"), [(False, ()), (True, ((2, 3),))])
def test_shapes_are_kept_on_request(device, record_shapes, shapes):
    with profile(record_shapes=record_shapes, _device=device) as prof:
        device.timeline.add_op(OpRecord("add", "", "SimGPU", None, ((2, 3),)))
    assert prof.events()[0].shapes == shapes


def test_averages_hold_synchronisations_of_the_block_only(device):
    device.timeline.synchronize()
    with profile(_device=device) as prof:
        _launch(device)
        before = device.timeline.elapsed_ns
        device.timeline.synchronize()
        device.timeline.synchronize()
    device.timeline.synchronize()
    averages = prof.key_averages()
    assert {row.op: row.calls for row in averages}["(synchronize)"] == 2
    assert averages.bill.synchronize_ns == 10_000
    assert averages.bill.total_ns == before - 5000 + 10_000
    assert prof.verdict().synchronize_ns == 10_000


def test_may_be_asked_while_it_listens(device):
    with profile(_device=device) as prof:
        _launch(device)
        device.timeline.synchronize()
        assert len(prof.key_averages()) == 2
        _launch(device)
    assert prof.key_averages().bill.synchronize_ns == 5000


def test_a_reset_within_the_block_loses_nothing(device):
    with profile(_device=device) as prof:
        _launch(device)
        device.timeline.synchronize()
        device.timeline.reset()
        _launch(device)
    assert prof.key_averages().bill.total_ns == 7600 + 5000 + 7600


def test_a_device_that_changes_its_gpu_does_not_confuse_it(device):
    old = device.timeline
    with profile(_device=device) as prof:
        _launch(device)
        device.timeline = Timeline(find_gpu("a100"))
        _launch(device)
    assert len(prof.events()) == 1
    assert old.listeners == []
    assert prof.key_averages().device == "Tesla T4"


def test_listens_to_the_current_device_by_default():
    with profile() as prof:
        record = _launch(current_device())
    assert prof.events() == (record,)


def test_text_is_table_and_verdict(device):
    with profile(_device=device) as prof:
        _launch(device)
    assert str(prof) == f"{prof.key_averages()}\n\n{prof.verdict()}"


def test_lines_shows_all_kernels_or_the_named_one(device):
    with profile(_device=device) as prof:
        _launch(device)
    head = "add_kernel (add.py:3) on Tesla T4: grid (1, 1, 1) × block (32, 1, 1)"
    assert prof.lines().startswith(head)
    assert prof.lines("add_kernel") == prof.lines()
    assert prof.lines("mul_kernel") == "no kernel was launched"


def test_lines_names_no_gpu_when_it_changed_meanwhile():
    device = Device(find_gpu("t4"))
    with profile(_device=device) as prof:
        device.model(find_gpu("a100"))
        _launch(device)
    assert prof.lines().startswith("add_kernel (add.py:3): grid")


@pytest.mark.parametrize("question", ["kernels", "key_averages", "lines", "verdict"])
def test_a_profile_that_never_listened_says_so(question):
    with pytest.raises(UnsupportedError) as caught:
        getattr(profile(), question)()
    assert caught.value.fix


def test_a_profile_goes_on_when_another_gpu_is_modelled():
    device = Device(find_gpu("t4"))
    with profile(_device=device) as prof:
        device.timeline.add_copy(direction="h2d", nbytes=4, reason="before")
        device.model(find_gpu("a100"))
        device.timeline.add_copy(direction="h2d", nbytes=4, reason="after")
    assert [record.reason for record in prof.events()] == ["before", "after"]


@pytest.mark.parametrize("name", ["schedule", "on_trace_ready"])
def test_what_is_no_function_is_refused(name):
    with pytest.raises(UnsupportedError, match=f"{name}=3 is no function") as caught:
        profile(**{name: 3})
    assert all((caught.value.where, caught.value.why, caught.value.fix))


def test_a_chrome_trace_into_a_folder_that_is_not_there(tmp_path):
    with profile() as prof:
        pass
    with pytest.raises(TraceFileError, match=r"trace\.json") as caught:
        prof.export_chrome_trace(tmp_path / "missing" / "trace.json")
    assert all((caught.value.where, caught.value.why, caught.value.fix))


def test_times_of_launches_without_counters_are_told_as_the_least():
    x = cuda.to_device(np.ones((64, 64), np.float32))
    with profiler.profile() as counted:
        library.call("matmul", x, x)
    with settings.override(counters=False), profiler.profile() as prof:
        library.call("matmul", x, x)
    texts = str(prof.key_averages()), str(prof.kernels()[0])
    for text, whole in zip(
        texts, (str(counted.key_averages()), str(counted.kernels()[0])), strict=True
    ):
        assert "at least" in text
        assert "at least" not in whole
    assert "1 of 1 launch had no counters" in str(prof.verdict())
    assert "counters" not in str(counted.verdict())
