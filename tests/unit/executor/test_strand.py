"""A strand runs to its next barrier, and is given what the barrier gives."""

import pytest

from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.barrier import arrive
from tinytorch_gpu.executor.strand import Strand


@pytest.fixture
def batch():
    return Batch((1, 1, 1), (32, 1, 1), first=0, count=1)


def test_a_program_without_barriers_runs_to_its_end(batch):
    seen = []
    strand = Strand(
        batch, lambda *given: seen.append(given), (5, 6), is_resumable=False
    )
    strand.advance()
    assert seen == [(batch, batch.entry, 5, 6)]
    assert strand.arrival is None


def test_a_program_with_barriers_stops_at_each(batch, site_at):
    seen = []

    def program(batch, mask, argument):
        seen.append((yield arrive(batch, mask, site_at(1), "count", argument)))
        seen.append((yield arrive(batch, mask, site_at(2), "block")))

    strand = Strand(batch, program, (7,), is_resumable=True)
    strand.advance()
    assert (strand.arrival.kind, strand.arrival.predicate, seen) == ("count", 7, [])
    assert strand.arrival.call == "syncthreads_count()"
    strand.advance(32)
    assert (strand.arrival.site, seen) == (site_at(2), [32])
    strand.advance()
    assert (strand.arrival, seen) == (None, [32, None])
