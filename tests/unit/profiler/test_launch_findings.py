"""Findings on launches and waits, from records made by hand."""

from __future__ import annotations

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.profiler.bill import Bill, bill_of
from tinytorch_gpu.profiler.case import Case
from tinytorch_gpu.profiler.launch_findings import LAUNCH_FINDINGS
from tinytorch_gpu.trace import SynchronizeRecord

T4 = find_gpu("t4")


def found(records):
    bill = sum(map(bill_of, records), Bill())
    case = Case(tuple(records), bill, bill.total_ns, T4)
    every = [candidate for cause in LAUNCH_FINDINGS for candidate in cause(case)]
    return {candidate.kind: candidate for candidate in every}


def test_twice_the_batch_halves_the_launches(launch):
    larger = found([launch()] * 10)["larger batches"]
    assert larger.saves_ns == 10 * 5000 / 2
    assert "10 launches cost the host 5.00 µs each" in larger.sentence
    assert "run 3.00 µs on average" in larger.sentence


def test_long_kernels_are_not_launch_bound(launch):
    long = launch(duration_ns=9000.0, elapsed_ns=9000.0)
    assert "larger batches" not in found([long] * 10)


def test_launches_of_one_kernel_in_a_row(launch, op):
    """Each of the 3 further ones costs 2 µs of issue and a floor of 2.5 µs."""
    row = [launch(duration_ns=6e3, elapsed_ns=8e3), op("tinytorch::add")] * 4
    batch = found(row)["batch these launches"]
    assert batch.saves_ns == 3 * (2000 + T4.kernel_floor_ns)
    assert "4 launches of add_kernel follow one another in 1 row" in batch.sentence
    mixed = [launch(), launch(kernel="mul_kernel")] * 4
    assert "batch these launches" not in found(mixed)
    assert "batch these launches" not in found(row[:6])


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


def test_the_last_synchronisation_is_enough(launch):
    wait = SynchronizeRecord("device", "synchronize", "", 0.0, 7000.0, 5000.0)
    once = found([launch(), wait, launch(), wait, launch(), wait])["synchronize once"]
    assert sorted(once.savings) == [1, 3]
    assert "3 synchronisations" in once.sentence
    assert "synchronize once" not in found([launch(), wait])
