"""Which kernels have no finding: those without a cause, and those that nobody sees."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.trace import Reuse

WARPS = 32_000


ONCE = Reuse("x", "load", 128 * WARPS, *[4 * WARPS] * 3, *[WARPS] * 3)


@pytest.mark.parametrize("work", ["fp32", "instructions", "loads", "shared"])
def test_a_kernel_without_a_cause(found, counts, access, work):
    good = {
        "fp32": counts(fp32=10**8),
        "instructions": counts(instructions=10**7, active_lanes=32 * 10**7),
        "loads": replace(counts(access()), reuse=(ONCE,)),
        "shared": counts(
            access(space="shared", ideal_wavefronts=WARPS, bytes_used=128 * WARPS)
        ),
    }[work]
    assert set(found(good)) <= {"do not move this"}


def test_a_kernel_that_the_host_hides_has_nothing_to_gain(found, counts, access):
    scattered = counts(access(sectors=32 * WARPS))
    hidden = {"issue_ns": 1e6, "elapsed_ns": 1e6}
    assert "uncoalesced" in found(scattered)
    assert "uncoalesced" not in found(scattered, **hidden)
