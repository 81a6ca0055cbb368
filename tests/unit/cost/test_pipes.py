"""Each pipe by hand, on the toy GPU: one SM, 1 GHz, 32 GB/s, 64 KiB of L2."""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import pipes

TOY = find_gpu("toy")
T4 = find_gpu("t4")


def test_dram_moves_an_array_that_fits_once(access, counts):
    reread = access(requests=80, sectors=320, array_bytes=128)
    assert pipes.dram_bytes(counts(reread), TOY) == 128


def test_dram_moves_loads_and_stores_of_one_array(access, counts):
    both = counts(access(), access(kind="store"))
    assert pipes.dram_bytes(both, TOY) == 2 * 128


def test_dram_moves_no_more_than_was_asked_for(access, counts):
    one_sector = access(requests=1, sectors=1, array_bytes=4096)
    assert pipes.dram_bytes(counts(one_sector), TOY) == 32


def test_dram_moves_whole_sectors(access, counts):
    scalar = access(requests=9, sectors=9, array_bytes=4)
    assert pipes.dram_bytes(counts(scalar), TOY) == 32


def test_dram_moves_every_sector_when_the_arrays_do_not_fit(access, counts):
    large = counts(access(sectors=10_000, array_bytes=60_000), access("y"))
    assert pipes.dram_bytes(large, TOY) == 32 * 10_004


def test_an_atomic_moves_its_sectors_in_and_out(access, counts):
    fits = counts(access(kind="atomic", sectors=320, array_bytes=128))
    assert pipes.dram_bytes(fits, TOY) == 2 * 128
    large = counts(access(kind="atomic", sectors=10_000, array_bytes=60_000))
    assert pipes.dram_bytes(large, TOY) == 2 * 32 * 10_000


def test_shared_memory_does_not_reach_dram(access, counts):
    tile = counts(access(space="shared", wavefronts=1000, array_bytes=0))
    assert pipes.dram_bytes(tile, TOY) == 0
    assert pipes.l2_clocks(tile, TOY) == 0
    assert pipes.shared_clocks(tile, TOY) == 1000


def test_dram_time_uses_the_bandwidth_that_a_stream_reaches(access, counts):
    stream = counts(access(sectors=4, array_bytes=128))
    assert pipes.dram_ns(stream, T4) == pytest.approx(128 / (320 * 0.87))


@pytest.mark.parametrize(
    ("pipe", "totals", "clocks"),
    [
        ("fp32", {"fp32": 6400}, 6400 / 64),
        ("fp64", {"fp64": 6400}, 6400 / 2),
        ("special", {"special": 6400}, 6400 / 4),
        ("issue", {"instructions": 60, "branches": 4}, 64),
    ],
)
def test_sm_pipes(pipe, totals, clocks, counts):
    assert pipes.SM_PIPES[pipe](counts(**totals), TOY) == clocks


def test_sustained_share_slows_float32(counts):
    work = counts(fp32=6400)
    assert pipes.fp32_clocks(work, T4) == 6400 / (2 * 64 * 0.5)
