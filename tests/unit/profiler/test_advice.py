"""The sentences: the numbers that decide, and a change that follows from them."""

from __future__ import annotations

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.profiler.verdict import judge
from tinytorch_gpu.trace import HostRecord, SynchronizeRecord

T4 = find_gpu("t4")


def _sentences(records):
    return judge(records, spec=T4).sentences


def test_launch_bound_tells_issue_and_kernel_time(launch):
    first, second = _sentences([launch(duration_ns=2600.0)] * 18_450)
    assert "100.0 % of the time modelled on Tesla T4, 92.2 ms, passes at" in first
    assert "the device waits for 18,450 of 18,450 launches, which take the" in first
    assert "host longer to issue, 5.00 µs, than the device to run" in first
    assert "run, 2.60 µs on average" in first
    assert second.startswith("Use larger batches or fuse element-wise ops: these")


def test_launches_that_hide_behind_a_kernel_do_not_count(launch):
    long = launch(duration_ns=12_000.0, elapsed_ns=14_000.0)
    hidden = launch(elapsed_ns=3000.0)  # of which 2 µs of the issue hide
    first, _ = _sentences([long, hidden, *[launch()] * 3])
    assert "53.1 % of the time" in first  # 2 + 3 x 5 of 32 µs
    assert "17.0 µs, passes at the host's pace: the device waits for 3 of 5" in first


def test_one_launch_in_the_singular(launch):
    assert "1 of 1 launch, which takes the host longer" in _sentences([launch()])[0]


def test_launch_bound_by_calls_of_the_driver(launch):
    wait = HostRecord("cudaSetDevice", "", 0.0, 90_000.0, 90_000.0)
    first, _ = _sentences([launch(duration_ns=6000.0, elapsed_ns=6000.0), wait])
    assert "93.8 % of the time modelled on Tesla T4, 90.0 µs" in first
    assert (
        "while the host issues 1 launch and makes 1 other call of the driver" in first
    )


def calls(*reasons):
    """Calls of the driver of 90 µs; each cudaFree begins with a wait."""
    for reason in reasons:
        if reason == "cudaFree":
            yield SynchronizeRecord("device", "synchronize()", "", 0.0, 5e3, 5e3)
        yield HostRecord(reason, "", 0.0, 9e4, 9e4)


def test_bound_by_memory_that_is_given_back(launch):
    work = [launch(), *calls("cudaMalloc", "cudaFree", "cudaFree")]
    first, second = _sentences(work)
    assert first.startswith("Allocation-bound: 98.2 % of the time modelled on Tesla T4")
    assert "280 µs, passes in 1 call of cudaMalloc and 2 of cudaFree" in first
    assert "no empty_cache() in a loop" in second


def test_bound_by_new_memory(launch):
    first, second = _sentences([launch(), *calls("cudaMalloc")])
    assert "passes in 1 call of cudaMalloc; the kernels" in first
    assert "a first step" in second
    assert "empty_cache" not in second


def test_launch_bound_without_floor_kernels(launch):
    _, second = _sentences([launch(bound="memory")])
    assert second == "Use larger batches or fuse element-wise ops."


def test_launch_bound_names_the_decomposed_op(launch, op):
    parts = ["neg", "exp", "add", "div"]
    records = [launch(part) for part in parts] + [op(part, "sigmoid") for part in parts]
    records.append(op("sigmoid", key="Decompose"))
    _, second = _sentences(records * 10)
    assert "sigmoid has no kernel of its own and ran as 4 ops a call" in second
    assert "save about 30 launches" in second


def test_a_decomposition_into_one_op_is_nothing_to_fuse(launch, op):
    records = [launch("b"), op("b", "a"), op("a", key="Decompose")]
    assert "no kernel of its own" not in _sentences(records)[1]


def test_transfer_bound_tells_the_dearest_reason(copy):
    records = [copy(reason="float(loss)", direction="d2h", nbytes=4), *[copy()] * 3]
    first, second = _sentences(records)
    assert "100.0 % of the time modelled on Tesla T4" in first
    assert "36.0 µs in 4 copies" in first
    assert "75.0 % of it is H2D for `Tensor.to`, 3 copies of 4.10 kB" in second


def test_no_part_of_the_copies_is_more_than_all(copy):
    """What issue an asynchronous copy adds is no transfer, on either side."""
    late = copy(elapsed_ns=14_000.0, duration_ns=9000.0, is_async=True, is_pinned=True)
    assert "100.0 % of it is H2D" in _sentences([late] * 4)[1]


def test_small_copies_are_batched(copy):
    assert "latency of 8.00 µs" in _sentences([copy(nbytes=47_000)])[1]


def test_large_copies_are_pinned(copy):
    second = _sentences([copy(nbytes=10**6)])[1]
    assert "pinned host memory would copy at 12 GB/s instead of 6" in second


def test_large_pinned_copies_move_less(copy):
    assert "fewer bytes" in _sentences([copy(nbytes=10**6, is_pinned=True)])[1]


def test_synchronization_bound(launch):
    wait = SynchronizeRecord("device", "synchronize", "", 0.0, 6000.0, 5000.0)
    first, second = _sentences([launch(elapsed_ns=0.0), *[wait] * 3])
    assert "15.0 µs in 3 waits" in first
    assert "once at the end" in second


def test_a_wait_after_each_launch_is_not_launch_bound(launch):
    """Of 13 µs a turn 5 are the wait's; 3 more, the kernel's, could hide."""
    wait = SynchronizeRecord("device", "synchronize", "", 0.0, 8000.0, 5000.0)
    turn = [launch(elapsed_ns=8000.0), wait]
    verdict = judge(turn * 10, spec=T4)
    others = [f for f in verdict.findings if f.kind != "do not move this"]
    assert verdict.dominant == "synchronization"
    assert others[0].kind == "synchronize once"
    assert others[0].saves_ns == 9 * 8000
    first, _ = verdict.sentences
    assert "waiting takes 59.2 %" in first  # 10 × 5 + 9 × 3 of 130 µs
    assert "77.0 µs in 10 waits, 27.0 µs of it since host and device take" in first


def test_nothing_to_judge():
    first, second = _sentences([])
    assert "0 launches and 0 copies" in first
    assert "simgpu" in second


def test_copies_are_told_what_saves_most_of_them(copy):
    """Whether it is the same data, only the program knows."""
    sent = {"nbytes": 10**6, "elapsed_ns": 8_000 + 1e6 / 6}
    told = {
        "Keep on the device what stays the same: 100.0 %": [copy(**sent)] * 4,
        "Copy from and to pinned memory: 100.0 %": [copy(**sent)],
        "Copy less: 100.0 %": [copy(**sent, is_pinned=True)],
    }
    for start, records in told.items():
        assert _sentences(records)[1].startswith(start)
