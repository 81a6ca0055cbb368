"""Findings on launches and waits, from records made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import kernel_time
from tinytorch_gpu.profiler.bill import Bill, bill_of
from tinytorch_gpu.profiler.case import Case
from tinytorch_gpu.profiler.launch_findings import LAUNCH_FINDINGS
from tinytorch_gpu.profiler.verdict import judge
from tinytorch_gpu.trace import HostRecord, SynchronizeRecord

T4 = find_gpu("t4")


def found(records):
    bill = sum(map(bill_of, records), Bill())
    case = Case(tuple(records), bill, bill.total_ns, T4)
    every = [candidate for cause in LAUNCH_FINDINGS for candidate in cause(case)]
    return {candidate.kind: candidate for candidate in every}


def test_twice_the_batch_halves_the_launches(launch):
    """4 blocks become 8 on 40 SMs: the kernel of two takes as long as that of one."""
    larger = found([launch()] * 10)["larger batches"]
    assert larger.saves_ns == 10 * 5000 / 2
    assert "10 launches, whether the device waits for them or not" in larger.sentence
    assert "cost the host 5.00 µs each while" in larger.sentence
    assert "run 3.00 µs on average" in larger.sentence


def test_a_full_gpu_takes_longer_for_a_larger_batch(launch, counts):
    """The kernel of two sticks out of its issue by what the model says beyond 2 µs."""
    work, grid = counts(instructions=10**6, active_lanes=32 * 10**6), (160, 1, 1)
    twice = counts(instructions=2 * 10**6, active_lanes=64 * 10**6)
    doubled = replace(twice, accesses=tuple(map(two_times, twice.accesses)))
    shape = {"block": (256, 1, 1), "shared_bytes": 0, "spec": T4}
    grows = kernel_time(doubled, (320, 1, 1), **shape).duration_ns
    grows -= kernel_time(work, grid, **shape).duration_ns
    assert 2000 < grows < 7000
    full = launch(counts=work, grid=grid, theoretical_occupancy=1.0)
    larger = found([full] * 10)["larger batches"]
    assert larger.saves_ns == pytest.approx(10 * (5000 - (grows - 2000)) / 2)


def two_times(access):
    names = ("requests", "sectors", "active_lanes", "bytes_requested", "bytes_used")
    changed = {name: 2 * getattr(access, name) for name in names}
    return replace(access, **changed, array_bytes=2 * access.array_bytes)


def test_launches_that_nobody_waits_for_are_told_apart(launch):
    """Their kernels have a floor that a larger batch pays once; the verdict's do wait."""
    long = launch(duration_ns=12_000.0, elapsed_ns=14_000.0)
    records = [long, launch(elapsed_ns=3000.0), *[launch()] * 5]
    larger = found(records)["larger batches"]
    assert "6 launches, whether the device waits for them or not" in larger.sentence
    assert larger.savings[1] == 3000 / 2
    assert "device waits for 5 of 7 launches" in judge(records, spec=T4).sentences[0]


def test_long_kernels_are_not_launch_bound(launch):
    long = launch(duration_ns=9000.0, elapsed_ns=9000.0)
    assert "larger batches" not in found([long] * 10)


def test_launches_of_one_kernel_in_a_row(launch, op):
    """4 times 4 blocks on 40 SMs take as long as 4: all 3 further ones are saved."""
    row = [launch(duration_ns=6e3, elapsed_ns=8e3), op("tinytorch::add")] * 4
    batch = found(row)["batch these launches"]
    assert batch.saves_ns == 3 * 8000
    assert "4 launches of add_kernel follow one another in 1 row and take 32.0 µs" in (
        batch.sentence
    )
    assert "one launch a row does it in 8.00 µs" in batch.sentence
    mixed = [launch(), launch(kernel="mul_kernel")] * 4
    assert "batch these launches" not in found(mixed)
    assert "batch these launches" not in found(row[:6])


def test_of_launches_without_counts_the_overhead_is_saved(launch):
    """Each of the 3 further ones costs 2 µs of issue and a floor of 2.5 µs."""
    row = [launch(duration_ns=6e3, elapsed_ns=8e3, counts=None)] * 4
    batch = found(row)["batch these launches"]
    assert batch.saves_ns == 3 * (2000 + T4.kernel_floor_ns)


def test_the_kernels_of_a_decomposed_op_are_fused(launch, op):
    parts = [launch("exp", elapsed_ns=4000.0), op("exp", "sigmoid"), launch("add")]
    records = [*parts, op("add", "sigmoid"), op("sigmoid", key="Decompose")]
    fuse = found(records * 2)["fuse these ops"]
    assert fuse.saves_ns == 2 * 4000  # the dearest launch of a call stays
    assert "sigmoid has no kernel of its own and ran as 2 launches a call" in (
        fuse.sentence
    )


def test_a_decomposition_into_one_launch_is_nothing_to_fuse(launch, op):
    records = [launch("b"), op("b", "a"), op("a", key="Decompose")]
    assert "fuse these ops" not in found(records)


def wait(elapsed_ns=5000.0, kind="device"):
    return SynchronizeRecord(kind, "synchronize", "", 0.0, 7000.0, elapsed_ns)


def test_the_last_synchronisation_is_enough(launch):
    once = found([launch(), wait(), launch(), wait(), launch(), wait()])
    assert sorted(once["synchronize once"].savings) == [1, 3]
    assert "3 synchronisations" in once["synchronize once"].sentence
    assert "synchronize once" not in found([launch(), wait()])


@pytest.mark.parametrize(("duration_ns", "lost_ns"), [(3000.0, 3000), (9000.0, 5000)])
def test_a_wait_keeps_host_and_device_from_working_together(
    launch, duration_ns, lost_ns
):
    """The shorter of issue and kernel would hide, but for that of the first launch."""
    turn = [launch(duration_ns=duration_ns, elapsed_ns=5000 + duration_ns), wait()]
    once = found(turn * 4)["synchronize once"]
    assert once.savings == {1: 5000, 3: 5000, 5: 5000} | dict.fromkeys(
        (2, 4, 6), lost_ns
    )
    assert "host and device take turns" in once.sentence


def test_a_wait_for_nothing_loses_nothing(launch):
    """No kernel ran before it that the launch after it could have been issued under."""
    first = [wait(), launch(elapsed_ns=8000.0), wait()]
    assert sorted(found(first)["synchronize once"].savings) == [0]


def calls(*reasons):
    for reason in reasons:
        if reason == "cudaFree":
            yield wait()
        yield HostRecord(reason, "", 0.0, 9e4, 9e4)


def test_memory_that_is_given_back_and_asked_for_again(launch):
    """Of 3 cudaMallocs the first is needed; after 2 cudaFrees 2 are asked again."""
    turn = [*calls("cudaMalloc"), launch(), *calls("cudaFree")]
    keep = found(turn * 2 + [*calls("cudaMalloc", "cudaMalloc"), launch()])
    assert keep["keep memory"].saves_ns == 2 * 5e3 + 2 * 9e4 + 2 * 9e4
    assert "2 calls of cudaFree, and 2 of cudaMalloc after them, cost 370 µs" in (
        keep["keep memory"].sentence
    )
    assert "empty_cache" in keep["keep memory"].fix
    assert "synchronize once" not in keep


def test_memory_that_is_kept_is_no_finding(launch):
    assert "keep memory" not in found([*calls("cudaMalloc", "cudaMalloc"), launch()])
