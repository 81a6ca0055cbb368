"""Occupancy against the answers of NVIDIA's own calculator.

Source: `cuda_occupancy.h`, CUDA Toolkit 12.9, compiled and run on a CPU.
"""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.cost import occupancy
from tinytorch_gpu.errors import LaunchConfigError

# threads, registers, shared bytes; then blocks / percent on each of the GPUs.
TABLE = """
256 32 0 8/100.0 8/100.0 8/100.0 4/100.0 8/100.0 6/100.0 6/100.0 8/100.0 8/100.0 6/100.0
256 40 0 6/75.0 6/75.0 6/75.0 4/100.0 6/75.0 6/100.0 6/100.0 6/75.0 6/75.0 6/100.0
256 37 8192 6/75.0 6/75.0 6/75.0 4/100.0 6/75.0 6/100.0 6/100.0 6/75.0 6/75.0 6/100.0
128 128 16384 3/18.8 4/25.0 4/25.0 4/50.0 4/25.0 4/33.3 4/33.3 4/25.0 4/25.0 4/33.3
1024 32 0 2/100.0 2/100.0 2/100.0 1/100.0 2/100.0 1/66.7 1/66.7 2/100.0 2/100.0 1/66.7
1024 37 8192 1/50.0 1/50.0 1/50.0 1/100.0 1/50.0 1/66.7 1/66.7 1/50.0 1/50.0 1/66.7
64 32 0 16/50.0 32/100.0 32/100.0 16/100.0 32/100.0 16/66.7 24/100.0 32/100.0 32/100.0 24/100.0
32 32 0 16/25.0 32/50.0 32/50.0 16/50.0 32/50.0 16/33.3 24/50.0 32/50.0 32/50.0 24/50.0
192 63 0 5/46.9 5/46.9 5/46.9 5/93.8 5/46.9 5/62.5 5/62.5 5/46.9 5/46.9 5/62.5
512 65 0 1/25.0 1/25.0 1/25.0 1/50.0 1/25.0 1/33.3 1/33.3 1/25.0 1/25.0 1/33.3
256 32 4224 8/100.0 8/100.0 8/100.0 4/100.0 8/100.0 6/100.0 6/100.0 8/100.0 8/100.0 6/100.0
128 32 49152 1/6.2 1/6.2 2/12.5 1/12.5 3/18.8 2/16.7 2/16.7 4/25.0 4/25.0 2/16.7
1024 65 0 0/0.0 0/0.0 0/0.0 0/0.0 0/0.0 0/0.0 0/0.0 0/0.0 0/0.0 0/0.0
256 128 0 2/25.0 2/25.0 2/25.0 2/50.0 2/25.0 2/33.3 2/33.3 2/25.0 2/25.0 2/33.3
96 168 0 4/18.8 4/18.8 4/18.8 4/37.5 4/18.8 4/25.0 4/25.0 4/18.8 4/18.8 4/25.0
128 255 0 2/12.5 2/12.5 2/12.5 2/25.0 2/12.5 2/16.7 2/16.7 2/12.5 2/12.5 2/16.7
256 64 20480 2/25.0 3/37.5 4/50.0 3/75.0 4/50.0 4/66.7 4/66.7 4/50.0 4/50.0 4/66.7
"""
GPUS = [
    "k20c",
    "p100",
    "v100",
    "t4",
    "a100",
    "rtxa6000",
    "rtx4090",
    "h100",
    "b200",
    "rtx5090",
]
COLUMNS = list(enumerate(GPUS, 3))
ROWS = [line.split() for line in TABLE.split("\n") if line]


@pytest.mark.parametrize(("column", "gpu"), COLUMNS)
@pytest.mark.parametrize("row", ROWS, ids=["-".join(row[:3]) for row in ROWS])
def test_table(row, column, gpu):
    threads, registers, shared_bytes = map(int, row[:3])
    found = occupancy(
        threads,
        find_gpu(gpu),
        registers_per_thread=registers,
        shared_bytes=shared_bytes,
    )
    blocks, percent = row[column].split("/")
    assert found.blocks_per_sm == int(blocks)
    told = 100 * found.theoretical_occupancy
    assert told == pytest.approx(float(percent), abs=0.0501)


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


@pytest.mark.parametrize(
    ("threads", "more"),
    [
        (0, {}),
        (-1, {}),
        (1.5, {}),
        (True, {}),
        ("a", {}),
        (256, {"registers_per_thread": -3}),
        (256, {"registers_per_thread": 0}),
        (256, {"shared_bytes": -1}),
        (256, {"shared_bytes": 0.5}),
    ],
)
def test_what_is_no_block_is_refused(threads, more):
    with pytest.raises(LaunchConfigError) as caught:
        occupancy(threads, find_gpu("t4"), **more)
    assert all((caught.value.where, caught.value.why, caught.value.fix))


def test_one_block_in_the_singular():
    assert "1 block, 32 warps on" in str(occupancy(1024, find_gpu("t4")))


# CUDA C Programming Guide 3.2, 4.2: before 3.0 an even number of warps gets registers.
# C870: 8192 registers, blocks in units of 256; C1060: 16384 in 512; C2050: 32768, 64 for
# each warp.
@pytest.mark.parametrize(
    ("gpu", "threads", "registers", "shared_bytes", "blocks", "limiter"),
    [
        ("c870", 256, 10, 0, 3, "warps"),  # 24 warps ÷ 8; 2560 registers a block
        ("c870", 256, 16, 0, 2, "registers"),  # 8 warps × 512 = 4096 of 8192
        ("c870", 96, 20, 0, 3, "registers"),  # 3 warps as 4: 2560 of 8192
        ("c870", 32, 10, 0, 8, "blocks"),
        ("c870", 64, 10, 4000, 4, "shared memory"),  # 4000 as 4096 of 16384
        ("c1060", 256, 16, 0, 4, "warps"),  # 32 warps ÷ 8; 4096 of 16384
        ("c1060", 32, 9, 0, 8, "blocks"),  # 1 warp as 2: 576 as 1024; 16 blocks
        ("c1060", 128, 33, 0, 3, "registers"),  # 4 warps: 4224 as 4608 of 16384
        ("c2050", 256, 20, 0, 6, "warps"),  # 48 warps ÷ 8; 8 × 640 = 5120 of 32768
        ("c2050", 256, 33, 0, 3, "registers"),  # 33 × 32 as 1088; 8704 of 32768
        ("c2050", 96, 63, 0, 4, "registers"),  # 3 warps as 4: 8064 (of 2016 as 2048)
        ("c2050", 64, 20, 10_000, 4, "shared memory"),  # 10000 as 10112 of 49152
    ],
)
def test_before_3_0_by_hand(gpu, threads, registers, shared_bytes, blocks, limiter):
    found = occupancy(
        threads,
        find_gpu(gpu),
        registers_per_thread=registers,
        shared_bytes=shared_bytes,
    )
    assert (found.blocks_per_sm, found.limiter) == (blocks, limiter)


@pytest.mark.parametrize("spec", PRESETS.values(), ids=PRESETS)
def test_the_estimate_of_registers_does_not_limit(spec):
    for threads in (64, 128, 256, spec.max_threads_per_block):
        assert occupancy(threads, spec).limiter != "registers"


def test_text():
    text = str(occupancy(192, find_gpu("t4"), registers_per_thread=63))
    assert text == "93.8 %: 5 blocks, 30 warps on an SM, limited by warps"
