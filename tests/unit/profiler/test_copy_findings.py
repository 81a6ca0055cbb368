"""Findings on copies, from records made by hand on a Tesla T4 (8 µs, 6 and 12 GB/s)."""

from __future__ import annotations

from dataclasses import replace

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
        "1 size (100.0 % of the time); if it is the same data each time, 1 copy would be "
        "enough."
    )
    assert '.to("simgpu")' in keep.fix


def test_images_and_labels_of_one_line(copy):
    """Of each of the two sizes one copy stays; the third size came but once."""
    both = [copy(nbytes=4000), copy(nbytes=100)]
    keep = found([*both * 10, copy(nbytes=7)])["keep it on the device"]
    assert keep.saves_ns == 18 * 9000
    assert "20 copies of 2 sizes" in keep.sentence
    assert "if it is the same data each time, 2 copies would be" in keep.sentence


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
    """What leaves at one line and may come back at a later one."""
    lines = ({"origin": ("/lessons/train.py", line)} for line in (12, 14, 12, 14))
    away = copy(**next(lines), direction="d2h", reason="Tensor.cpu", elapsed_ns=1e4)
    back = copy(**next(lines), direction="h2d", reason="Tensor.to", elapsed_ns=9e3)
    trip = found([away, back])["round trip"]
    assert trip.saves_ns == 19_000 - T4.launch_issue_ns  # of what the host did
    assert "1 array leaves the device and comes back" in trip.sentence
    assert "(train.py, line 14): 100.0 % of the time, if it is the same data." in (
        trip.sentence
    )
    assert trip.records == (away, back)
    assert "round trip" not in found([back, away])
    other = copy(nbytes=4000, reason="Tensor.to", origin=back.origin)
    assert "round trip" not in found([away, other])
    here = replace(back, origin=away.origin)  # on one line what came first decides
    assert "round trip" in found([away, here])
    assert "round trip" not in found([here, away, here])
    assert "round trip" not in found([away, replace(back, origin=("/else.py", 14))])


def test_an_op_that_runs_on_the_host_is_a_round_trip_for_sure(copy):
    here = {"origin": ("/lessons/train.py", 12), "reason": "CPU fallback of tt::relu"}
    trip = found([copy(**here, direction="d2h"), copy(**here)])["round trip"]
    assert "100.0 % of the time." in trip.sentence
    assert "library.impl" in trip.fix


def test_results_that_are_still_on_their_way_do_not_come_back(copy):
    lines = [("/lessons/train.py", 12), ("/lessons/train.py", 14)]
    away = copy(direction="d2h", origin=lines[0], is_async=True)
    soon, late = (copy(origin=lines[1], issue_start_ns=ns) for ns in (5e3, 2e4))
    assert "round trip" not in found([away, soon])
    assert "round trip" in found([away, late])


def chunks(copy, launch, addresses):
    """Each turn sends in, works, and reads back; all at their own lines."""
    kernel = launch(duration_ns=9e3, elapsed_ns=9e3)
    for address in addresses:
        at = {"address": address, "nbytes": 10**6, "is_pinned": True}
        at |= {"elapsed_ns": 8_000 + 1e6 / 12}
        yield copy(**at, reason="copy_to_device", origin=("/work.py", 5))
        yield kernel
        yield copy(**at, reason="copy_to_host", origin=("/work.py", 7), direction="d2h")


@pytest.mark.parametrize("addresses", [(512, 1024, 1536, 2048), (512,) * 4])
def test_chunks_are_neither_round_trips_nor_the_same_data(copy, launch, addresses):
    """Whether each has its own array or all go through one: what differs is unknown."""
    records = list(chunks(copy, launch, addresses))
    kinds = found(records)
    kinds.pop("do not move this", None)
    assert {"round trip", "keep it on the device"}.isdisjoint(kinds)
    assert max(kinds, key=lambda kind: kinds[kind].saves_ns) == "overlap this copy"
    assert "in 4 turns; on as many streams" in kinds["overlap this copy"].sentence
    assert judge(records, spec=T4).sentences[1].startswith("Let copies and kernels ove")


def test_an_array_that_only_comes_in_again_may_be_kept(copy, launch):
    into = {"reason": "copy_to_device"}
    sent = [copy(address=512, **into), launch()] * 3 + [copy(address=1024, **into)]
    keep = found(sent)["keep it on the device"]
    assert len(keep.records) == 2
    assert "in 3 copies of 1 size" in keep.sentence


@pytest.mark.parametrize(
    ("direction", "reason", "told"),
    [
        ("h2d", "to('simgpu')", "pin_memory"),
        ("h2d", "copy_to_device", "with cuda.pinned(host)"),
        ("d2h", "copy_to_host", "\nx.copy_to_host(host)"),
        ("d2h", "to('cpu')", "\nx.data.copy_to_host(host)"),
    ],
)
def test_pinned_memory_in_the_direction_of_the_copy(large, direction, reason, told):
    fix = found([large(direction=direction, reason=reason)])["pin this buffer"].fix
    assert told in fix
    assert ('.to("simgpu"' in fix) is (told == "pin_memory")


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
    """Of two turns half: the first copy has no kernel to hide it yet."""
    kernel = launch(duration_ns=50_000.0, elapsed_ns=50_000.0, bound="compute")

    def turns(number):
        here = ({"origin": ("/work.py", line)} for line in range(number))
        pairs = ((large(is_pinned=True, **line), kernel) for line in here)
        return [record for pair in pairs for record in pair]

    overlap = found(turns(2))["overlap this copy"]
    assert overlap.saves_ns == pytest.approx(50_000)
    assert "2 copies of 183 µs and kernels of 100 µs run one" in overlap.sentence
    assert found(turns(50))["overlap this copy"].saves_ns == pytest.approx(49 * 50_000)
    assert "overlap this copy" not in found(turns(1))
    assert "non_blocking=True" in overlap.fix
    hidden = large(is_pinned=True, elapsed_ns=0.0, duration_ns=MB_NS, is_async=True)
    assert "overlap this copy" not in found([hidden, kernel] * 2)


def test_a_pageable_copy_overlaps_once_it_is_pinned(large, launch):
    """Of 175 µs pinning saves 83; of the other 91 all but the first hide."""
    kernel = launch(duration_ns=200_000.0, elapsed_ns=200_000.0, bound="compute")
    sent = (large(address=a, reason="copy_to_device") for a in (512, 1024))
    kinds = found([next(sent), kernel, next(sent), kernel])
    assert kinds["pin this buffer"].saves_ns == pytest.approx(2 * 1e6 / 12)
    assert kinds["overlap this copy"].saves_ns == pytest.approx(8_000 + 1e6 / 12)
    told = "2 copies, which would take 183 µs from pinned memory, and kernels of 400 µs"
    assert told in kinds["overlap this copy"].sentence
