"""What an SM of each compute capability has, spot by spot against NVIDIA's tables."""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch import PRESETS
from tinytorch_gpu.arch.limits import SM_LIMITS, sm_fields


# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
@pytest.mark.parametrize(
    ("capability", "warps", "blocks", "registers", "shared"),
    [
        ((1, 0), 24, 8, 8, 16),
        ((1, 3), 32, 8, 16, 16),
        ((2, 0), 48, 8, 32, 48),
        ((3, 0), 64, 16, 64, 48),
        ((3, 5), 64, 16, 64, 48),
        ((6, 0), 64, 32, 64, 64),
        ((7, 0), 64, 32, 64, 96),
        ((7, 5), 32, 16, 64, 64),
        ((8, 0), 64, 32, 64, 164),
        ((8, 6), 48, 16, 64, 100),
        ((8, 7), 48, 16, 64, 164),
        ((8, 9), 48, 24, 64, 100),
        ((9, 0), 64, 32, 64, 228),
        ((10, 0), 64, 32, 64, 228),
        ((12, 0), 48, 24, 64, 100),
    ],
)
def test_limits(capability, warps, blocks, registers, shared):
    fields = sm_fields(capability)
    assert fields["max_threads_per_sm"] == 32 * warps
    assert fields["max_blocks_per_sm"] == blocks
    assert fields["registers_per_sm"] == 1024 * registers
    assert fields["shared_bytes_per_sm"] == 1024 * shared


@pytest.mark.parametrize("sm", SM_LIMITS.values(), ids=map(str, SM_LIMITS))
def test_carveouts_end_at_the_most_shared_memory(sm):
    if sm.carveouts_kb:
        assert sm.carveouts_kb[-1] == sm.shared_kb
        assert list(sm.carveouts_kb) == sorted(sm.carveouts_kb)
        assert sm.shared_kb < sm.array_kb


def test_every_preset_but_the_toy_stands_on_the_table():
    for key, spec in PRESETS.items():
        if key != "toy":
            threads = SM_LIMITS[spec.compute_capability].threads
            assert spec.max_threads_per_sm == threads
