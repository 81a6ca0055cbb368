"""Sectors, lines and transactions of launches on GPUs of every rule, by hand.

Source: NVIDIA, "How to Access Global Memory Efficiently in CUDA C/C++ Kernels" (the two
kernels); CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory".
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tinytorch_gpu import cuda

WARPS = 8  # of one block of 256 threads; every number below is for one of them
STRIDES = [1, 2, 3, 4, 6, 8, 16, 32]


@cuda.jit
def stride_kernel(a, stride):
    i = cuda.grid(1) * stride
    a[i] = a[i] + 1


@cuda.jit
def offset_kernel(a, offset):
    i = cuda.grid(1) + offset
    a[i] = a[i] + 1


def load_and_store(counts):
    """The two accesses of `a[i] = a[i] + 1`."""
    load, store = counts.accesses
    assert (load.kind, store.kind) == ("load", "store")
    assert load.requests == store.requests == WARPS
    return load, store


# Published stride table. For 4-byte elements a warp spans 128 × stride bytes.
# 7.0 and 3.5: 32-byte sectors of a warp, 4 × stride, and 32 from stride 8 on.
# 2.0 loads: lines of 128 bytes, so stride lines and 4 × stride sectors; stores as 7.0.
# 1.3: a half-warp's bytes 64 128 192 256 384 512 1024 512, twice, in sectors of 32.
# At stride 16 each segment of 128 bytes has two lanes, 64 bytes apart: it moves whole.
# At stride 32 each has one, and shrinks to 32 bytes.
# 1.0: 2 × 64 bytes at stride 1, else 32 × 32 bytes.
SECTORS = {
    ("v100", "load"): [4, 8, 12, 16, 24, 32, 32, 32],
    ("v100", "store"): [4, 8, 12, 16, 24, 32, 32, 32],
    ("k20c", "load"): [4, 8, 12, 16, 24, 32, 32, 32],
    ("k20c", "store"): [4, 8, 12, 16, 24, 32, 32, 32],
    ("c2050", "load"): [4, 8, 12, 16, 24, 32, 64, 128],
    ("c2050", "store"): [4, 8, 12, 16, 24, 32, 32, 32],
    ("c1060", "load"): [4, 8, 12, 16, 24, 32, 64, 32],
    ("c1060", "store"): [4, 8, 12, 16, 24, 32, 64, 32],
    ("c870", "load"): [4, 32, 32, 32, 32, 32, 32, 32],
    ("c870", "store"): [4, 32, 32, 32, 32, 32, 32, 32],
}
# Transactions: sectors, on 2.0 lines for loads. 1.3: segments of 128 bytes of a half-
# warp, which spans 64 × stride bytes: at stride 3 two halves with 2 each, at stride 6
# two with 3 each, from stride 16 on 8 and 16. 1.0: one of 64 bytes for a half, or 16.
TRANSACTIONS = {
    ("v100", "load"): [4, 8, 12, 16, 24, 32, 32, 32],
    ("v100", "store"): [4, 8, 12, 16, 24, 32, 32, 32],
    ("k20c", "load"): [4, 8, 12, 16, 24, 32, 32, 32],
    ("k20c", "store"): [4, 8, 12, 16, 24, 32, 32, 32],
    ("c2050", "load"): [1, 2, 3, 4, 6, 8, 16, 32],
    ("c2050", "store"): [4, 8, 12, 16, 24, 32, 32, 32],
    ("c1060", "load"): [2, 2, 4, 4, 6, 8, 16, 32],
    ("c1060", "store"): [2, 2, 4, 4, 6, 8, 16, 32],
    ("c870", "load"): [2, 32, 32, 32, 32, 32, 32, 32],
    ("c870", "store"): [2, 32, 32, 32, 32, 32, 32, 32],
}
GPUS = ["v100", "k20c", "c2050", "c1060", "c870"]
WITH_L1 = ("v100", "c2050")  # with the banks of shared memory


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("column", range(len(STRIDES)), ids=map(str, STRIDES))
def test_published_strides(counted, gpu, column):
    stride = STRIDES[column]
    a = np.zeros(256 * stride, np.float32)
    accesses = load_and_store(counted(gpu, stride_kernel, 1, 256, a, stride))
    for access in accesses:
        moved = SECTORS[gpu, access.kind][column]
        assert access.sectors == WARPS * moved
        assert access.bytes_moved == WARPS * 32 * moved
        assert access.transactions == WARPS * TRANSACTIONS[gpu, access.kind][column]
        assert access.tags == WARPS * stride  # 128-byte lines that a warp spans
        passes = math.gcd(stride, 32) if gpu in WITH_L1 else 0
        assert access.wavefronts == WARPS * passes
        assert access.bytes_used == access.bytes_requested == WARPS * 128
        assert access.coalescing_efficiency == 128 / (32 * moved)


# Offsets in words, and sectors and transactions of one warp.
# 7.0: 128 bytes that do not start at a sector lie in 5.
# 2.0 loads: that do not start at a line, in 2 lines.
# 1.0: that do not start at 64 bytes, 32 transactions.
# 1.3, offset 1: bytes 4-67 of the first half use both halves of a segment: 128 bytes;
# bytes 68-131 the upper half and the next sector: 64 + 32. 4 + 2 + 1 sectors.
# Offset 8: 32-95 are in both halves, 128; 96-127 and 128-159, 32 each. 4 + 1 + 1.
# Offset 16: 64-127 and 128-191, 64 each. Offset 17: 68-127, 64; 128-131, 32; 132-195
# in both halves, 128. 2 + 1 + 4.
OFFSETS = [
    ("v100", "load", {0: (4, 4), 1: (5, 5), 8: (4, 4), 16: (4, 4), 17: (5, 5)}),
    ("v100", "store", {0: (4, 4), 1: (5, 5), 8: (4, 4), 16: (4, 4), 17: (5, 5)}),
    ("k20c", "load", {0: (4, 4), 1: (5, 5), 8: (4, 4), 16: (4, 4), 17: (5, 5)}),
    ("c2050", "load", {0: (4, 1), 1: (8, 2), 8: (8, 2), 16: (8, 2), 32: (4, 1)}),
    ("c2050", "store", {0: (4, 4), 1: (5, 5), 8: (4, 4), 16: (4, 4), 32: (4, 4)}),
    ("c1060", "load", {0: (4, 2), 1: (7, 3), 8: (6, 3), 16: (4, 2), 17: (7, 3)}),
    ("c1060", "store", {0: (4, 2), 1: (7, 3), 8: (6, 3), 16: (4, 2), 17: (7, 3)}),
    ("c870", "load", {0: (4, 2), 1: (32, 32), 8: (32, 32), 16: (4, 2), 17: (32, 32)}),
    ("c870", "store", {0: (4, 2), 1: (32, 32), 8: (32, 32), 16: (4, 2), 32: (4, 2)}),
]


@pytest.mark.parametrize(("gpu", "kind", "rows"), OFFSETS)
def test_offsets(counted, gpu, kind, rows):
    for offset, expected in rows.items():
        a = np.zeros(256 + 64, np.float32)
        accesses = load_and_store(counted(gpu, offset_kernel, 1, 256, a, offset))
        (access,) = (a for a in accesses if a.kind == kind)
        found = access.sectors / WARPS, access.transactions / WARPS
        assert found == expected, offset
        assert access.tags == WARPS * (1 if offset % 32 == 0 else 2)
        assert access.wavefronts == (WARPS if gpu in WITH_L1 else 0)


# Sizes of elements, in a row: 32 × bytes, in sectors of 32 bytes; in lines of 128.
# 1.3: half-warps of 1-byte words lie in one segment of 32 bytes, shared by both halves
# but moved for each; of 2-byte ones in a half of one of 64. 8-byte ones fill 128.
# 1.0 has no coalescing for words of 1 and 2 bytes: 32 transactions of 32 bytes.
@pytest.mark.parametrize(
    ("gpu", "dtype", "sectors", "transactions"),
    [
        ("v100", "uint8", 1, 1),
        ("v100", "int16", 2, 2),
        ("v100", "int32", 4, 4),
        ("v100", "float64", 8, 8),
        ("c2050", "uint8", 4, 1),
        ("c2050", "int16", 4, 1),
        ("c2050", "float64", 8, 2),
        ("c1060", "uint8", 2, 2),
        ("c1060", "int16", 2, 2),
        ("c1060", "float64", 8, 2),
        ("c870", "uint8", 32, 32),
        ("c870", "int16", 32, 32),
        ("c870", "int32", 4, 2),
        ("c870", "float64", 8, 2),
    ],
)
def test_sizes_of_elements(counted, gpu, dtype, sectors, transactions):
    # Byte rows of 32 lanes start anywhere in a line, so one warp alone is looked at.
    a = np.zeros(32, dtype)
    load, _ = counted(gpu, stride_kernel, 1, 32, a, 1).accesses
    assert (load.sectors, load.transactions) == (sectors, transactions)
    assert load.tags == max(1, 32 * a.itemsize // 128)
    assert load.bytes_used == 32 * a.itemsize


@cuda.jit
def pattern_kernel(x, places, out):
    i = cuda.threadIdx.x
    if places[i] >= 0:
        out[i] = x[places[i]]


LANES = np.arange(32)
# Which element each lane reads (-1: none), and what the load of `x` costs on each GPU:
# sectors on 7.0; lines on 2.0; sectors on 1.3; sectors on 1.0.
PATTERNS = {
    "broadcast": (0 * LANES, 1, 1, 2, 32),
    # In its place, lane 5 of 1.0 moves the 64 bytes of its half-warp.
    "one lane": (np.where(LANES == 5, 5, -1), 1, 1, 1, 2),
    "one lane out of place": (np.where(LANES == 5, 6, -1), 1, 1, 1, 1),
    "reversed": (31 - LANES, 4, 1, 4, 32),  # 1.0 wants the lanes in order
    "halves swapped": ((LANES + 16) % 32, 4, 1, 4, 4),  # each half is in order
    "pairs swapped": (LANES ^ 1, 4, 1, 4, 32),
    "every fourth lane": (np.where(LANES % 4 == 0, LANES, -1), 4, 1, 4, 4),
    "first half": (np.where(LANES < 16, LANES, -1), 2, 1, 2, 2),
    "first eight": (np.where(LANES < 8, LANES, -1), 1, 1, 1, 2),
    "two rows": (LANES % 16 + LANES // 16 * 64, 4, 2, 4, 4),
    "rows of eight": (LANES % 8 + LANES // 8 * 32, 4, 4, 4, 32),
    # Halves 0-15 and 16-31 of a line, and a line each on 1.3: 64 + 64 bytes.
    "each twice": (LANES // 2, 2, 1, 2, 32),
    # The halves want the same 16 elements: once for the warp, but for each half-warp.
    "the same half": (LANES % 16, 2, 1, 4, 4),
}


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize(
    ("column", "gpu", "count"),
    [
        (1, "v100", "sectors"),
        (1, "k20c", "sectors"),
        (2, "c2050", "transactions"),
        (3, "c1060", "sectors"),
        (4, "c870", "sectors"),
    ],
)
def test_patterns(counted, name, column, gpu, count):
    places, out = PATTERNS[name][0].astype(np.int32), np.zeros(32, np.float32)
    counts = counted(gpu, pattern_kernel, 1, 32, np.zeros(128, np.float32), places, out)
    (load,) = (a for a in counts.accesses if a.array == "x")
    assert getattr(load, count) == PATTERNS[name][column]
    assert load.tags == PATTERNS[name][2]  # lines are the same on every GPU
    assert load.bytes_used == 4 * len({*places.tolist()} - {-1})
