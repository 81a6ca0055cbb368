"""Passes over the banks of shared memory on GPUs of every rule, by hand.

Source: CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks"; CUDA C++
Programming Guide 8.0, "Compute Capability 3.x", "Shared Memory"; 3.2, G.3.3 (1.x).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cuda import float32, float64, int16

WIDE_BANKS = replace(find_gpu("k20c"), name="K20c, 8-byte banks", bank_bytes=8)


@cuda.jit
def single_kernel(words, out):
    tile = cuda.shared.array(2048, float32)
    tile[cuda.threadIdx.x] = 1.0
    cuda.syncthreads()
    if words[cuda.threadIdx.x] >= 0:
        out[cuda.threadIdx.x] = tile[words[cuda.threadIdx.x]]


@cuda.jit
def double_kernel(words, out):
    tile = cuda.shared.array(1024, float64)
    tile[cuda.threadIdx.x] = 1.0
    cuda.syncthreads()
    if words[cuda.threadIdx.x] >= 0:
        out[cuda.threadIdx.x] = tile[words[cuda.threadIdx.x]]


@cuda.jit
def short_kernel(words, out):
    tile = cuda.shared.array(4096, int16)
    tile[cuda.threadIdx.x] = 1
    cuda.syncthreads()
    if words[cuda.threadIdx.x] >= 0:
        out[cuda.threadIdx.x] = tile[words[cuda.threadIdx.x]]


LANES = np.arange(32)


def shared_load(counted, gpu, kernel, words):
    """The load from `tile` by one warp, lane l of element words[l]; none if < 0."""
    out = np.zeros(32, np.float32)
    counts = counted(gpu, kernel, 1, 32, words.astype(np.int32), out)
    (load,) = (a for a in counts.accesses if (a.array, a.kind) == ("tile", "load"))
    assert (load.space, load.sectors, load.transactions) == ("shared", 0, 0)
    assert load.bank_conflicts == load.wavefronts - load.ideal_wavefronts
    return load


# Words 0, s, 2s ... lie in 32 ÷ gcd(s, 32) banks, so gcd(s, 32) of them in each.
@pytest.mark.parametrize("stride", range(1, 34))
def test_strides_of_4_byte_elements(counted, stride):
    load = shared_load(counted, "v100", single_kernel, stride * LANES)
    assert load.wavefronts == math.gcd(stride, 32)
    assert load.ideal_wavefronts == 1
    assert load.bytes_used == 128


# 1.x: each half-warp has 16 banks: gcd(s, 16) words in each, and two half-warps.
@pytest.mark.parametrize("gpu", ["c870", "c1060"])
@pytest.mark.parametrize("stride", range(1, 34))
def test_strides_on_16_banks(counted, gpu, stride):
    load = shared_load(counted, gpu, single_kernel, stride * LANES)
    assert load.wavefronts == 2 * math.gcd(stride, 16)
    assert load.ideal_wavefronts == 2


# 3.x: words w and w + 32 of 64 are one row. Stride 2: lanes l and l + 16 want such a
# pair, all in 64 words: 1. Stride 4: as 4 words of a bank would be on 2.0, but in pairs:
# 2. So on for powers of two. At stride 6 lanes of one bank are 96 words apart, never in
# the same 64: 2, as on 2.0. At stride 24 they are 96 apart, too: 8.
@pytest.mark.parametrize(
    ("stride", "passes"),
    [
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 2),
        (6, 2),
        (8, 4),
        (16, 8),
        (24, 8),
        (31, 1),
        (32, 16),
        (33, 1),
        (63, 1),
    ],
)
def test_strides_on_double_rows(counted, stride, passes):
    assert (
        shared_load(counted, "k20c", single_kernel, stride * LANES).wavefronts == passes
    )


# 3.x with 8-byte banks: stride s of 4-byte elements is s ÷ 2 of 8-byte words.
@pytest.mark.parametrize(
    ("stride", "passes"), [(1, 1), (2, 1), (4, 2), (8, 4), (32, 16)]
)
def test_single_elements_in_8_byte_banks(counted, stride, passes):
    load = shared_load(counted, WIDE_BANKS, single_kernel, stride * LANES)
    assert (load.wavefronts, load.ideal_wavefronts) == (passes, 1)


# Stride s of 8-byte elements in 8-byte banks: as 4-byte ones in 4-byte banks.
@pytest.mark.parametrize("stride", [1, 2, 3, 8, 31])
def test_double_elements_in_8_byte_banks(counted, stride):
    load = shared_load(counted, WIDE_BANKS, double_kernel, stride * LANES)
    assert (load.wavefronts, load.ideal_wavefronts) == (math.gcd(stride, 32), 1)


# 8-byte elements by half-warps. Stride s: words 2sl and 2sl + 1 of 16 lanes. Stride 1:
# 32 words in 32 banks, 1 pass a half. Stride 2: words 4l lie in 8 banks, 2 in each: 2.
# Stride 16: words 32l, all in bank 0: 16. Stride 3: words 6l, in 16 banks: 1.
# 1.x: quarters of 8 lanes and 16 banks: stride 1 fills them: 1 for each of four;
# stride 2: words 4l lie in 4 banks, 2 in each; stride 16: 8.
@pytest.mark.parametrize(
    ("gpu", "stride", "passes", "ideal"),
    [
        ("v100", 1, 2, 2),
        ("v100", 2, 4, 2),
        ("v100", 3, 2, 2),
        ("v100", 16, 32, 2),
        ("v100", 17, 2, 2),
        ("c2050", 1, 2, 2),
        ("c2050", 16, 32, 2),
        ("c1060", 1, 4, 4),
        ("c1060", 2, 8, 4),
        ("c1060", 3, 4, 4),
        ("c1060", 16, 32, 4),
    ],
)
def test_strides_of_8_byte_elements(counted, gpu, stride, passes, ideal):
    load = shared_load(counted, gpu, double_kernel, stride * LANES)
    assert (load.wavefronts, load.ideal_wavefronts) == (passes, ideal)
    assert load.bytes_used == 256


# Patterns of 4-byte elements; passes on 7.0, and on 1.x for both half-warps.
PATTERNS = {
    "broadcast": (0 * LANES, 1, 2),
    "two words of two banks": (
        LANES % 2,
        1,
        16,
    ),  # 1.x: 8 lanes of the other word queue
    "two words of one bank": (32 * (LANES % 2), 2, 18),  # 1.x: 8 queue, 8 share: 9
    "reversed": (31 - LANES, 1, 2),
    "each word twice": (LANES // 2, 1, 4),  # 1.x: one word is shared, 7 are not: 2
    "one lane elsewhere": (np.where(LANES == 31, 32, LANES), 2, 3),  # 1.x: 16 and 32
    "column of 16 × 16": (16 * (LANES % 16), 8, 32),  # words 0, 32 … of bank 0 and 16
    "first half alone": (np.where(LANES < 16, LANES, -1), 1, 1),
    "five of a column": (np.where(LANES < 5, 32 * LANES, -1), 5, 5),
    "15 share a word": (np.where(LANES % 16 == 15, 5, 3), 1, 2),
}


@pytest.mark.parametrize(("gpu", "column"), [("v100", 1), ("c2050", 1), ("c1060", 2)])
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns(counted, gpu, column, name):
    words = PATTERNS[name][0]
    load = shared_load(counted, gpu, single_kernel, words)
    assert load.wavefronts == PATTERNS[name][column]
    assert load.bytes_used == 4 * len({*words.tolist()} - {-1})
    assert load.bytes_requested == 4 * np.count_nonzero(words >= 0)


def test_a_broadcast_of_8_bytes_has_no_conflict(counted):
    load = shared_load(counted, "v100", double_kernel, 0 * LANES)
    assert (load.wavefronts, load.ideal_wavefronts) == (2, 2)  # a pass for each half


def test_half_of_the_lanes_need_half_of_the_passes(counted):
    half = np.where(LANES < 16, LANES, -1)
    load = shared_load(counted, "v100", double_kernel, half)
    assert (load.wavefronts, load.ideal_wavefronts) == (1, 1)


# 2-byte elements: neighbours share a word. Stride 64 is 128 bytes: one bank. Stride 66 is
# 33 words: 32 banks. Stride 63 is 31.5: words 31 and 63 of lanes 1 and 2 share a bank.
@pytest.mark.parametrize(
    ("stride", "passes"), [(1, 1), (2, 1), (4, 2), (63, 2), (64, 32)]
)
def test_strides_of_2_byte_elements(counted, stride, passes):
    load = shared_load(counted, "v100", short_kernel, stride * LANES)
    assert (load.wavefronts, load.ideal_wavefronts) == (passes, 1)
