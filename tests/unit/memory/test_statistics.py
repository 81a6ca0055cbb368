"""Tallies add up over the pools, under torch's keys."""

from tinytorch_gpu.memory.statistics import MemoryStatistics, Tally


def test_a_tally_remembers_the_peak_until_it_is_reset():
    tally = Tally()
    for change in (100, 50, -120):
        tally.add(change)
    assert tally == Tally(current=30, peak=150, allocated=150, freed=120)
    tally.reset_peak()
    assert (tally.peak, tally.allocated) == (30, 150)


def test_both_pools_add_up_to_all():
    statistics = MemoryStatistics()
    statistics.add("allocated_bytes", "small_pool", 512)
    statistics.add("allocated_bytes", "large_pool", 2048)
    numbers = statistics.to_dict()
    assert numbers["allocated_bytes.small_pool.current"] == 512
    assert numbers["allocated_bytes.large_pool.peak"] == 2048
    assert numbers["allocated_bytes.all.allocated"] == 2560
    assert statistics.of("allocated_bytes").current == 2560
    assert numbers["segment.all.current"] == 0


def test_all_peaks_are_reset_together():
    statistics = MemoryStatistics()
    for row in ("allocation", "segment"):
        statistics.add(row, "small_pool", 3)
        statistics.add(row, "small_pool", -2)
    statistics.reset_peaks()
    numbers = statistics.to_dict()
    assert (numbers["allocation.all.peak"], numbers["segment.small_pool.peak"]) == (
        1,
        1,
    )


def test_the_table_has_a_row_for_each_pool():
    statistics = MemoryStatistics(alloc_retries=1, ooms=2)
    statistics.add("allocated_bytes", "small_pool", 1536)
    statistics.add("allocation", "small_pool", 1)
    table = statistics.to_table("the title").splitlines()
    assert table[0] == "the title"
    assert table[1].split() == ["now", "peak", "total", "freed"]
    assert table[2].split()[:2] == ["allocated", "memory"]
    assert table[3].split()[:4] == ["small", "pool", "1.54", "kB"]
    (row,) = [line for line in table if line.startswith("allocations")]
    assert row.split() == ["allocations", "1", "1", "1", "0"]
    assert table[-1] == "cache emptied to make room: 1, out of memory: 2"
    assert max(map(len, table)) <= 91
