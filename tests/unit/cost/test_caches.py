"""Bytes at L1, L2 and DRAM by hand; the toy GPU has 64 KiB of L2 and no L1."""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import dram_bytes, memory_traffic
from tinytorch_gpu.cost.caches import l1_bytes_of_sm
from tinytorch_gpu.trace import LaunchCounts, Reuse

TOY = find_gpu("toy")
A100 = find_gpu("a100")


def sectors(spec, *reuse, **options):
    """Sectors at L1, L2 and DRAM."""
    counts = LaunchCounts((), (), 0, reuse)
    return tuple(n // 32 for n in memory_traffic(counts, spec, **options)[:3])


def test_dram_moves_an_array_that_fits_once(access, counts):
    reread = access(requests=80, sectors=320, array_bytes=128)
    assert dram_bytes(counts(reread), TOY) == 128


def test_dram_moves_loads_and_stores_of_one_array(access, counts):
    both = counts(access(), access(kind="store"))
    assert dram_bytes(both, TOY) == 2 * 128


def test_dram_moves_no_more_than_was_asked_for(access, counts):
    one_sector = access(requests=1, sectors=1, array_bytes=4096)
    assert dram_bytes(counts(one_sector), TOY) == 32


def test_dram_moves_whole_sectors(access, counts):
    scalar = access(requests=9, sectors=9, array_bytes=4)
    assert dram_bytes(counts(scalar), TOY) == 32


def test_dram_moves_again_what_l2_does_not_keep(access, counts):
    # 6,554 sectors, a quarter of which fits in 80 % of 64 KiB; 10,000 come again.
    large = counts(access(sectors=16_554, array_bytes=32 * 6554))
    assert dram_bytes(large, TOY) == 32 * (6554 + 7500)
    whole = counts(access(sectors=16_554, array_bytes=52_000))  # all of it fits
    assert dram_bytes(whole, TOY) == 32 * 1625


def test_dram_moves_every_sector_of_an_array_of_which_l2_keeps_next_to_nothing(
    access, counts
):
    large = counts(access(sectors=10_000, array_bytes=MANY), access("y"))
    assert dram_bytes(large, TOY) == 32 * 10_004


def test_an_atomic_moves_its_sectors_in_and_out(access, counts):
    fits = counts(access(kind="atomic", sectors=320, array_bytes=128))
    assert dram_bytes(fits, TOY) == 2 * 128
    large = counts(access(kind="atomic", sectors=10_000, array_bytes=MANY))
    assert dram_bytes(large, TOY) == 2 * 32 * 10_000


def test_shared_memory_does_not_reach_dram(access, counts):
    tile = counts(access(space="shared", wavefronts=1000, array_bytes=0))
    assert memory_traffic(tile, TOY)[:3] == (0, 0, 0)


MANY = 10**9  # bytes: larger than any L2


@pytest.mark.parametrize(
    ("gpu", "kind", "nbytes", "expected"),
    [
        ("a100", "load", 3200, (400, 300, 100)),  # all 100 sectors stay in L2
        ("a100", "load", MANY, (400, 300, 200)),  # groups of blocks fetch them anew
        ("a100", "store", MANY, (400, 400, 200)),  # stores go through L1
        ("a100", "atomic", MANY, (400, 400, 400)),  # 200 come and go
        ("k20c", "load", MANY, (400, 400, 200)),  # L1 does not keep global loads
        ("c1060", "load", MANY, (400, 400, 400)),  # no caches
    ],
)
def test_levels(gpu, kind, nbytes, expected):
    again = Reuse("x", kind, nbytes, 400, 300, 200, 80, 60, 40, step_lines=8)
    # A second array fills L2 where the first is said to be large.
    full = Reuse("y", "load", nbytes, *[0] * 6)
    if nbytes == MANY:
        again = Reuse("x", kind, nbytes, *(10**6 * n for n in (4, 3, 2) * 2), 8)
        expected = tuple(10**4 * n for n in expected)
    assert sectors(find_gpu(gpu), again, full) == expected


def test_lines_that_do_not_fit_in_l1_come_again():
    # 192 KB hold 1536 lines of 128 bytes.
    fits = Reuse("x", "load", 3200, 400, 300, 100, 80, 60, 20, step_lines=768)
    assert sectors(A100, fits, blocks_per_sm=2) == (400, 300, 100)
    assert sectors(A100, fits, blocks_per_sm=3) == (400, 400, 100)
    assert sectors(A100, fits, blocks_per_sm=2, shared_bytes=1024) == (400, 400, 100)


def test_stores_to_what_was_loaded_count_once_for_the_footprint():
    size = int(0.8 * A100.l2_bytes)
    once = [Reuse("x", kind, size, *[size // 32] * 6) for kind in ("load", "store")]
    assert sectors(A100, *once)[2] == 2 * (size // 32)


@pytest.mark.parametrize(
    ("gpu", "shared", "left"),
    [
        ("v100", 0, 128),
        ("v100", 33, 64),  # 64 of 128 KB
        ("t4", 0, 64),  # at least 32 of 96
        ("t4", 40, 32),
        ("rtxa6000", 8, 120),
        ("h100", 228, 28),
        ("p100", 10, 24),
        ("c2050", 48, 16),
        ("k20c", 10, 0),
    ],
)
def test_l1_is_what_shared_memory_leaves(gpu, shared, left):
    assert l1_bytes_of_sm(find_gpu(gpu), 1, 1024 * shared) == 1024 * left
