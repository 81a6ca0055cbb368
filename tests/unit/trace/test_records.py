"""Records are frozen facts; a launch's totals are the sums of its lines."""

import dataclasses
import pickle

import pytest

from tinytorch_gpu.trace import (
    AccessCounts,
    CopyRecord,
    LaunchCounts,
    LineCounts,
    SourceLine,
)

LINE = SourceLine("k", "k.py", 3, "out[i] = x[i]")


def access(**changes):
    given = AccessCounts(LINE, "x", "global", "load", 10, 40, 320, 1280, 4000)
    return dataclasses.replace(given, **changes)


def line(**changes):
    return dataclasses.replace(LineCounts(LINE, 10, 320, 2, 1, 32, 0, 64, 0), **changes)


def test_sectors_per_request_of_an_access():
    assert access().sectors_per_request == 4.0
    assert access(requests=0, sectors=0).sectors_per_request == 0.0


def test_bytes_moved_and_used():
    used = access(bytes_used=320)  # 40 sectors × 32 bytes
    assert (used.bytes_moved, used.coalescing_efficiency) == (1280, 0.25)
    assert access(sectors=0).coalescing_efficiency == 1.0


def test_bank_conflicts_are_passes_beyond_the_fewest():
    passes = {"wavefronts": 70, "ideal_wavefronts": 20}
    shared = access(space="shared", **passes)
    assert (shared.bank_conflicts, shared.wavefronts_per_request) == (50, 7.0)
    assert access(**passes).bank_conflicts == 0
    assert access(requests=0).wavefronts_per_request == 0.0


def test_efficiencies_of_a_line():
    assert line(active_lanes=80).warp_execution_efficiency == 0.25  # of 10 × 32
    assert line().branch_efficiency == 0.5
    nothing = line(instructions=0, branches=0)
    assert (nothing.warp_execution_efficiency, nothing.branch_efficiency) == (1.0, 1.0)


def test_totals_leave_shared_memory_out():
    shared = access(space="shared", sectors=999)
    counts = LaunchCounts((access(), shared, access(sectors=80)), (), 0)
    assert (counts.requests, counts.sectors) == (20, 120)
    assert counts.sectors_per_request == 6.0
    assert len(counts.global_accesses) == 2


def test_a_field_is_summed_over_lines():
    counts = LaunchCounts((), (line(), line(fp32=8)), 0)
    assert counts.total("fp32") == 40
    assert counts.total("instructions") == 20


def test_equal_counts_are_equal_and_pickle():
    counts = LaunchCounts((access(),), (line(),), 4)
    assert counts == LaunchCounts((access(),), (line(),), 4)
    assert pickle.loads(pickle.dumps(counts)) == counts


def test_records_are_frozen():
    record = CopyRecord("h2d", 4, "why", "", False, 0.0, 1.0, 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.bytes = 5
