"""Findings on copies, from records made by hand on a Tesla T4 (8 µs, 6 and 12 GB/s)."""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.profiler.verdict import judge

T4 = find_gpu("t4")
MB_NS = 8_000 + 1e6 / 6  # one pageable megabyte


def found(records):
    return {f.kind: f for f in judge(records, spec=T4).findings}


@pytest.fixture
def large(copy):
    """Give the maker of copies of 1 MB."""

    def make(**changes):
        return copy(**({"nbytes": 10**6, "elapsed_ns": MB_NS} | changes))

    return make


def test_copied_again_and_again(copy):
    here = {"origin": ("/lessons/train.py", 12)}
    same = [copy(**here, elapsed_ns=ns) for ns in (9000.0, 9000.0, 11_000.0)]
    keep = found(same)["keep it on the device"]
    assert keep.saves_ns == 18_000  # all but the dearest
    assert keep.sentence == (
        "`Tensor.to` (train.py, line 12) moves 12.3 kB to the device in 3 copies of "
        "1 size (100.0 % of the time); of the same data 1 copy would be enough."
    )
    assert '.to("simgpu")' in keep.fix


def test_images_and_labels_of_one_line(copy):
    """Of each of the two sizes one copy stays; the third size came but once."""
    both = [copy(nbytes=4000), copy(nbytes=100)]
    keep = found([*both * 10, copy(nbytes=7)])["keep it on the device"]
    assert keep.saves_ns == 18 * 9000
    assert "20 copies of 2 sizes" in keep.sentence
    assert "of the same data 2 copies would be enough" in keep.sentence


def test_one_copy_is_nothing_to_keep(copy):
    assert "keep it on the device" not in found([copy()])


def test_a_number_that_is_read_in_each_step(copy):
    read = found([copy(direction="d2h", nbytes=4, reason="float(loss)")] * 10)
    assert read["read back less often"].saves_ns == 9 * 9000
    assert "loss.item()" in read["read back less often"].fix
    assert "brings a number to the host 10 times (100.0 % of the time)" in (
        read["read back less often"].sentence
    )


def test_results_copied_back_again_and_again(copy):
    kept = found([copy(direction="d2h", reason="Tensor.cpu")] * 2)
    assert "after the loop" in kept["keep it on the device"].fix


def test_round_trips(copy):
    away = copy(direction="d2h", reason="fallback", elapsed_ns=10.0)
    back = copy(direction="h2d", reason="Tensor.to", elapsed_ns=9.0)
    trip = found([away, back])["round trip"]
    assert trip.saves_ns == 19
    assert "1 array leaves the device and comes back" in trip.sentence
    assert trip.records == (away, back)
    assert "round trip" not in found([back, away])
    other = copy(nbytes=4000, reason="Tensor.to")
    assert "round trip" not in found([away, other])


@pytest.mark.parametrize(
    "kind", ["round trip", "keep it on the device", "pin this buffer"]
)
def test_host_arrays_given_to_a_kernel_are_copied_by_hand(large, kind):
    """No op runs between such copies, and the array is no tensor."""
    reason = {"reason": "host array argument `x` of inc"}
    turn = [large(**reason), large(**reason, direction="d2h")]
    fix = found(turn * 3)[kind].fix
    assert "library.impl" not in fix
    assert ".cpu()" not in fix
    assert "cuda.pinned(x)" in fix or "x = cuda.to_device(x)   # once, before" in fix


def test_small_copies_are_batched(copy):
    """Of 9 µs each 8 are latency; one of 4 copies pays it, and 3 are saved."""
    records = [copy(nbytes=nbytes) for nbytes in (3000, 6000, 9000, 12_000)]
    batched = found(records)["batch copies"]
    assert batched.saves_ns == 3 * 8000
    assert batched.sentence.startswith("4 copies of 7.50 kB for `Tensor.to` pay")
    assert "latency of 8.00 µs each; for the bytes alone 1.25 µs" in batched.sentence


def test_a_large_copy_is_pinned(large):
    pin = found([large()])["pin this buffer"]
    assert pin.saves_ns == pytest.approx(1e6 / 6 - 1e6 / 12)
    assert "1 copy for `Tensor.to` moves 1.00 MB" in pin.sentence
    assert "6 GB/s; pinned memory reaches 12 GB/s" in pin.sentence
    assert "pin this buffer" not in found([large(is_pinned=True)])


def test_pinning_saves_only_what_keeping_leaves(large):
    kinds = found([large(), large()])
    assert kinds["keep it on the device"].saves_ns == pytest.approx(MB_NS)
    assert kinds["pin this buffer"].saves_ns == pytest.approx(1e6 / 12)


def test_the_shorter_of_copies_and_kernels_can_hide(large, launch):
    kernel = launch(duration_ns=50_000.0, elapsed_ns=50_000.0, bound="compute")
    overlap = found([large(is_pinned=True), kernel])["overlap this copy"]
    assert overlap.saves_ns == pytest.approx(50_000)
    assert "1 copy of 91.3 µs and kernels of 50.0 µs run one" in overlap.sentence
    assert "non_blocking=True" in overlap.fix
    hidden = large(is_pinned=True, elapsed_ns=0.0, duration_ns=MB_NS, is_async=True)
    assert "overlap this copy" not in found([hidden, kernel])


def test_a_pageable_copy_overlaps_once_it_is_pinned(large, launch):
    """Of 175 µs pinning saves 83; the other 91 hide behind a kernel of 200."""
    kernel = launch(duration_ns=200_000.0, elapsed_ns=200_000.0, bound="compute")
    kinds = found([large(), kernel])
    assert kinds["pin this buffer"].saves_ns == pytest.approx(1e6 / 12)
    assert kinds["overlap this copy"].saves_ns == pytest.approx(8_000 + 1e6 / 12)
    told = "1 copy, which would take 91.3 µs from pinned memory, and kernels of 200 µs"
    assert told in kinds["overlap this copy"].sentence
