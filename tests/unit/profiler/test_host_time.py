"""Host time of each kind of work."""

from __future__ import annotations

from tinytorch_gpu.profiler.host_time import host_ns
from tinytorch_gpu.trace import HostRecord, SynchronizeRecord


def test_launches_and_copies_cost_their_issue(launch, copy):
    assert host_ns(launch(issue_ns=5000.0, duration_ns=1.0)) == 5000
    assert host_ns(copy(issue_ns=7000.0, elapsed_ns=9000.0)) == 7000


def test_waits_and_other_work_cost_their_duration():
    assert host_ns(SynchronizeRecord("device", "", "", 0.0, 9.0, 4.0)) == 9
    assert host_ns(HostRecord("cudaMalloc", "", 0.0, 8.0, 0.0)) == 8
