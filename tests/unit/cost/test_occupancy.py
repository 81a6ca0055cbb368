"""Occupancy against the answers of NVIDIA's own calculator.

Source: `cuda_occupancy.h`, CUDA Toolkit 12.9, compiled and run on a CPU.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import occupancy
from tinytorch_gpu.errors import UnsupportedError

# threads, registers, shared bytes; then blocks and percent on T4, A100, RTX 3090
TABLE = """
256   32      0  4 100.0  8 100.0  6 100.0
256   40      0  4 100.0  6  75.0  6 100.0
256   37   8192  4 100.0  6  75.0  6 100.0
128  128  16384  4  50.0  4  25.0  4  33.3
1024  32      0  1 100.0  2 100.0  1  66.7
1024  37   8192  1 100.0  1  50.0  1  66.7
64    32      0 16 100.0 32 100.0 16  66.7
32    32      0 16  50.0 32  50.0 16  33.3
192   63      0  5  93.8  5  46.9  5  62.5
512   65      0  1  50.0  1  25.0  1  33.3
256   32   4224  4 100.0  8 100.0  6 100.0
128   32  49152  1  12.5  3  18.8  2  16.7
1024  65      0  0   0.0  0   0.0  0   0.0
256  128      0  2  50.0  2  25.0  2  33.3
96   168      0  4  37.5  4  18.8  4  25.0
128  255      0  2  25.0  2  12.5  2  16.7
256   64  20480  3  75.0  4  50.0  4  66.7
"""
ROWS = [line.split() for line in TABLE.split("\n") if line]


@pytest.mark.parametrize(("column", "gpu"), [(3, "t4"), (5, "a100"), (7, "rtx3090")])
@pytest.mark.parametrize("row", ROWS, ids=["-".join(row[:3]) for row in ROWS])
def test_table(row, column, gpu):
    threads, registers, shared_bytes = map(int, row[:3])
    found = occupancy(
        threads,
        find_gpu(gpu),
        registers_per_thread=registers,
        shared_bytes=shared_bytes,
    )
    assert found.blocks_per_sm == int(row[column])
    percent = 100 * found.theoretical_occupancy
    assert percent == pytest.approx(float(row[column + 1]), abs=0.0501)


def test_the_table_is_whole():
    assert len(ROWS) == 17


@pytest.mark.parametrize(
    ("threads", "options", "limiter"),
    [
        (256, {}, "warps"),
        (32, {}, "blocks"),
        (256, {"registers_per_thread": 128}, "registers"),
        (128, {"shared_bytes": 49152}, "shared memory"),
    ],
)
def test_limiter(threads, options, limiter):
    assert occupancy(threads, find_gpu("t4"), **options).limiter == limiter


@pytest.mark.parametrize("gpu", ["t4", "a100", "rtx3090", "toy"])
@pytest.mark.parametrize("threads", [1, 33, 100, 500, 1024])
def test_occupancy_is_a_share(gpu, threads):
    assert 0 < occupancy(threads, find_gpu(gpu)).theoretical_occupancy <= 1


def test_more_shared_memory_never_raises_occupancy():
    found = [
        occupancy(128, find_gpu("a100"), shared_bytes=size).blocks_per_sm
        for size in range(0, 49153, 1024)
    ]
    assert found == sorted(found, reverse=True)


def test_kernel_without_registers():
    assert occupancy(256, find_gpu("t4"), registers_per_thread=0).blocks_per_sm == 4


def test_older_gpus_are_refused():
    with pytest.raises(UnsupportedError) as caught:
        occupancy(256, replace(find_gpu("t4"), compute_capability=(6, 1)))
    assert caught.value.compute_capability == (6, 1)


def test_text():
    text = str(occupancy(192, find_gpu("t4"), registers_per_thread=63))
    assert text == "93.8 %: 5 blocks, 30 warps on an SM, limited by warps"
