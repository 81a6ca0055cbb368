"""Lanes that meet in atomics, of launches, by hand.

Source: CUDA C++ Programming Guide, "Atomic Functions"; NVIDIA, "Tuning CUDA
Applications for Kepler", 1.4.3.3: one operation for each clock at one address.
"""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import int32


@cuda.jit
def global_histogram(bins, counts):
    i = cuda.grid(1)
    if bins[i] >= 0:
        cuda.atomic.add(counts, bins[i], 1)


@cuda.jit
def shared_histogram(bins, counts):
    part = cuda.shared.array(64, int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(part, bins[i], 1)
    cuda.syncthreads()
    if t < counts.size:
        cuda.atomic.add(counts, t, part[t])


T = np.arange(128)  # two blocks of 64 threads: four warps
# The bin of each thread; the most lanes of a warp in one bin, over 4 warps; most lanes
# in one bin in all; sectors of int32 bins.
GLOBAL = {
    "one bin": (0 * T, 4 * 32, 128, 4),
    "two bins": (T % 2, 4 * 16, 64, 4),
    "eight bins": (T % 8, 4 * 4, 16, 4),
    "a bin for each lane": (T % 32, 4 * 1, 4, 4 * 4),
    "a bin for each thread": (T, 4 * 1, 1, 4 * 4),
    "a bin for each warp": (T // 32, 4 * 32, 32, 4),
    "pairs": (T // 2, 4 * 2, 2, 4 * 2),
    "one lane of each warp": (np.where(T % 32 == 3, 7, -1), 4 * 1, 4, 4),
    "one warp": (np.where(T < 32, 7, -1), 32, 32, 1),
    # 24 lanes in bin 0, 8 in bins of their own: 24 + … each warp.
    "mostly one": (np.where(T % 32 < 24, 0, T), 4 * 24, 96, 1 + 1 + 1 + 1 + 4),
}


@pytest.mark.parametrize("name", GLOBAL)
@pytest.mark.parametrize("gpu", ["t4", "k20c"])
def test_global_atomics(counted, gpu, name):
    bins, serial, hottest, sectors = GLOBAL[name]
    found = np.zeros(128, np.int32)
    counts = counted(gpu, global_histogram, 2, 64, bins.astype(np.int32), found)
    (atomic,) = (a for a in counts.accesses if a.kind == "atomic")
    assert (atomic.serial_passes, atomic.hottest_address) == (serial, hottest)
    assert atomic.sectors == atomic.transactions == sectors
    assert atomic.active_lanes == np.count_nonzero(bins >= 0)
    assert (atomic.ideal_wavefronts, atomic.bank_conflicts) == (0, 0)


# In shared memory a block has bins of its own, so of 128 threads 64 can meet. A pass
# for each lane that waits, and for each word of a bank: bins 0 and 32 lie in one.
SHARED = {
    "one bin": (0 * T, 4 * 32, 64, 4 * 32),
    "two bins of one bank": (32 * (T % 2), 4 * 16, 32, 4 * 16),
    "eight bins": (T % 8, 4 * 4, 8, 4 * 4),
    "a bin for each lane": (T % 32, 4 * 1, 2, 4 * 1),
    "a bin for each thread": (T % 64, 4 * 1, 1, 4 * 1),
}


@pytest.mark.parametrize("name", SHARED)
def test_shared_atomics(counted, name):
    bins, serial, hottest, passes = SHARED[name]
    found = np.zeros(64, np.int32)
    counts = counted("t4", shared_histogram, 2, 64, bins.astype(np.int32), found)
    (atomic,) = (a for a in counts.accesses if (a.array, a.kind) == ("part", "atomic"))
    assert (atomic.serial_passes, atomic.hottest_address) == (serial, hottest)
    assert (atomic.wavefronts, atomic.ideal_wavefronts) == (passes, 4)
    assert atomic.bank_conflicts == passes - 4
    (merged,) = (a for a in counts.accesses if a.array == "counts")
    # Two blocks add 64 bins each: no lanes of a warp meet, but the blocks do.
    assert (merged.serial_passes, merged.hottest_address) == (4, 2)


def test_loads_and_stores_have_no_contention(counted):
    bins = np.zeros(128, np.int32)
    counts = counted("t4", global_histogram, 2, 64, bins, np.zeros(1, np.int32))
    loads = [a for a in counts.accesses if a.kind == "load"]
    assert len(loads) == 2
    assert {(a.serial_passes, a.hottest_address) for a in loads} == {(0, 0)}
