"""What a kernel gains without a cause in memory, as the model says for a Tesla T4 (40 SMs).

Each test states the counts, or the shape, that the cure leaves; the finding must promise
what `kernel_time` gives for them, no more and no less.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import kernel_time
from tinytorch_gpu.trace import Reuse

T4 = find_gpu("t4")
WARPS = 32_000


def ns_of(counts, grid=(4000, 1, 1), block=(256, 1, 1), shared_bytes=0, registers=None):
    return kernel_time(counts, grid, block, shared_bytes, T4, registers).duration_ns


def only(findings, kind):
    """The finding, and no other one on the kernel."""
    assert set(findings) - {"do not move this"} == {kind}
    return findings[kind]


def reuse(sectors, together=None, kind="load", nbytes=128 * WARPS):
    together = sectors if together is None else together
    return Reuse("x", kind, nbytes, sectors, sectors, together, WARPS, WARPS, WARPS)


@pytest.mark.parametrize("kind", ["load", "store"])
def test_scattered_lanes(found, counts, access, kind):
    """32 sectors where 4 would do."""
    scattered = access(
        kind=kind, sectors=32 * WARPS, wavefronts=32 * WARPS, array_bytes=1024 * WARPS
    )
    work = replace(counts(scattered), reuse=(reuse(32 * WARPS, kind=kind),))
    dense = replace(scattered, sectors=4 * WARPS, wavefronts=WARPS)
    cured = replace(counts(dense), reuse=(reuse(4 * WARPS, kind=kind),))
    finding = only(found(work), "uncoalesced")
    assert finding.saves_ns == pytest.approx(ns_of(work) - ns_of(cured))
    assert f"{kind} of `x` (line 3) moves 32.0 sectors" in finding.sentence
    assert "uses 12.5 % of their bytes" in finding.sentence


def test_lanes_that_share_elements_are_told_by_distinct_bytes(found, counts, access):
    """8 different elements in 8 sectors: 32 of 256 bytes, and one sector would do."""
    shared = access(sectors=8 * WARPS, bytes_used=32 * WARPS, wavefronts=2 * WARPS)
    work = replace(counts(shared), reuse=(reuse(8 * WARPS, nbytes=256 * WARPS),))
    cured = replace(
        counts(replace(shared, sectors=WARPS, wavefronts=WARPS)),
        reuse=(reuse(WARPS, nbytes=256 * WARPS),),
    )
    finding = only(found(work), "uncoalesced")
    assert finding.saves_ns == pytest.approx(ns_of(work) - ns_of(cured))
    assert "moves 8.0 sectors of 32 bytes per request and uses 12.5 %" in (
        finding.sentence
    )


def test_broadcasts_are_not_scattered(found, counts, access):
    """4 of 32 bytes are used, and no request can do with less than a sector."""
    one = access(sectors=WARPS, bytes_used=4 * WARPS)
    assert "uncoalesced" not in found(replace(counts(one), reuse=(reuse(WARPS),)))


def test_what_comes_again_is_not_saved_twice(found, counts, access):
    """A walk down columns uses whole sectors in the end: DRAM's traffic remains."""
    column = access(sectors=32 * WARPS, wavefronts=32 * WARPS)
    again = replace(
        reuse(32 * WARPS), block_sectors=4 * WARPS, together_sectors=4 * WARPS
    )
    work = replace(counts(column), reuse=(again,))
    cured = replace(
        counts(replace(column, sectors=4 * WARPS, wavefronts=WARPS)),
        reuse=(replace(again, sectors=4 * WARPS),),
    )
    finding = only(found(work), "uncoalesced")
    assert finding.saves_ns == pytest.approx(ns_of(work) - ns_of(cured))


def test_fetched_again(found, counts, access):
    """Blocks that run one after another load 131 MB of an array of 13.1 MB."""
    requests = 32 * WARPS
    whole = access(
        requests=requests,
        sectors=4 * requests,
        active_lanes=32 * requests,
        bytes_requested=128 * requests,
        bytes_used=128 * requests,
        wavefronts=requests,
        array_bytes=13_107_200,
    )
    again = replace(reuse(4 * requests, nbytes=13_107_200), requests=requests)
    work = replace(counts(whole), reuse=(again,))
    once = replace(again, together_sectors=13_107_200 // 32)
    finding = only(found(work), "cache-missing")
    cured = replace(work, reuse=(once,))
    assert finding.saves_ns == pytest.approx(ns_of(work) - ns_of(cured))
    assert "of arrays that hold 13.1 MB" in finding.sentence


def test_an_atomics_sector_that_comes_and_goes_is_not_fetched_again(
    found, counts, access
):
    atomic = access(kind="atomic", serial_passes=WARPS, hottest_address=1)
    work = replace(counts(atomic), reuse=(reuse(4 * WARPS, kind="atomic"),))
    assert set(found(work)) <= {"do not move this"}


def test_bank_conflicts(found, counts, access):
    column = access(
        space="shared", array="tile", wavefronts=4 * WARPS, ideal_wavefronts=WARPS
    )
    work, cured = counts(column), counts(replace(column, wavefronts=WARPS))
    finding = only(found(work), "bank conflicts")
    assert finding.saves_ns == pytest.approx(ns_of(work) - ns_of(cured))
    assert "takes 4.0 passes over the banks per request" in finding.sentence
    assert "conflicts it is 1.0" in finding.sentence


def met(access, space, lanes=32):
    """An atomic of which so many lanes of a warp meet at one address of a block's."""
    apart = 33 - lanes
    return access(
        space=space,
        kind="atomic",
        array="h",
        sectors=0 if space == "shared" else WARPS,
        bytes_used=4 * apart * WARPS,
        wavefronts=lanes * WARPS,
        ideal_wavefronts=WARPS if space == "shared" else 0,
        serial_passes=lanes * WARPS,
        hottest_address=lanes * (WARPS if space == "global" else 8),
    )


@pytest.mark.parametrize("space", ["shared", "global"])
def test_lanes_that_meet_are_no_bank_conflict(found, counts, access, space):
    """Wherever the address lies, each lane waits for its turn; one a warp would do."""
    atomic = met(access, space)
    work = counts(atomic)
    left = {"active_lanes": WARPS, "serial_passes": WARPS}
    left["hottest_address"] = atomic.hottest_address // 32
    if space == "shared":
        left["wavefronts"] = WARPS
    finding = only(found(work), "atomics")
    cured = counts(replace(atomic, **left))
    assert finding.saves_ns == pytest.approx(ns_of(work) - ns_of(cured))
    assert "1,024,000 atomic operations, up to " in finding.sentence
    assert "column" not in finding.fix


@pytest.mark.parametrize("space", ["shared", "global"])
def test_lanes_that_do_not_meet_have_nothing_to_add_first(found, counts, access, space):
    assert "atomics" not in found(counts(met(access, space, lanes=1)))
